"""What changed: read in the order in which it came to be seen, and shown to whoever may see the
row that it is about."""
