"""Measures search and ingest through the HTTP door, beside the SQL floor, in one run."""
