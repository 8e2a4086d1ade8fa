"""How a network falls apart: separators, and the hierarchy of cells they make."""
