"""The inbox."""
