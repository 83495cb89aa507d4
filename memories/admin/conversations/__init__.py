"""Pages of conversations, sessions and orders."""
