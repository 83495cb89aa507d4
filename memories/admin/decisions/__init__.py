"""Pages of decisions that were taken."""
