"""Connections: sources of documents that are kept in step.

`connection_store` makes, changes and removes them, `sync` asks their sources and writes down what
these say. How a source is asked is `memories/sources/connectors`; what is fetched of it, and read, is the
pipeline's.
"""
