"""Facts that a sentence tells beside its main one, as sentences of their own.

"I live in Bergen with my husband Tom" tells where somebody lives, and who the husband is. Once the
first is over, the whole sentence is replaced: the second must stand for itself.
"""

import re
from collections.abc import Iterator

from memories.language.english import verbs
from memories.language.english.patterns.pattern import KIN, PEOPLE, PETS
from memories.language.english.statements import read

LONGEST = 300  # characters of a sentence that is read
JOINTS = (" and ", " their ", " where ")  # one of which each such sentence has
_name = r"(?-i:[A-Z])[\w’-]+(?: (?-i:[A-Z])[\w’-]+){0,2}"
_kind = rf"(?:(?:older|younger|elder|little|big|twin|best|new|old) )?(?:{KIN}|{PEOPLE}|{PETS})"
# A possessive, a kind of person or pet, and a name: who that is does not depend on the rest.
_person = re.compile(rf"\btheir (?P<kind>{_kind}),? (?P<who>{_name})(?![\w'’-])", re.IGNORECASE)
_counted = re.compile(
    rf"\bwith their (?P<count>two|three|four|five|six|seven|\d) (?P<kind>(?:\w+ )?(?:{KIN}|{PETS}))\b",
    re.IGNORECASE,
)
_employer = re.compile(rf"\b(?:of|to) their (?:\w+ )?job (?P<at>at|with) (?P<where>{_name})", re.I)
# "in Leeds, where their sister Ann works, too"
_where = re.compile(
    rf"\b(?P<place>(?:in|at|near|on) {_name}),? where (?:(?:their {_kind} )?(?P<who>{_name})|their (?P<kind>{_kind})) "
    r"(?P<does>lives?|works?|stud(?:y|ies)|teach(?:es)?)(?:,? (?:too|as well|also))?$",
    re.IGNORECASE,
)
_several = re.compile(r"(?:\b(?:children|people|family|team|crew|band|church|community)|(?<!bos)s)$", re.I)
# Sentences about what was so, may be so, or ends say nothing certain about other people in them.
_not_so = re.compile(
    r"\b(?:not|never|no longer|without|used to|once|lived|dated|was|were|had|late|ex|former|divorc\w+|separat\w+|broke"
    r"|split|left|leaves|leaving|died|dies|lost|buried|passed|would|could|might|(?-i:may)|wants?|hopes?|plans?|if|unless|until"
    r"|before|as if|like|imagin\w+|dream\w*)\b|n['’]t\b",
    re.IGNORECASE,
)
_and = re.compile(r",? and (?:(?:also|now|currently|still) )?(?=[a-z]+s\b)")
_subordinate = re.compile(
    r"\b(?:who|whom|whose|which|where|because|since|that|if|when|while|so|but|or|between|both|either)\b"
)
_referent = re.compile(r"\b(?:there|here|it|its|them|him|her|his|she|he|this|that|these|those|too|both)\b")
# Acts that stand for themselves, whatever stands before them.
DOES = frozenset(
    "collects drinks drives eats enjoys has hates keeps likes lives loves owns plays prefers rides runs sings speaks"
    " studies teaches uses volunteers works".split()
)


def halves(statement: str, name: str) -> list[str]:
    """Split a statement of two things that somebody does, either of which may change alone: "Ann
    works at Acme and lives in Leeds"; return any other statement alone."""
    subject = f"{name} "
    if len(statement) > LONGEST or not statement.startswith(subject):
        return [statement]
    for joint in _and.finditer(statement):
        first, second = statement[: joint.start()], subject + statement[joint.end() :]
        if _subordinate.search(first) or _referent.search(second) or _not_so.search(statement):
            continue
        told = [frozenset(slot.name for slot in read(part).slots) for part in (first, second)]
        if not any(told) or told[0] & told[1]:
            continue
        unread = [part for part, slots in zip((first, second), told, strict=True) if not slots]
        does = (part.removeprefix(subject).partition(" ") for part in unread)
        if all(verb in DOES and verbs.without_s(verb) != verb and rest for verb, _, rest in does):
            return [first, *halves(second, name)]
    return [statement]


def beside(statement: str, name: str) -> Iterator[str]:
    """Yield the facts that `statement` tells beside its main one: who is somebody's husband, sister
    or dog, how many children there are, where somebody works, where another lives or works."""
    reading = read(statement[:LONGEST])
    if len(statement) > LONGEST or not statement.startswith(f"{name} ") or reading.is_plan:
        return
    if reading.is_negated or _not_so.search(statement):
        return
    for person in _person.finditer(statement):
        if not _several.search(person["kind"]):
            yield f"{name}'s {person['kind']} is {person['who']}"
    for counted in _counted.finditer(statement):
        yield f"{name} has {counted['count']} {counted['kind']}"
    if employer := _employer.search(statement):
        yield f"{name} works {employer['at']} {employer['where']}"
    if where := _where.search(statement):
        who = where["who"] or f"{name}'s {where['kind']}"
        yield f"{who} {where['does']} {where['place']}"
