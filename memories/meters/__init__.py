"""Counts, costs, breakers, and rates."""
