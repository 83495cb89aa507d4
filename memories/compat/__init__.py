"""Doors that speak other memory servers' words, so that their own clients work here unchanged.

The workspace is that of the key. What such a client asks for and is not built is an error as that
client reads it, never an empty success."""
