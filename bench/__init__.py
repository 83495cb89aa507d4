"""Trials: commands that put a server under faults, pressure and load, on a spare data folder.

In the repository and not in what is installed: nothing of the product imports it.
"""
