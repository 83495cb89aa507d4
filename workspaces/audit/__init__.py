"""The audit log's chain and its signature."""
