"""Documents: kept, read in a child process, cut, indexed, searched.

`document_store` keeps what comes and changes it, `pipeline` reads what is due, `search_documents`
finds it.
"""
