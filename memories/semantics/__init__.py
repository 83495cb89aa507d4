"""Semantic memory, thought: what a set may hold, the commands that change it, and what they come
from. Pure: values in, values out."""
