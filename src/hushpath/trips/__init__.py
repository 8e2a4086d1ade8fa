"""Trips of people: the private table, read row by row into canonical values."""
