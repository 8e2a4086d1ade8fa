"""A map page of a release: packed data, a program in plain JavaScript, and the one file that holds both."""
