"""Answers out of documents and memories, each of whose quotes stands where it says."""
