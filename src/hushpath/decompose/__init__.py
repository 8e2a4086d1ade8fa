"""How a network falls apart: separators, and the hierarchy of cells they make.

Stage 2 of 6:  topology -> *decomposition* -> strategy -> measure -> release -> decode.  Reads no weights.
"""
