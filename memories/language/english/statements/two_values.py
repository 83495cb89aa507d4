"""Two values, told in different words, of something that has only one: a budget, a price, a
deadline. Only a person knows which is right."""

import re

from memories.language.english.statements.duplicates import Overlap, Relation, light
from memories.language.english.statements.read_statement import Reading
from memories.language.english.statements.wording import root

VALUES = "values"  # the rule
UNSURE = Relation("unsure", VALUES)


def _roots(words: str) -> frozenset[str]:
    return frozenset(map(root, words.split()))


# What is said of a thing, grouped by meaning; a thing has one of each.
AMOUNTS = (
    _roots("budget spend afford"),
    _roots("price cost costs fee"),
    _roots("rent"),
    _roots("salary earn income wage"),
)
CURRENCIES = _roots("euro dollar pound franc yen eur usd gbp chf")
# Words for a deadline; none of them says what is due.
DUE = _roots("deadline due finish deliver submit hand send complete file turn ready do make need have must")
_due = re.compile(r"\b(?:deadline|due|by)\b", re.IGNORECASE)
# Words that do not make it another thing.
PLAIN = _roots("user team other others new whole total entire final")


def two_values(old: Reading, new: Reading, overlap: Overlap) -> Relation | None:
    """Return "unsure" if both say how much, or by when, about one thing, and differ."""
    if old.is_past or new.is_past or old.is_negated or new.is_negated:
        return None
    if len(old.numbers) == len(new.numbers) == 1 and old.numbers != new.numbers:
        money = old.stems & new.stems & CURRENCIES
        said = next((w for w in AMOUNTS if w & old.stems and w & new.stems), None)
        if money and said and _is_one_thing(overlap, old.numbers | new.numbers | said | money):
            return UNSURE
    if len(old.dates) == len(new.dates) == 1 and old.dates != new.dates:
        is_due = all(_due.search(each.statement) for each in (old, new))
        if is_due and _is_one_thing(overlap, old.dates | new.dates | DUE):
            return UNSURE
    return None


def _is_one_thing(overlap: Overlap, telling: frozenset[str]) -> bool:
    """Tell whether both name one thing, without another word that would make it two; words in
    `telling` name nothing. A seat "on weekends" has a price of its own."""
    idle = telling | PLAIN | light()
    return bool(overlap.shared - idle) and (overlap.only_old | overlap.only_new) <= idle
