"""Mechanisms of the literature that serve comparison; ``auto`` does not choose them."""
