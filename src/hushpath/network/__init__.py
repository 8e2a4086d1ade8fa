"""What an owner has: a public topology, private weights on an integer lattice, and the files they come in."""
