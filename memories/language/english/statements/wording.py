"""The normal form of a statement: one way of writing numbers, times, dates, names of things."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from memories.language.english import calendar, lexical, numbers
from memories.language.english.statements.word_lists import BE, CLASSES, DO, FUNCTION, HAVE, PHRASES
from memories.language.english.verbs import is_past

Replacement = str | Callable[[re.Match[str]], str]
MAY = "maymonth"  # the month, which else reads as what may be
MONTHS = {name: f"{i:02}" for i, name in enumerate(calendar.MONTHS, 1)} | {MAY: "05"}
_short_months = {name[:3]: number for name, number in MONTHS.items()} | {"sept": "09"}
WEEKDAYS = frozenset(calendar.WEEKDAYS)
_days = {day + "s": day for day in WEEKDAYS} | {
    short: day for day in WEEKDAYS for short in (day[:3], day[:4]) if short not in ("sun", "sat")
}
RELATIVE_DATES = frozenset("yesterday today tonight tomorrow last next week month year weekend ago".split())
NUMBERS = {word: str(value) for word, value in numbers.NUMBERS.items()} | {
    "hundred": "100",
    "thousand": "1000",
    "once": "1",
    "twice": "2",
    "dozen": "12",
}
ORDINALS = {word: f"{n}{ ({1: 'st', 2: 'nd', 3: 'rd'}.get(n, 'th')) }" for word, n in numbers.ORDINALS.items()}

_month = f"({calendar.MONTH[3:]}"
_units = "ms|mg|kg|km|gb|mb|tb|ml|cm|mm|min|fps|rpm|hz|kb|usd|eur|lbs|h|g|l"
_scale = {"k": 1e3, "thousand": 1e3, "million": 1e6, "billion": 1e9, "m": 1e6}


def _clock(match: re.Match[str]) -> str:
    hour = int(match[1]) % 12 + (12 if match[3] == "p" else 0)
    return f" {hour:02}:{match[2] or '00'} "


def _past_hour(hour: str, minutes: str) -> str:
    number = NUMBERS.get(hour, hour)
    is_hour = number.isdigit() and int(number) < 25
    return f"{int(number):02}:{minutes}" if is_hour else f"{minutes} past {hour}"


def _month_number(name: str) -> str:
    return _short_months[name[:3]]


@cache
def _rewritings() -> tuple[tuple[str, bool, re.Pattern[str], Replacement], ...]:
    """Return rows (required text, whether a digit is required too, pattern, replacement), in
    order."""
    currencies = {"$": "dollar", "€": "euro", "£": "pound"}
    rows: tuple[tuple[str, str, Replacement], ...] = (
        ("'", r"\bcan't\b", "can not"),
        ("'", r"\bwon't\b", "will not"),
        ("'", r"n't\b", " not"),
        ("cannot", r"\bcannot\b", "can not"),
        ("'", r"\bi'm\b", "i am"),
        ("'s got", r"'s got\b", " has"),
        ("'", r"'(re|ve|ll|d)\b", lambda m: f" {_full[m[1]]}"),
        ("'", r"s'(?=\s|$)", "s 's"),
        ("'", r"'s\b", " 's"),
        (",", r"(?<=\d),(?=\d{3}\b)", ""),
        ("", r"([$€£])\s?(\d[\d.]*)", lambda m: f"{m[2]} {currencies[m[1]]}"),
        ("%", r"\s?%", " percent"),
        ("per cent", r"\bper cent\b", "percent"),
        ("m", r"\b(\d{1,2})(?:[:.](\d\d))?\s?([ap])\.?m\b\.?", _clock),
        (":", r"\b(\d):(\d\d)\b", r"0\1:\2"),
        ("'", r"\b(\d{1,2}) ?o'clock\b", lambda m: f"{int(m[1]):02}:00"),
        ("noon", r"\bnoon\b", "12:00"),
        ("half past", r"\bhalf past (\w+)", lambda m: _past_hour(m[1], "30")),
        ("quarter past", r"\b(?:a )?quarter past (\w+)", lambda m: _past_hour(m[1], "15")),
        (
            "best",
            r"^the (\w+) ([\w' ]{1,40}?) (?:likes?|loves?|enjoys?) (?:the )?best is\b",
            lambda m: f"{m[2]}'s favorite {m[1]} is",
        ),
        ("-", r"\b(\d{4})-(\d\d)-(\d\d)\b", r"\2_\3 \1"),
        ("", rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_month}\b", lambda m: f"{_month_number(m[2])}_{int(m[1]):02}"),
        ("", rf"\b{_month} (\d{{1,2}})(?:st|nd|rd|th)?\b(?![:\d])", lambda m: f"{_month_number(m[1])}_{int(m[2]):02}"),
        (
            " may",
            r"\b(in|since|until|till|to|by|during|before|after|around|from|of|last|next|this|early|mid|late)"
            r" may\b(?! (?:be|not|have|also|well)\b)",
            rf"\1 {MAY}",
        ),
        (
            "",
            r"(?<![\w.])\+?\d[\d()]*(?:[ -]\d{2,}){1,4}(?!\w)",
            lambda m: re.sub(r"\D", "", m[0]) if sum(map(str.isdigit, m[0])) > 6 else m[0],
        ),
        ("", r"\b(\d+(?:\.\d+)?) ?(k|thousand|million|billion)\b", lambda m: f"{float(m[1]) * _scale[m[2]]:.10g}"),
        ("", rf"(?<=\d)({_units})\b", r" \1"),
        ("v", r"\bv(?:ersion )?(?=\d)", "version "),
        ("-", r"(?<=[a-z0-9])-(?=[a-z])", " "),
    )
    return tuple((need, r"\d" in regex, re.compile(regex), new) for need, regex, new in rows)


_full = {"re": "are", "ve": "have", "ll": "will", "d": "would"}
_pieces = re.compile(
    r"https?://[^\s,;()]*[^\s,;().?!]|(?<!\w)@\w[\w.-]*\w|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\d\d_\d\d|\d+(?:[.:]\d+)*(?:st|nd|rd|th)?\+?|'s\b"
    r"|[^\W\d][\w]*(?:[.'/&][^\W_]\w*)*(?:\+\+|#)?|[,:;(]"
)
_plain = re.compile(r"[a-z ,]*[.!?]*")
_capital = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][\w&]*|^[A-Z]\w*(?='s)|\b\w+[A-Z]\w*|\b[A-Z]{2,}\b")


_reported = re.compile(
    r"^(\w+) (?:says|said|mentions|mentioned|reports|reported)(?: that)? (he|she|they|his|her|their) ",
    re.I,
)


def _told(match: re.Match[str]) -> str:
    """Read "Ann says her car is red" as "Ann's car is red"."""
    is_owner = match[2].lower() in ("his", "her", "their")
    return f"{match[1]}'s " if is_owner else f"{match[1]} "


_digit = re.compile(r"\d")
_number_root = re.compile(r"\d[\d.]*$")


@dataclass(frozen=True)
class Word:
    """One word of the normal form: its text, the root it is compared by, and its use."""

    text: str
    root: str
    is_name: bool = False
    is_past: bool = False

    @cached_property
    def is_function(self) -> bool:
        return self.root in FUNCTION

    @cached_property
    def is_number(self) -> bool:
        return bool(_number_root.match(self.root))


@lru_cache(maxsize=4096)  # of a batch of a thousand: each is asked for them two or three times
def words(statement: str) -> tuple[Word, ...]:
    """Return every word of the statement in its normal form, articles and auxiliaries included."""
    text = _plainly_told(statement)
    # Words with a capital that is not just the first letter of the statement's.
    is_small = text[1:].islower() and "'s" not in text
    names: frozenset[str] = frozenset() if is_small else frozenset(map(str.lower, _capital.findall(text)))
    return tuple([_word(piece, piece in names) for piece in _normal(text.lower())])


def texts(statement: str) -> list[str]:
    """Return the texts of these words."""
    return _normal(_plainly_told(statement).lower())


def _plainly_told(statement: str) -> str:
    text = statement
    if not text.isascii():  # "café" as "cafe"; other scripts stay as they are
        text = lexical.normal("NFC", _accents.sub(r"\1", lexical.normal("NFD", text)))
    text = text.strip().replace("\u2019", "'").replace("\u2018", "'")
    return _reported.sub(_told, text)


def _normal(low: str) -> list[str]:
    has_numbers = bool(_digit.search(low)) or "noon" in low
    for need, of_numbers, regex, new in _rewritings():
        if (has_numbers or not of_numbers) and need in low:
            low = regex.sub(new, low)
    # Most statements are letters and commas, which takes no search.
    if _plain.fullmatch(low):
        pieces = low.rstrip(".!?").replace(",", " , ").split()
    else:
        pieces = _pieces.findall(low)
    pieces = pieces[:1] + [piece for piece in pieces[1:] if piece not in _theirs]
    known, position = _phrases(), 0
    if known.keys().isdisjoint(pieces):
        return pieces
    out: list[str] = []
    while position < len(pieces):
        for parts, instead in known.get(pieces[position], ()):
            if pieces[position : position + len(parts)] == parts:
                out += instead
                position += len(parts)
                break
        else:
            out.append(pieces[position])
            position += 1
    return out


# Tried once for each word with hyphens, not at each of its letters.
_identifier = re.compile(r"@|://|(?<![\w-])(?:(?![a-z])[\w-])*+[a-z][\w-]*+\.[a-z]{2}|[a-z]/[a-z]")


def is_identifier(text: str) -> bool:
    """Tell whether a text is an address, a handle or a path: it is compared as it stands."""
    return not text.isalnum() and bool(_identifier.search(text))


_accents = re.compile("([A-Za-z])[\u0300-\u036f]+")
_theirs = frozenset("his her their its".split())


@lru_cache(maxsize=50_000)
def _word(text: str, is_name: bool) -> Word:
    is_name = (is_name or is_identifier(text)) and text not in FUNCTION
    return Word(text, root(text), is_name, is_past(text))


@lru_cache(maxsize=50_000)
def root(text: str) -> str:
    """Return what a word is compared by: its class of synonyms, else its stem; "be" for its
    forms."""
    if is_identifier(text):
        return text
    if text in BE:
        return "be"
    if text in HAVE:
        return "have"
    if text in DO:
        return "do"
    if text in FUNCTION:
        return text
    if known := NUMBERS.get(text) or ORDINALS.get(text) or _days.get(text):
        return known
    if text[:1].isdigit():
        plain = text.removesuffix("+")
        is_decimal = plain.count(".") == 1 and plain.replace(".", "").isdigit()
        return plain.rstrip("0").rstrip(".") if is_decimal else plain
    stem, classes = _stem(text), _class_of()
    # "responses" is many a response, whatever else has its stem.
    return classes.get(text) or classes.get(text.removesuffix("s")) or classes.get(stem) or stem


def _stem(text: str) -> str:
    stems = lexical.stems(text)
    return stems[0] if len(stems) == 1 else text


@cache
def _class_of() -> dict[str, str]:
    found: dict[str, str] = {}
    for members in CLASSES:
        for member in members:
            found.setdefault(member, members[0])
    for members in CLASSES:
        for member in members:
            found.setdefault(_stem(member), members[0])
    return found


@cache
def _phrases() -> dict[str, list[tuple[list[str], list[str]]]]:
    """Return the phrases by their first word, the longest first."""
    found: dict[str, list[tuple[list[str], list[str]]]] = {}
    for phrase in sorted(PHRASES, key=len, reverse=True):
        parts = phrase.split()
        found.setdefault(parts[0], []).append((parts, PHRASES[phrase].split()))
    return found
