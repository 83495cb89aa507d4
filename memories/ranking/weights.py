"""How much each part of the hybrid score counts: names, defaults, ranges, and what they mean."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

LARGEST = 5.0


def _weight(default: float, about: str, least: float = 0.0) -> Any:
    return field(default=default, metadata={"about": about, "least": least})


@dataclass(frozen=True, slots=True)
class Weights:
    """The order of the groups is that of their effect."""

    keyword: float = _weight(1.0, "its words are those of the query (BM25)")
    vector: float = _weight(0.9, "its meaning is that of the query (cosine)")
    session_best: float = _weight(0.3, "the best keyword match in the same sitting")
    session_some: float = _weight(0.5, "the mean of the sitting's three best keyword matches")
    session_vector: float = _weight(0.3, "the nearest meaning in the same sitting")
    following: float = _weight(0.2, "keyword match of the next message, often the answer")
    previous: float = _weight(0.1, "keyword match of the message before")
    speaker: float = _weight(1.5, "said by the one whom the query names")
    date: float = _weight(1.5, "fits the date that the query names")
    when: float = _weight(0.5, "says when, and the query asks for it")
    number: float = _weight(0.4, "says a number, and the query asks for one")
    place: float = _weight(0.4, "names a place, and the query asks for one")
    length: float = _weight(0.94, "among people: long")
    question: float = _weight(-0.35, "among people: a question itself", -LARGEST)
    answer: float = _weight(0.42, "among people: follows a question that matches by its words")
    answer_vector: float = _weight(0.4, "among people: follows a question of the same meaning")
    previous_vector: float = _weight(0.2, "among people: meaning of the message before")
    role: float = _weight(0.85, "with an assistant: not said by the assistant")
    rule: float = _weight(0.4, "with an assistant: a standing instruction")
    reply: float = _weight(0.3, "with an assistant, for an overview: replies to what matches")
    turn_recency: float = _weight(1.0, "for the next turn of a conversation: recent")
    turn_session: float = _weight(0.3, "for the next turn: recent and about the same")
    turn_length: float = _weight(0.2, "for the next turn: long")
    spread: float = _weight(0.08, "where the answer lies in several places: for each better hit of"
                            " the same sitting, taken off")  # fmt: skip
    diversity: float = _weight(0.0, "for every query: as `spread`")

    @classmethod
    def described(cls) -> dict[str, dict[str, Any]]:
        """By the name in a workspace's settings: default, least, most, about."""
        return {
            _camel(f.name): {
                "default": f.default,
                "least": f.metadata["least"],
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
        known = {_camel(f.name): f.name for f in fields(cls)}
        wrong = set(faults_of(own))
        return replace(
            DEFAULT, **{known[n]: float(v) for n, v in own.items() if n in known and n not in wrong}
        )

    def named(self) -> dict[str, float]:
        """By the name in a workspace's settings."""
        return {_camel(name): value for name, value in asdict(self).items()}


def faults_of(own: object) -> dict[str, str]:
    """What is wrong with a workspace's own weights, by name; "" where they are no object."""
    if not isinstance(own, Mapping):
        return {"": "Must be an object of numbers by name."}
    known = Weights.described()
    told = {name: _fault(known.get(name), value) for name, value in own.items()}
    return {name: fault for name, fault in told.items() if fault}


def _fault(known: Mapping[str, Any] | None, value: object) -> str:
    if known is None:
        return f"Unknown weight. Known: {', '.join(Weights.described())}."
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return "Must be a number."
    least, most = known["least"], known["most"]
    return "" if least <= value <= most else f"Must be from {least:g} to {most:g}."


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


DEFAULT = Weights()
