"""The ground that every admin page stands on: who may see what, lists, pages and verbs."""
