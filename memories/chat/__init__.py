"""Answers of a chat from documents and memories."""
