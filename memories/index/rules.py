"""Which rules made the marks of a row: what is derived from a text and kept beside it.

Marks are `Memory.slots` and, of an entry, `weights`, `length`, `marks` and the passages that its vectors
stand for. Whoever changes what the code makes of a text (conflicts, lexical, ranking.marks, chunking)
raises the version: then `index.repair` makes all rows anew.
Keys of words (`terms`, `trigrams`) and fingerprints stay as they are: a search would not find rows that
wait for their repair, and fingerprints stand under unique constraints.
tests/test_rules_version.py fails where marks have changed and the version has not.
"""

RULES_VERSION = 1
# The first version that cuts passages as this one does: vectors of longer texts whose rows are
# older are made anew.
PASSAGES_SINCE = 0
