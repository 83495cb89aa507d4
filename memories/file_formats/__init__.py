"""Files of others, read in a process of their own: bytes in, text with its places out.

`child` is what that process runs; nothing here knows of a database. What a library finds wrong with
a file becomes a FileRefused with a code that a person can act on.
"""
