"""Lives: what is believed of a person, and messages with what each does to it, as the pairs that are trained on.

A message that changes something is shown beside that, and beside one other belief: the one that shares most words with
it, or any. A message that changes nothing is shown beside all, since it was written to be taken for a change of one.
"""

import re
from collections.abc import Iterator
from random import Random
from typing import Any

_long_word = re.compile(r"[^\W\d_]{4,}")


def words(text: str) -> set[str]:
    """Words of four letters and more."""
    return set(_long_word.findall(text.casefold()))


def over_in(message: dict[str, Any]) -> set[int]:
    """The places of the beliefs that a message of a life ends or replaces."""
    return {int(at) for at, (label, _) in message["effects"].items() if label in ("replaces", "ends")}


def pairs(life: dict[str, Any]) -> Iterator[dict[str, str]]:
    """The rows of a life, as those of a file of changes; its person is their group."""
    beliefs, random = life["beliefs"], Random(life["person"])
    for message in life["messages"]:
        effects = {int(at): effect for at, effect in message["effects"].items()}
        others = [at for at in range(len(beliefs)) if at not in effects]
        random.shuffle(others)
        said = words(message["message"])
        others.sort(key=lambda at: len(words(f"{beliefs[at]['belief']} {beliefs[at]['said']}") & said), reverse=True)
        shown = [others[random.choice((0, -1))]] if effects else others
        for at in (*effects, *shown):
            label, value = effects.get(at, ("compatible", ""))
            yield {
                **beliefs[at],
                "group": life["person"],
                "before": message["before"],
                "message": message["message"],
                "label": label,
                "value": value,
                "kind": "else" if label == "compatible" else "",
                "special": "",
            }
