"""Estimators: from noisy measurements to the edge weights, or edge times, that paths are searched on.

``weights`` holds the estimators for releases of edge weights, ``trips`` those for releases of trip totals; ``registry``
lists them all.  ``model`` is the model of edges, made of ``facts`` (public ones) and
``hierarchy`` (what neighbours share).
"""
