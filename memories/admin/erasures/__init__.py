"""Pages of erasures."""
