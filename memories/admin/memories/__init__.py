"""Pages of memories and facts."""
