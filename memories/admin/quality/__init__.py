"""Pages: golden questions, and judging of memories."""
