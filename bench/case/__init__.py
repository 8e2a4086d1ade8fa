"""Four owners of real networks, and what each of them would publish."""
