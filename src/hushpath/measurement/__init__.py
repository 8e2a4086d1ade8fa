"""What can be measured, exact arithmetic, and the private step where noise is added."""
