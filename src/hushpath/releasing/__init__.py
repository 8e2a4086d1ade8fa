"""From private data to a release: one release, a series, a specification file; evaluation for the owner."""
