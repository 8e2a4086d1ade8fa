"""Pure array kernels: no options, no I/O, each compared in the tests with a slow twin that is obviously right."""
