"""Estimators of edge weights from noisy edge weights, and from noisy sums along lines of edges."""
