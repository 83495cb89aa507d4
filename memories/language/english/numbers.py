"""Numbers in words: "seven", "twenty-one", "a couple of", "half a"; and their words for regular
expressions elsewhere."""

_small = """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty
"""
TENS = {word: 10 * tens for tens, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)}
NUMBERS = {word: value for value, word in enumerate(_small.split())} | TENS
ORDINALS = {
    word: place
    for place, word in enumerate("first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1)
}
_tenth = "eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
DAY_ORDINALS = (
    ORDINALS
    | {word: place for place, word in enumerate(_tenth.split(), 11)}
    | {f"twenty-{word}": 20 + place for word, place in ORDINALS.items() if place < 10}
    | {"thirtieth": 30, "thirty-first": 31}
)


def words_from(first: int, last: int) -> str:
    """`words_from(1, 3)` is "one|two|three"; up to twenty."""
    return "|".join(_small.split()[first : last + 1])


# How many, as it stands before a unit; `count` reads it.
COUNT = (
    rf"(?:half an?|(?:twenty|{'|'.join(TENS)})[- ](?:{words_from(1, 9)})|{'|'.join(NUMBERS)}"
    r"|an?(?: couple(?: of)?| few)?|couple(?: of)?|(?:the )?few|\d{1,3})"
)


def count(words: str) -> float:
    """Return the value of what `COUNT` matches; "a few" is 3, "half a" is .5."""
    small = words.lower()
    if small.startswith("half"):
        return 0.5
    if "few" in small or "couple" in small:
        return 3 if "few" in small else 2
    if small.isdigit():
        return int(small)
    return sum(NUMBERS.get(word, 1) for word in small.replace("-", " ").split())
