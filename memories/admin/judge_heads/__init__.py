"""The page of what the judge learned."""
