"""Readers of files, run in a process of their own: bytes in, text with its places out.

`child` is what that process runs; nothing here knows of a database. If a library cannot read a
file, that becomes a FileRefused with a code that a person can act on.
"""
