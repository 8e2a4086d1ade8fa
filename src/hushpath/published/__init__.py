"""From a plan to a published release, and every question one may ask of it."""
