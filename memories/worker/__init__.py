"""The worker's tasks, and the sweep that finds what is due."""
