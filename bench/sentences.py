"""Invented sentences: the same seed and mark give the same words, another mark gives other ones."""

import random
from itertools import product

SYLLABLES = ["".join(pair) for pair in product("bdfgklmnprstvz", "aeiou")]
SHAPES = (
    "The {a} of {b} is kept near the {c}, {mark}.",
    "{b} brought a {a} to the {c} on the hill, {mark}.",
    "Behind the {c} stands a {a} that {b} painted, {mark}.",
)


def word(chance: random.Random) -> str:
    return "".join(chance.choice(SYLLABLES) for _ in range(4))


def sentence(seed: int, mark: str) -> str:
    """A statement that no other mark makes; it holds its mark."""
    chance = random.Random(f"{seed} {mark}")
    a, b, c = word(chance), word(chance).capitalize(), word(chance)
    return chance.choice(SHAPES).format(a=a, b=b, c=c, mark=mark)


def passage(seed: int, mark: str) -> str:
    """Four sentences: as much as people write in a message that is no chat."""
    return " ".join(sentence(seed, f"{mark}{part}") for part in "abcd")


def claim(seed: int, mark: str) -> str:
    """A sentence that somebody says of themselves; patterns read a preference out of it."""
    chance = random.Random(f"{seed} {mark}")
    return f"I prefer {word(chance)} over {word(chance)}."


def query(seed: int, mark: str) -> str:
    """Some words of the sentence of that mark."""
    words = sentence(seed, mark).rstrip(".").split()
    return " ".join(words[1:6])


def long_text(characters: int) -> str:
    """Prose of that many characters, none of which says anything of anybody."""
    block = " ".join(sentence(0, str(at)) for at in range(500)) + " "
    return (block * (characters // len(block) + 1))[:characters]
