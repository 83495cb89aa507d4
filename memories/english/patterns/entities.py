"""Names in a clause: products, versions, identifiers, people, places."""

import re

_common_text = """
    i i'm i've i'll i'd we you he she it they my our your his her their its this that these
    those the a an and but so or if when while because since after before for from in on at to
    of by with no not yes yeah yep hey hi hello wow oh thanks thank ok okay sure great nice
    cool well also just then now there here what how why who where which monday tuesday
    wednesday thursday friday saturday sunday january february march april may june july
    august september october november december is are was were be been has have had do does
    did can could will would should must let lets it's that's there's don't can't always never
    please team
"""
_common = frozenset(_common_text.split())
# an identifier or a word with a capital or digit
_name = r"(?:[A-Z][\w+#]*(?:[.&'’-][\w+#]+)*|[a-z]+[A-Z]\w*|[a-z]+_[a-z_]+|[A-Za-z]+\d[\w.]*)"
_counted = r"(?:minute|hour|day|week|month|year|time|people|percent|more|or|of|and|to)"
_names = re.compile(
    rf"(?<![\w@/.]){_name}(?: {_name}| v\d[\w.]*| \d+(?:\.\d+)*(?![\w%]| {_counted}))*"
)
_marked = re.compile(r"[a-z][A-Z]|[A-Z]{2}|\d|_|[.&]\w")


def find(clause: str) -> tuple[str, ...]:
    """The names in `clause`, each once, in the order they come."""
    found: dict[str, None] = {}
    for match in _names.finditer(clause):
        words = _trimmed(match.group(), match.start() == 0)
        if words:
            found[words] = None
    return tuple(found)


def _trimmed(name: str, is_opening: bool) -> str:
    """`name` without common words before and after; an opening capital alone says nothing."""
    words = [re.sub(r"['’]s$", "", word) for word in name.split()]
    start, end = 0, len(words)
    while start < end and words[start].lower() in _common:
        start, is_opening = start + 1, False
    while start < end and words[end - 1].lower() in _common:
        end -= 1
    words = words[start:end]
    kept = " ".join(words)
    if is_opening and len(words) == 1 and not _marked.search(kept):
        return ""
    return kept if any(c.isalpha() for c in kept) else ""
