"""Why a model's claim is not believed: what it stands on, gathered and compared with it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memories.chunking import PIECE
from memories.english.talk import UNKNOWN
from memories.extraction.evidence import FIRST_PERSON, Evidence, sentences_of, unsupported
from memories.extraction.extraction_types import Message
from memories.extraction.quotes import names_strangers
from memories.resolve import Claim

NEARBY = 8  # messages before one that is cited, in which "she" and "it" may have their names


def doubt_of(claim: Claim, said: Sequence[Message], subject: str = "") -> str:
    """What `claim` lacks to be believed; empty where its quotes say it. `said` are all messages in
    their order, those before the request too; `subject` is another name of the user."""
    if not claim.quotes:
        return "no evidence in the text"
    near = list(_near(claim, said))
    around = [_around(message, claim) for message in near]
    if names_strangers(claim.statement, around):
        return "it names somebody or something that nobody named"
    cited = [message for message in near if _spans(claim, message)]
    told = [s for m in cited for s in sentences_of(m.readable, _spans(claim, m))]
    evidence = Evidence(
        quotes=tuple(told),
        around="\n".join(message.text for message in around),
        asked="\n".join(_asked(message, said) for message in cited),
        speakers=(*_names(claim, cited, " ".join(told)), subject),
        said_at=claim.occurred_at,
    )
    return unsupported(claim.statement, evidence)


def _around(message: Message, claim: Claim) -> Message:
    """Of a long message what stands around the quotes: as much as a model reads at once."""
    text = message.readable
    first = min((start for start, _ in _spans(claim, message)), default=0)
    start = max(0, first - PIECE // 2) if len(text) > PIECE else 0
    return replace(message, text=text[start : start + PIECE], served=())


def _near(claim: Claim, said: Sequence[Message]) -> Iterator[Message]:
    cited = {quote.episode_id for quote in claim.quotes}
    places = [place for place, message in enumerate(said) if message.id in cited]
    near = {other for place in places for other in range(place - NEARBY, place + 1)}
    return (message for place, message in enumerate(said) if place in near)


def _names(claim: Claim, cited: Sequence[Message], told: str) -> Iterator[str]:
    """Of who spoke; where nobody knows it, the name that "I" was given."""
    for message in cited:
        yield message.speaker
        if message.speaker == UNKNOWN and FIRST_PERSON.search(told):
            yield claim.statement.partition(" ")[0].removesuffix("'s")


def _spans(claim: Claim, message: Message) -> list[tuple[int, int]]:
    return [(q.start, q.end) for q in claim.quotes if q.episode_id == message.id]


def _asked(message: Message, said: Sequence[Message]) -> str:
    """The question that `message` answers: the last sentence of the one before it."""
    place = next(i for i, each in enumerate(said) if each.id == message.id)
    before = said[place - 1].readable.rstrip() if place else ""
    if not before.endswith("?") or said[place - 1].speaker == message.speaker:
        return ""
    return sentences_of(before, [(len(before) - 1, len(before))])[0]
