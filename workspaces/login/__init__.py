"""The door: who is let in, how often somebody may try, and from where."""
