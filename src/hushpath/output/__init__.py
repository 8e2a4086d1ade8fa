"""Distances on disk and over HTTP: one table of distances, and every way to write it."""
