"""A workspace's settings, and the rules it wrote itself."""
