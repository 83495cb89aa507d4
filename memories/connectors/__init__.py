"""Sources of documents that are kept in step: folders, pages, repositories, drives.

`contract` says what each of them can do, and the rest knows no more of them. They ask the network
by `providers.web_fetch` alone, and know nothing of a database.
"""
