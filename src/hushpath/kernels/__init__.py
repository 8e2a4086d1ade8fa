"""Pure array kernels: no options, no I/O, each with a slow reference twin in ``kernels.reference``."""
