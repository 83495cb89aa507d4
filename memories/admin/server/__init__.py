"""Pages on the state of the server."""
