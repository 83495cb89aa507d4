"""Recent talk: the newest messages of a conversation, and a running summary of the rest.

`running_summary` reads, notes that a summary has fallen behind, and brings it up to date, by the
configured model or, without one, by choosing sentences.
"""
