"""The base of every admin page: permissions, lists, pages and verbs."""
