"""Words taken out: masks, erasure, retention, legal holds."""
