"""Rules of German for greetings, dates and a few patterns. Off unless a workspace names it."""
