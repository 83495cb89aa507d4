"""Pages on usage, costs and performance."""
