"""German, as far as greetings, dates and a few patterns go. Off unless a workspace names it."""
