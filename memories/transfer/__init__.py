"""Conversations come in from files, through the same verbs as the API."""
