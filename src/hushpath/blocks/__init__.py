"""The kinds of measurement: one file each, public facts only."""
