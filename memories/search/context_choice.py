"""The choice of the found lines that a context tells, and the reason why it tells none.

A confidence is a poor judge of a question in other words than the answer's ("What do I drink?", "I
prefer tea"), and the poorer the less there is to compare. So where a person is named, and the
question asks for something of that person, the little that is known of them is told; where it asks
for everything, everything is. What is about nobody in particular is told only where it answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memories.english import clauses, lexical, statements
from memories.english.asked_attribute import asked_attribute, asks_whom, is_of_person
from memories.index import people_by_name
from memories.models import WorkspaceIndex
from memories.search.confidence import FLOOR, FLOOR_OF_FEW, is_noise
from memories.search.request import Hit, SearchAnswer, SearchRequest

ALL = 1.0  # the confidence of an answer that is all there is
FIRST = 3  # lines that are told even if little speaks for them
FEW = 10  # the same, where nothing but their fewness tells that one of them answers
# The least nearness in meaning of hits about nobody in particular that hold no word of the
# question: above chance; where the answer is not sure, only words count.
CHANCE, SAME = 0.0, 1.0
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


def floor_of(request: SearchRequest, answer: SearchAnswer) -> float:
    """Return the confidence below which nothing is told, where the caller names none: lower where
    all there is was found, of which the best is near by chance far less often than the best of
    many."""
    return FLOOR_OF_FEW if found_all(request, answer) else FLOOR


def found_all(request: SearchRequest, answer: SearchAnswer) -> bool:
    """Tell whether the search found all that there is."""
    is_narrowed = bool(request.threshold or request.min_similarity)
    return not is_narrowed and len(answer.hits) < request.limit


def is_answered(
    request: SearchRequest, answer: SearchAnswer, person: PersonAsked | None, floor: float | None
) -> bool:
    """Tell whether the context tells any of the hits. A `floor` that a caller names is the
    floor."""
    if answer.confidence >= (floor_of(request, answer) if floor is None else floor):
        return True
    if floor is not None or person is None or not person.is_own:
        return False
    has_own = any(is_theirs(request, hit) for hit in answer.hits)
    return has_own and (found_all(request, answer) or answer.confidence >= FLOOR_OF_FEW)


def is_theirs(request: SearchRequest, hit: Hit) -> bool:
    """Tell whether the hit is about the person who is named."""
    return bool(request.user_id) and hit.row.user_external == request.user_id


def kept(
    request: SearchRequest,
    person: PersonAsked | None,
    leading: Sequence[Hit],
    *,
    is_sure: bool,
) -> list[int]:
    """Return the places of the hits, best first, that have something to be said for them; the first
    few in any case, except, where somebody is named, hits about nobody or about another person."""
    first = FIRST if is_sure else FEW
    chosen: list[int] = []
    for place, hit in enumerate(leading):
        if request.user_id and not is_theirs(request, hit):
            answers = not is_noise(request.query, hit, CHANCE if is_sure else SAME)
            if answers and not (person and person.gets_others(request.query, hit.row.content)):
                chosen.append(place)
        elif len(chosen) < first or not is_noise(request.query, hit):
            chosen.append(place)
    return chosen


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
    return (
        f"Nothing is near enough to the question: {how_far}, and {floor:.2f} is needed: {content}"
    )
