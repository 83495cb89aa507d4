"""Pages of a workspace's settings."""
