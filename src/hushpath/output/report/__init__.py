"""Reports of releases as HTML pages, and pictures, all in one style."""
