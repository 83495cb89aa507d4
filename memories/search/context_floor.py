"""The choice of the found lines that a context tells, and the reason why it tells none.

A confidence is a poor judge of a question in other words than the answer's ("What do I drink?", "I
prefer tea"), and the poorer the less there is to compare. So where a person is named, and the
question asks for something of that person, the little that is known of them is told; where it asks
for everything, everything is. What is about nobody in particular is told only where it answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from memories.index import people_by_name
from memories.language.english import clauses, lexical, statements
from memories.language.english.asked_attribute import asked_attribute, asks_whom, is_of_person
from memories.models import WorkspaceIndex
from memories.ranking import asks_assistant
from memories.search.confidence import FLOOR, FLOOR_OF_FEW, FLOOR_OF_MANY, floor_of_size, is_noise, speaks_of
from memories.search.context_lines import ContextEntry, size
from memories.search.request import Hit, SearchAnswer, SearchRequest

ALL = 1.0  # the confidence of an answer that is all there is
FIRST = 2  # lines that are told even if little speaks for them
FEW = 10  # the same, where nothing but their fewness tells that one of them answers
# The score that a line needs, as a share of the best: what is behind the best takes the room of what
# answers, unless there is much room. What was said after the best may have changed what that says,
# and needs less. Measured by the lines that hold the answers of LoCoMo and of long lives: in a budget
# of 450 tokens one line in three does, by these shares; one in five or six, where 200 tokens are told
# in any case.
SHARE, SHARE_AT, LESS_BY_DOUBLE, LESS_UNSURE = 0.85, 450, 0.26, 0.2
SHARE_OF_NEWER = 0.6
LITTLE = 100  # tokens of lines that are told before that: the best may hold the words and not the answer
ECHO = 0.9  # the same of an assistant's own words, which mostly repeat what it was told
# How much of the question a line about nobody in particular, or about another, has to answer:
# `speaks_of`. Where the answer is not sure, only words count.
SPEAKS_OF_IT = 0.4
LONGEST_NEAREST = 200  # characters


@dataclass(frozen=True, slots=True)
class Nearest:
    """The best of what was not near enough: its words, and the confidence of the answer."""

    content: str
    confidence: float


@dataclass(frozen=True, slots=True)
class PersonAsked:
    """The person whose context it is, by all names. `wants_all`: all that is known is asked for;
    `is_own`: something of that person is."""

    names: tuple[str, ...]
    wants_all: bool
    is_own: bool

    @classmethod
    def of(cls, index: WorkspaceIndex, request: SearchRequest) -> "PersonAsked | None":
        """Return the person that the request names; None where it names nobody or asks about the
        past, or nothing was ever said of that person."""
        if not request.user_id or not request.at.is_now:
            return None
        names = people_by_name.names_of(index, request.user_id)
        if not names:
            return None
        query = request.query
        return cls(tuple(names), asks_whom(query, names), is_of_person(query, names))

    def gets_others(self, query: str, text: str) -> bool:
        """Tell whether a text answers a question about this person with the same of somebody
        else."""
        wanted = asked_attribute(query)
        words = {part for name in self.names for part in name.casefold().split()}
        if wanted is None or wanted.who and wanted.who.casefold() not in words:
            return False
        asked = {key.split("|")[1] for key in wanted.keys(["User"])}
        told = [
            key.split("|")[:2]
            for start, end in clauses.sentences(text)
            for key in statements.slot_keys(statements.read(text[start:end]))
        ]
        of_same = [who for who, name in told if name in asked]
        own = {stem for name in self.names for stem in lexical.stems(name)}
        return bool(of_same) and not any(own & set(who.split("-")) for who in of_same)


def floor_of(index: WorkspaceIndex, request: SearchRequest, answer: SearchAnswer) -> float:
    """Return the confidence below which nothing is told, where the caller names none: the lower the
    less there was to find."""
    if found_all(request, answer):
        return min(floor_of_size(len(answer.hits)), FLOOR)
    if answer.confidence >= FLOOR_OF_MANY:
        return FLOOR_OF_MANY
    known = people_by_name.messages_of(index, request.user_id) if request.user_id else index.live_episodes
    return max(floor_of_size(known), FLOOR)


def found_all(request: SearchRequest, answer: SearchAnswer) -> bool:
    """Tell whether the search found all that there is."""
    is_narrowed = bool(request.threshold or request.min_similarity)
    return not is_narrowed and len(answer.hits) < request.limit


def is_answered(
    request: SearchRequest, answer: SearchAnswer, person: PersonAsked | None, floor: float, *, is_named: bool
) -> bool:
    """Tell whether the context tells any of the hits. A `floor` that a caller named is the
    floor."""
    if answer.confidence >= floor:
        return True
    if is_named or person is None or not person.is_own:
        return False
    has_own = any(is_theirs(request, hit) for hit in answer.hits)
    return has_own and (found_all(request, answer) or answer.confidence >= FLOOR_OF_FEW)


def is_theirs(request: SearchRequest, hit: Hit) -> bool:
    """Tell whether the hit is about the person who is named."""
    return bool(request.user_id) and hit.row.user_external == request.user_id


def kept(
    request: SearchRequest,
    person: PersonAsked | None,
    found: Sequence[ContextEntry],
    tokens: int,
    *,
    is_sure: bool,
) -> list[ContextEntry]:
    """Return the lines, best first, that have something to be said for them; the first few in any
    case, except, where somebody is named, lines about nobody or about another person. The fewer
    `tokens` there are, the nearer to the best a line has to be; less near where the answer is not
    sure, for then the best may be none."""
    first = FIRST if is_sure else FEW
    best = max((entry.score for entry in found), default=0.0)
    echo = 0.0 if asks_assistant(request.query) else ECHO * best
    chosen: list[ContextEntry] = []
    room = LITTLE
    for entry, is_far in zip(found, far_behind(found, tokens, is_sure=is_sure), strict=True):
        hit = entry.hit
        is_echo = hit.episode and hit.row.role == "assistant" and entry.score < echo
        if (is_far and room <= 0 and request.ranking == "hybrid") or is_echo:
            continue
        if request.user_id and not is_theirs(request, hit):
            is_told = speaks_of(request.query, hit, is_sure=is_sure) >= SPEAKS_OF_IT
            is_told = is_told and not (person and person.gets_others(request.query, hit.row.content))
        else:
            is_told = len(chosen) < first or not is_noise(request.query, hit)
        if is_told:
            chosen.append(entry)
            room -= size(entry, FEW)
    return chosen


def far_behind(found: Sequence[ContextEntry], tokens: int, *, is_sure: bool) -> list[bool]:
    """Tell of each line whether it is too far behind the best where there is room for `tokens`."""
    best = max((entry.score for entry in found), default=0.0)
    newest = max((entry.at for entry in found if entry.score == best), default=None)
    doublings = log2(max(tokens, SHARE_AT) / SHARE_AT)
    share = SHARE - LESS_BY_DOUBLE * doublings
    shares = (min(share, SHARE_OF_NEWER) if newest and entry.at > newest else share for entry in found)
    less = 0.0 if is_sure else LESS_UNSURE
    return [entry.score < best * (own - less) for entry, own in zip(found, shares, strict=True)]


def reason_of(nearest: Nearest | None, floor: float, tokens: int | None = None) -> str:
    """Say why nothing is told; `tokens` is the budget, where what would be told does not fit into
    it."""
    if nearest is None:
        return "Nothing was found."
    content = nearest.content
    if len(content) > LONGEST_NEAREST:
        content = f"{content[:LONGEST_NEAREST].rstrip()} …"
    how_far = f"the nearest has a confidence of {nearest.confidence:.3f}"
    if tokens is not None:
        return f"Nothing of what was found fits into {tokens} tokens: {how_far}: {content}"
    if nearest.confidence >= floor:
        return f"Nothing of what was found is about what is asked: {how_far}: {content}"
    return f"Nothing is near enough to the question: {how_far}, and {floor:.2f} is needed: {content}"
