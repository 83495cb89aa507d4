"""Features as rows: sets and their settings, what waits for them, changes with their history.

Nothing here reads conversations; `memories.folding` does.
"""
