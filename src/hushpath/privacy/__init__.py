"""How much a release reveals: sensitivity of groups, the certificate of a strategy, budgets and calibration."""
