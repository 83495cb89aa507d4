"""The playground, and the preview of an ingest."""
