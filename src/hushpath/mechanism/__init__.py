"""What to measure, with how much noise: from public facts to a certified strategy.  Nothing here takes a weight."""
