"""From noisy measurements to the weights that paths are searched on: one file per estimator."""
