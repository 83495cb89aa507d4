"""The `filter` of search and lists: parsed, validated, compiled to SQL with parameters only.

    {"and": [{"field": "category", "op": "eq", "value": "plan"},
             {"not": {"field": "metadata.archived", "op": "exists", "value": true}}]}

Nothing of the caller's is ever part of a statement's text.
"""

from memories.search.filters.compiling import sql_of
from memories.search.filters.fields import OPERATORS
from memories.search.filters.parse_filter import parse
from memories.search.filters.tree import Filter, all_of

__all__ = ["OPERATORS", "Filter", "all_of", "parse", "sql_of"]
