"""Rules of English: its words, dates, clauses and statements. Pure; each language has a folder."""
