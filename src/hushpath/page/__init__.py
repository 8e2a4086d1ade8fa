"""One page to explore a release: data packed small, a program in plain JavaScript, and the file that holds both."""
