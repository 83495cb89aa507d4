"""What may be over and nobody knows: "might be leaving the choir", "is probably moving away",
"thinks they have sold the boat". Pure."""

import re
from functools import lru_cache

from memories.bounds import STATEMENT
from memories.english.statements.word_lists import VERBS
from memories.english.verbs import PAST_OF, past

_unsure = r"(?:probably|likely|possibly|maybe|perhaps|apparently|supposedly|most likely|quite possibly|presumably|(?:very|more than) likely)"
_lead = re.compile(
    rf"^(?:{_unsure}|(?:it )?(?:looks|seems|sounds|feels) (?:like|as if|as though|that)|(?:I|User) (?:think|thinks|guess|guesses|suppose|supposes|believe|believes|fear|fears|am afraid|is afraid)(?: that)?"
    r"|there is a (?:good |fair |real )?chance(?: that)?|chances are(?: that)?),? (?=\S)",
    re.IGNORECASE,
)
_open = (
    r"(?:sure|certain|settled|final|finali[sz]ed|confirmed|official|signed|decided|definite|fixed)"
)
# "the build is not fixed" denies; "..., not fixed yet" doubts what stands before it.
_tail = re.compile(
    r"(?:[,;](?: (?:but|and|though|although))?| (?:but|though|although)) (?:(?:(?:I am|I'm|User is|it is|it's|they are|that is|that's|this is) )?not|nothing(?: is)?)(?: yet| quite| entirely| \w+ly)?"
    rf" {_open}(?: (?:yet|about it|though|of it))?$",
    re.IGNORECASE,
)
_thinks = re.compile(
    r"^(?P<who>[^,;]{1,60}?) (?:thinks?|guess(?:es)?|supposes?|believes?|fears?)(?: that)? (?:they|he|she|we|I)(?: have|['’]ve| has| had|['’]d)? (?P<said>\S.*)$"
)
_may_do = re.compile(
    # What the assistant "may use again" is allowed to it, not doubted.
    rf"^(?P<who>(?![^,;]{{0,60}}\bassistant\b)[^,;]{{1,60}}?) (?:(?:might|may|could)(?: (?:soon|well|even|already))?|will {_unsure}|{_unsure} will|(?:is|are|am) (?:likely|about|bound) to) (?P<have>have )?(?P<be>be )?(?P<verb>[a-z]+)(?P<rest>\b.*)$"
)
_is_doing = re.compile(
    rf"^(?P<who>[^,;]{{1,60}}?) (?:is|are|am) {_unsure} (?:going to be )?(?P<verb>[a-z]+ing)(?P<rest>\b.*)$"
)
_has_done = re.compile(
    rf"^(?P<who>[^,;]{{1,60}}?) (?:(?:has|have) )?{_unsure} (?:(?:has|have) )?(?P<said>(?!(?:will|is|are|am)\b)\S.*)$"
)


@lru_cache(maxsize=4096)
def if_so(statement: str) -> str:
    """The statement as it would be told if it were so: "left the choir". "" of what is told for sure."""
    text = statement.rstrip(" .!")
    if len(text) > STATEMENT:
        return ""
    bare = _tail.sub("", text)
    found = _thinks.match(bare)
    bare = f"{found['who']} {found['said']}" if found else _lead.sub("", bare)
    if found := _may_do.match(bare):
        return f"{found['who']} {_done(found)}{found['rest']}"
    if found := _is_doing.match(bare):
        return f"{found['who']} {past(_base(found['verb']))}{found['rest']}"
    if found := _has_done.match(bare):
        return f"{found['who']} {found['said']}"
    return bare if bare != text else ""


def _done(found: re.Match[str]) -> str:
    verb = found["verb"]
    if found["have"]:
        return verb
    if not found["be"]:
        return past(verb)
    return past(_base(verb)) if verb.endswith("ing") else f"was {verb}"


def _base(doing: str) -> str:
    """ "leave" of "leaving", "sell" of "selling", "quit" of "quitting"."""
    stem = doing.removesuffix("ing")
    forms = (stem, f"{stem}e", stem[:-1])
    return next((form for form in forms if form in PAST_OF or form in VERBS), stem)
