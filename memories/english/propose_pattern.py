"""A pattern to begin with, made of one sentence and what somebody found in it.

Words that another message of the kind would say otherwise (names, numbers, what stands behind an
article or a preposition) become named parts; the frame around them stays.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memories.english import clauses, verbs, workspace_patterns
from memories.expressions import compiled, regex_faults

LONGEST_SHAPE = 120
_words = re.compile(r"[$€£]?\d[\d.,:%]*|[\w]+(?:['’-]\w+)*|[^\w\s]")
_segment = re.compile(r"(?:(?<!\s)\s++)?[,:;–—!?]\s+")
_number = re.compile(r"[$€£]?\d")
_determiners = (
    "the a an this that these those some any no my our your his her their its each every another"
)
_prepositions = "in on at to for of by with from about into over under near after before since until during without through between as"
_others = (
    "i we you he she it they me us him them and or but because if when while than so then not there here who which what where"
    " just now still also always never really very too all both finally recently already only ever"
)
_auxiliary_text = """
    am is are was were be been has have had do does did will would can could should must may might
    isn't aren't wasn't weren't don't doesn't didn't won't can't
"""
_determining = frozenset(_determiners.split())
_before_things = frozenset(_prepositions.split()) | _determining
_auxiliary = frozenset(_auxiliary_text.split())
_function = _before_things | frozenset(_others.split()) | _auxiliary
_speaker = re.compile(r"(?:[A-Z][\w-]+ ?){1,2}(?=['’]s\b|\b)")
_part = {"number": r"[$€£]?\d[\d.,:%]*", "words": r"[^\s,.;:!?]+(?: [^\s,.;:!?]+){0,3}"}


@dataclass(frozen=True, slots=True)
class Proposal:
    """`shape` tells alike sentences: their frame up to the verb, "…" for what differs."""

    sentence: str
    regex: str
    template: str
    shape: str


@dataclass(slots=True)
class _Piece:
    """Neighbouring words of a sentence: part of the frame, or (with a `slot`) what varies in it."""

    words: list[str]
    slot: str = ""

    @property
    def text(self) -> str:
        return " ".join(self.words)


def proposal(text: str, statements: Sequence[str]) -> Proposal:
    """What may find the first of `statements` that `text` shares words with, and others like it."""
    sentence, statement = _telling(text, statements)
    pieces = _narrowed(_pieces(_words.findall(sentence)), statement)
    counts: Counter[str] = Counter()
    for piece in pieces:
        if piece.slot:  # each slot with a name of its own
            of_word = "name" if piece.words[0][0].isupper() else "what"
            name = "number" if piece.slot == "number" else of_word
            counts[name] += 1
            piece.slot = name if counts[name] == 1 else f"{name}{counts[name]}"
    # Whether the frame has a word of its own: "the … is …" would fit everything.
    if not any(_content(piece.text) for piece in pieces if not piece.slot):
        first = next((piece for piece in pieces if piece.slot), None)  # "the varnish is …"
        pieces = [_Piece(piece.words) if piece is first else piece for piece in pieces]
    # The pieces as one expression: a blank between words, any or none beside a sign.
    told, was_sign = r"\b", True
    for words, is_sign in _atoms(pieces):
        between = "" if told == r"\b" else r"\s*" if is_sign or was_sign else " "
        told, was_sign = f"{told}{between}{words}", is_sign
    regex = told
    if (
        regex_faults(regex) or compiled(regex).search(sentence) is None
    ):  # signs between words that no part allows for
        return Proposal(sentence, _literal(sentence), "", shape(sentence))
    return Proposal(sentence, regex, _template(statement, sentence, pieces), shape(sentence))


def shape(sentence: str) -> str:
    """The frame of `sentence` up to its verb, in small letters: "my … needs …"."""
    shapes = [told for part in _segment.split(sentence) if (told := _shape(_words.findall(part)))]
    telling = [told for told in shapes if told.count(" ") > 1]  # not "well …"
    return next(iter(telling or shapes), "")[:LONGEST_SHAPE]


def _shape(words: Sequence[str]) -> str:
    told: list[str] = []
    for piece in _pieces(words):
        if piece.slot:
            told.append("…")
            continue
        for word in piece.words:
            told.append(word.lower())
            if word.lower() in _auxiliary or word.lower() not in _function:
                return " ".join([*told, "…"])
    return " ".join(told)


def shape_of(text: str, statements: Sequence[str]) -> str:
    """The shape of the sentence of `text` in which `statements` stand."""
    return shape(_telling(text, statements)[0])


def _telling(text: str, statements: Sequence[str]) -> tuple[str, str]:
    """The sentence and the statement that share most; of equals the longest that asks nothing."""
    sentences = [text[start:end] for start, end in clauses.sentences(text)] or [
        text.strip()[: clauses.LONGEST]
    ]
    said = [(sentence, _content(sentence)) for sentence in sentences]
    found = [
        (len(words & t), s)
        for s, t in zip(statements, map(_content, statements), strict=True)
        for _, words in said
    ]
    statement = max(found, key=lambda pair: pair[0], default=(0, ""))[1]
    told = _content(statement)
    best, _ = max(said, key=lambda one: (len(one[1] & told), not one[0].endswith("?"), len(one[0])))
    return best.rstrip(" .!…"), statement.rstrip(" .!")


def _content(text: str) -> set[str]:
    return {
        word for word in _words.findall(text.lower()) if word not in _function and word[0].isalnum()
    }


def _pieces(words: Sequence[str]) -> list[_Piece]:
    """`words` cut into the frame and what varies."""
    pieces: list[_Piece] = []
    has_verb = False
    for number, word in enumerate(words):
        before = words[number - 1].lower() if number else ""
        slot = _kind(word, before, pieces[-1] if pieces else None, has_verb)
        # A sign ends what stood before: "Well, my canoe" has no verb yet.
        is_verb = word.lower() in _auxiliary or word.lower() not in _function
        has_verb = word[0].isalnum() and (has_verb or (not slot and is_verb))
        if pieces and pieces[-1].slot == slot:
            pieces[-1].words.append(word)
        else:
            pieces.append(_Piece([word], slot))
    return pieces


def _kind(word: str, before: str, last: _Piece | None, has_verb: bool) -> str:
    """The kind of slot that `word` belongs to; empty: to the frame."""
    small = word.lower()
    if _number.match(word):
        return "number"
    if small in _function or not word[0].isalnum():
        return ""
    if before in _before_things or (word[0].isupper() and before):
        return "words"
    is_going_on = last is not None and last.slot == "words"
    # "my canoe leaks": behind the subject comes its verb
    is_verb = not has_verb and (
        verbs.may_be_past(small) or (small.endswith("s") and len(small) > 3)
    )
    follows_number = last is not None and last.slot == "number"
    return "words" if follows_number or (is_going_on and not is_verb) else ""


def _narrowed(pieces: list[_Piece], statement: str) -> list[_Piece]:
    """Of what varies, that which the statement repeats, so that its template can name it."""
    kept: list[_Piece] = []
    for piece in pieces:
        # The longest run of its words that stands in the statement.
        size = len(piece.words) if piece.slot == "words" else 0
        spans = [(a, b) for a in range(size) for b in range(a + 1, size + 1)]
        longest = sorted(spans, key=lambda span: span[0] - span[1])
        stands = (s for s in longest if _place(" ".join(piece.words[slice(*s)])).search(statement))
        place = next(stands, None)
        if place is None:
            kept.append(piece)
            continue
        start, end = place
        parts = (
            _Piece(piece.words[:start]),
            _Piece(piece.words[start:end], "words"),
            _Piece(piece.words[end:]),
        )
        kept += [part for part in parts if part.words]
    return kept


def _place(said: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(said)}(?!\w)", re.IGNORECASE)


def _atoms(pieces: Sequence[_Piece]) -> Iterator[tuple[str, bool]]:
    for piece in pieces:
        if piece.slot:
            kind = "number" if piece.slot.startswith("number") else "words"
            yield f"(?P<{piece.slot}>{_part[kind]})", False
        else:
            yield from ((_literal(word), not word[0].isalnum()) for word in piece.words)


def _literal(words: str) -> str:
    return re.sub(r"([\\^$.|?*+()\[\]{}])", r"\\\1", words)


def _template(statement: str, sentence: str, pieces: Sequence[_Piece]) -> str:
    """`statement` with the speaker and the slots in the places of their words; empty where it
    names nothing of the sentence."""
    told = statement.replace("{", "{{").replace("}", "}}")
    speaker = _speaker.match(told)
    if speaker and speaker[0].strip().lower() not in sentence.lower():
        told = f"{{{workspace_patterns.SPEAKER}}}{' ' if speaker[0].endswith(' ') else ''}{told[speaker.end() :]}"
    for piece in pieces:
        if piece.slot:
            told = _place(piece.text).sub(f"{{{piece.slot}}}", told, count=1)
    return told if "{" in told.replace("{{", "") else ""
