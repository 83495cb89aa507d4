"""Pages of feature sets and features."""
