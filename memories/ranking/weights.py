"""Weights of the parts of the hybrid score: names, defaults, ranges, and what they mean."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Annotated, Any

from pydantic.alias_generators import to_camel

from memories.settings_objects import CONFIG, between, faults

LARGEST = 5.0


Weight = Annotated[float, between(0, LARGEST)]
Signed = Annotated[float, between(-LARGEST, LARGEST)]


def _weight(default: float, about: str) -> Any:
    return field(default=default, metadata={"about": about})


@dataclass(frozen=True, slots=True)
class Weights:
    """The order of the groups is that of their effect."""

    __pydantic_config__ = CONFIG

    keyword: Weight = _weight(1.0, "its words are those of the query (BM25)")
    vector: Weight = _weight(0.9, "its meaning is that of the query (cosine)")
    session_best: Weight = _weight(0.15, "the best keyword match in the same sitting")
    session_some: Weight = _weight(0.5, "the mean of the sitting's three best keyword matches")
    session_vector: Weight = _weight(0.3, "the nearest meaning in the same sitting")
    following: Weight = _weight(0.2, "keyword match of the next message, often the answer")
    previous: Weight = _weight(0.05, "keyword match of the message before")
    speaker: Weight = _weight(1.5, "said by the one whom the query names")
    date: Weight = _weight(2.6, "fits the date that the query names")
    when: Weight = _weight(0.5, "says when, and the query asks for it")
    number: Weight = _weight(0.4, "says a number, and the query asks for one")
    place: Weight = _weight(0.4, "names a place, and the query asks for one")
    length: Weight = _weight(0.94, "among people: long")
    question: Signed = _weight(-0.35, "among people: a question itself")
    answer: Weight = _weight(0.42, "among people: follows a question that matches by its words")
    answer_vector: Weight = _weight(0.4, "among people: follows a question of the same meaning")
    previous_vector: Weight = _weight(0.2, "among people: meaning of the message before")
    role: Weight = _weight(0.85, "with an assistant: not said by the assistant")
    rule: Weight = _weight(0.4, "with an assistant: a standing instruction")
    reply: Weight = _weight(1.0, "with an assistant, for an overview: replies to what matches")
    turn_recency: Weight = _weight(1.0, "for the next turn of a conversation: recent")
    turn_session: Weight = _weight(0.3, "for the next turn: recent and about the same")
    turn_around: Weight = _weight(0.5, "for the next turn: meaning of the messages around it")
    turn_length: Weight = _weight(0.2, "for the next turn: long")
    spread: Weight = _weight(
        0.08, "where the answer lies in several places: for each better hit of the same sitting, taken off"
    )
    diversity: Weight = _weight(0.0, "for every query: as `spread`")

    @classmethod
    def described(cls) -> dict[str, dict[str, Any]]:
        """Return default, least, most and about, by the name in a workspace's settings."""
        return {
            to_camel(f.name): {
                "default": f.default,
                "least": -LARGEST if f.type is Signed else 0.0,
                "most": LARGEST,
                "about": f.metadata["about"],
            }
            for f in fields(cls)
        }

    @classmethod
    def of(cls, own: Mapping[str, Any] | None) -> "Weights":
        """The defaults with a workspace's own in their place; what is faulty counts as not said."""
        if not own:
            return DEFAULT
        known = {to_camel(f.name): f.name for f in fields(cls)}
        wrong = {fault.field for fault in faults(cls, own)}
        return replace(DEFAULT, **{known[n]: float(v) for n, v in own.items() if n in known and n not in wrong})

    def named(self) -> dict[str, float]:
        """Return the weights by the name in a workspace's settings."""
        return {to_camel(name): value for name, value in asdict(self).items()}


DEFAULT = Weights()
