"""The reference below docs/reference, made out of the code."""
