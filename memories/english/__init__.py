"""What is known of English: its words, dates, clauses and statements. Pure; a language is a folder."""
