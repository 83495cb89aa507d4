"""What was just said: the newest messages of a conversation, and a running summary of the rest.

`summary_before` reads, and notes that a summary has fallen behind; `summarize` brings it up to
date, by the configured model or, without one, by choosing sentences.
"""
