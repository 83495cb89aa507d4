"""Pages of what the judge learned."""
