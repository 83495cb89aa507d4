"""Lives: what is believed of a person, and messages with what each does to it, as the pairs that are trained on.

A message that changes something is shown beside that, and beside one other belief: the one that shares most words with
it, or any. A message of a life that changes nothing is shown beside all, since it was written to be taken for a change
of one; each piece of a long one, of a working session, beside five.
"""

import re
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from memories.judge.pieces import pieces_of
from memories.language.english.touch_rules import places_of

_long_word = re.compile(r"[^\W\d_]{4,}")


class Piece(NamedTuple):
    """A message, or as much of it as the judge reads at once; `effects`: of a belief's place the label and value."""

    text: str
    effects: dict[int, tuple[str, str]]


def words(text: str) -> set[str]:
    """Words of four letters and more."""
    return set(_long_word.findall(text.casefold()))


def is_session(life: dict[str, Any]) -> bool:
    """Tell whether its messages are long ones of a working session, with effects by their quotes."""
    return isinstance(life["messages"][0]["effects"], list)


def pieces(message: dict[str, Any]) -> list[Piece]:
    """The pieces of a message of a life, one, or of a session, each with the effects of whose quotes it holds most."""
    text, effects = message["message"], message["effects"]
    if isinstance(effects, dict):
        return [Piece(text, {int(at): (label, value) for at, (label, value) in effects.items()})]
    places = {text[start:end]: (start, end) for start, end in reversed(pieces_of(text, places_of(text)))}
    found = [(start, end, Piece(own, {})) for own, (start, end) in sorted(places.items(), key=lambda at: at[1])]
    for effect in effects:
        start = text.index(effect["quote"])
        end = start + len(effect["quote"])
        shared = [(min(end, piece_end) - max(start, piece_start), piece) for piece_start, piece_end, piece in found]
        most, piece = max(shared, key=lambda pair: pair[0], default=(0, None))
        if piece and most > 0:
            piece.effects[effect["belief"]] = (effect["label"], effect["value"])
    return [piece for _, _, piece in found]


def over_in(message: dict[str, Any]) -> set[int]:
    """The places of the beliefs that a message ends or replaces, as far as it is read."""
    effects = [effect for piece in pieces(message) for effect in piece.effects.items()]
    return {at for at, (label, _) in effects if label in ("replaces", "ends")}


def pairs(life: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The rows of a life, as those of a file of changes; its person is their group."""
    beliefs, random = life["beliefs"], Random(life["person"])
    for message in life["messages"]:
        for text, effects in pieces(message):
            others = [at for at in range(len(beliefs)) if at not in effects]
            random.shuffle(others)
            said = words(text)
            known = {at: words(f"{beliefs[at]['belief']} {beliefs[at]['said']}") for at in others}
            others.sort(key=lambda at: len(known[at] & said), reverse=True)
            if effects:
                others = [others[random.choice((0, -1))]] if others else []
            elif is_session(life):
                others = [*others[:3], *others[-2:]]
            for at in (*effects, *others):
                label, value = effects.get(at, ("compatible", ""))
                yield {
                    **beliefs[at],
                    "group": life["person"],
                    "part": life.get("part", ""),
                    "before": message["before"],
                    "message": text,
                    "label": label,
                    "value": value,
                    "kind": "else" if label == "compatible" else "",
                    "special": "",
                }
