"""Measures quality on labelled files: retrieval, extraction, conflicts. No language model
judges."""
