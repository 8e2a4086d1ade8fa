"""Answers from noisy measurements: one file per decoder.

Public post-processing: decoders see a release only, so nothing they do can cost privacy.
"""
