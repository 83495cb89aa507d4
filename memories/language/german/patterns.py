"""Ten patterns of German with their own examples, said by Alex; statements are in English, so that
they can be compared with the others."""

import re
from collections.abc import Iterator
from datetime import datetime

from memories.language.bounds import Budget
from memories.language.english.patterns.pattern import Found, Pattern
from memories.language.german.dates import event_date

_SO = r"(?:sehr |wirklich |am liebsten |gerne? |schon |jetzt |immer |seit \w+ )*"
_WHAT = r"(?P<what>[^.,;!?]{2,80}?)"
_TIME = (
    r"(?: (?:seit|vor|gestern|vorgestern|heute|letzte\w*|vorige\w*|im) [^.,;!?]{0,40}|"
    r" (?:gestern|vorgestern|heute))?"
)
PATTERNS = (
    Pattern(
        "german_name",
        "identity",
        rf"^ich (?:heiße|bin der|bin die) {_WHAT}$",
        confidence=0.9,
        statement="{speaker}'s name is {what}",
        examples=(("Ich heiße Jonas", "Alex's name is Jonas"),),
        counter_examples=("Er heißt Jonas",),
    ),
    Pattern(
        "german_lives",
        "identity",
        rf"^ich (?:wohne|lebe) {_SO}in {_WHAT}{_TIME}$",
        confidence=0.9,
        statement="{speaker} lives in {what}",
        examples=(("Ich wohne in Graz", "Alex lives in Graz"), ("Ich lebe seit 2019 in Wien", "Alex lives in Wien")),
        counter_examples=("Sie wohnt in Graz",),
    ),
    Pattern(
        "german_moved",
        "temporal",
        rf"^ich bin (?P<when>[^.,;!?]{{0,40}}?) ?nach {_WHAT} (?:um)?gezogen$",
        statement="{speaker} moved to {what}",
        examples=(("Ich bin letztes Jahr nach Bern gezogen", "Alex moved to Bern"),),
        counter_examples=("Ich bin nach Hause gegangen",),
    ),
    Pattern(
        "german_from",
        "identity",
        rf"^ich komme (?:ursprünglich )?aus {_WHAT}$",
        confidence=0.9,
        statement="{speaker} comes from {what}",
        examples=(("Ich komme ursprünglich aus Kiel", "Alex comes from Kiel"),),
        counter_examples=("Ich komme gleich",),
    ),
    Pattern(
        "german_works",
        "identity",
        rf"^ich arbeite {_SO}bei {_WHAT}{_TIME}$",
        confidence=0.9,
        statement="{speaker} works at {what}",
        examples=(("Ich arbeite bei der Bahn", "Alex works at der Bahn"),),
        counter_examples=("Ich arbeite heute",),
    ),
    Pattern(
        "german_job",
        "identity",
        rf"^ich arbeite {_SO}als {_WHAT}$",
        confidence=0.9,
        statement="{speaker} works as {what}",
        examples=(("Ich arbeite als Tischlerin", "Alex works as Tischlerin"),),
        counter_examples=("Ich arbeite mehr als früher, und du?",),
    ),
    Pattern(
        "german_likes",
        "preference",
        rf"^ich mag {_SO}(?!nicht|keine?)(?!es$|das$){_WHAT}$",
        confidence=0.9,
        statement="{speaker} likes {what}",
        examples=(("Ich mag Lakritz", "Alex likes Lakritz"),),
        counter_examples=("Ich mag keine Pilze", "Ich mag es"),
    ),
    Pattern(
        "german_dislikes",
        "preference",
        rf"^ich (?:mag keine?n? {_WHAT}|hasse (?P<hated>[^.,;!?]{{2,80}}))$",
        confidence=0.9,
        statement="{speaker} doesn't like {what}",
        examples=(("Ich mag keine Pilze", "Alex doesn't like Pilze"),),
        counter_examples=("Ich mag Pilze",),
    ),
    Pattern(
        "german_vegetarian",
        "preference",
        r"^ich (?:bin|lebe) (?:jetzt |seit \w+ )?(?P<what>vegetari|vegan)\w*$",
        confidence=0.9,
        statement="{speaker} is {what}",
        examples=(("Ich bin Vegetarierin", "Alex is vegetarian"), ("Ich lebe vegan", "Alex is vegan")),
        counter_examples=("Ich bin müde",),
    ),
    Pattern(
        "german_family",
        "relationship",
        r"^mein[er]? (?P<who>Schwester|Bruder|Mutter|Vater|Frau|Mann|Tochter|Sohn) heißt "
        rf"{_WHAT}$",
        confidence=0.9,
        statement="{speaker}'s {who} is called {what}",
        examples=(("Meine Schwester heißt Lena", "Alex's sister is called Lena"),),
        counter_examples=("Seine Schwester heißt Lena",),
    ),
)
_in_english = {
    "schwester": "sister",
    "bruder": "brother",
    "mutter": "mother",
    "vater": "father",
    "frau": "wife",
    "mann": "husband",
    "tochter": "daughter",
    "sohn": "son",
    "vegetari": "vegetarian",
    "vegan": "vegan",
}
_compiled = tuple((pattern, re.compile(pattern.regex, re.IGNORECASE)) for pattern in PATTERNS)
_sentence = re.compile(r"[^.!?;\n]+")
_courtesy = re.compile(
    r"\s*(?:(?:hallo|hi|hey|moin|servus|grüß (?:dich|gott)|guten (?:morgen|tag|abend)|gute nacht|tschüss|bis (?:bald|später|dann)"
    r"|auf wiedersehen|danke(?: schön| sehr)?|vielen dank|bitte(?: schön| sehr)?|gern geschehen|alles klar|wie geht(?:'s| es (?:dir|ihnen)))"
    r"(?: zusammen| alle| dir| euch)?[\s,.!?]*){1,4}",
    re.IGNORECASE,
)
LONGEST_COURTESY, LONGEST_CLAIM = 100, 200  # characters


def is_courtesy(text: str) -> bool:
    """Tell whether a text is only greetings, thanks and good-byes."""
    return len(text) <= LONGEST_COURTESY and bool(_courtesy.fullmatch(text))


def extract(text: str, speaker: str, at: datetime, budget: Budget | None = None) -> Iterator[Found]:
    """Yield the claims of `speaker`, one for each sentence that a pattern fits."""
    budget = budget or Budget()
    for match in _sentence.finditer(text):
        if not budget.lasts():
            return
        sentence = match[0].strip()
        if len(sentence) > LONGEST_CLAIM:
            continue
        for pattern, regex in _compiled:
            if fit := regex.match(sentence):
                start = match.start() + len(match[0]) - len(match[0].lstrip())
                yield _found(pattern, fit, speaker, at, start)
                break


def _found(pattern: Pattern, fit: re.Match[str], speaker: str, at: datetime, start: int) -> Found:
    named = {name: said for name, said in fit.groupdict().items() if said}
    what = named.get("what") or named.get("hated", "")
    parts = {name: _in_english.get(said.lower(), said) for name, said in named.items()}
    return Found(
        statement=pattern.statement.format(
            speaker=speaker or "User", **{**parts, "what": _in_english.get(what.lower(), what)}
        ),
        category=pattern.category,
        fact_type=pattern.fact_type,
        confidence=pattern.confidence,
        rule=pattern.name,
        entities=(what,) if what[:1].isupper() else (),
        event_date=event_date(fit.string, at),
        start=start,
        end=start + len(fit.string),
    )
