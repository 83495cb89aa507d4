"""Import of conversations from files, through the same verbs as the API."""
