"""Pages of documents, spaces and connections."""
