"""Languages that statements are read in."""
