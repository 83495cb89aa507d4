"""Sources of documents: what each speaks, and the connections that are kept in step."""
