"""Logging in: who may, how often somebody may try, and from where."""
