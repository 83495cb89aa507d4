"""Parts that a statement mentions beside its main point: why, when or where it holds, as in "wears
a helmet when they ride their Vespa"."""

import re

from memories.language.english.statements.wording import root

_whose = r"(?:their|his|her|my|our|[A-Z][\w-]*['’]s)"
_why = (
    r"because|since|due to|thanks to|now that|as long as|seeing that|given that|on account of"
    r"|if|unless|as soon as"
)
_where = (
    r"at(?! (?:\d|noon|midnight|night|least|all|once|the end|the (?:beginning|start)|one|two"
    r"|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter)\b)"
    r"|near|close to|next to|opposite|behind|as (?:an?|the)\b(?! whole| rule| child| result| hobby)"
    r"|as(?= (?:captain|head|chair\w*|president|treasurer|secretary|coach|member|leader|manager|tenant) of )"
    rf"|for the|with(?= the [A-Z])|(?:in|on|from|with|for|outside)(?= {_whose} )"
)
_aside = re.compile(rf",? \b(?:(?P<why>{_why})|(?P<when>when|whenever|while)|(?P<where>{_where})) ")
# Of these the place or the company is what they tell: "works at Bosch", "is a student at Lund".
_placed = frozenset(
    map(
        root,
        "be work live stay reside study teach learn attend employ intern serve volunteer lead "
        "manage coach run rent train belong enroll call name".split(),
    )
)
_post = re.compile(r"\b(?:job|position|post|shift|internship|membership|account|contract|lease)\b")


def aside(statement: str) -> re.Match[str] | None:
    """Return the match that leads to the side remark, by its group `why`, `when` or `where`; None
    if there is no side remark."""
    for match in _aside.finditer(statement):
        before = statement[: match.start()]
        said = before.split()
        if len(said) < 2:
            continue
        is_short = len(said) < 3  # "sits at the window": the place is what is told
        verbs = said[1:2] if said[1] in ("has", "have") else said[1:3]  # "has training with ..."
        if match["where"] and (is_short or not _placed.isdisjoint(map(root, verbs)) or _post.search(before)):
            continue
        return match
    return None
