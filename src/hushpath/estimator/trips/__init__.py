"""Estimators of edge travel times from noisy totals of trips."""
