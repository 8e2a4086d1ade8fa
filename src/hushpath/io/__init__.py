"""Files that are passed around: arrays with a header, keys and signatures.  Hostile until proved."""
