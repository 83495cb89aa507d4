"""Attributes of which a person, a thing, a place or a team has one value at a time: the forms in
which they are told, where a value ends, those that ship and those that a workspace adds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memories.language.english.statements.auxiliaries import Parse, key
from memories.language.english.statements.word_lists import ARTICLES, PREPOSITIONS
from memories.language.english.statements.wording import WEEKDAYS, Word, words
from memories.language.expressions import compiled

# How they are told, where a value ends, and what a workspace adds, including words of change.
#
# A form is a row of words in their normal form (no articles, no auxiliaries, see `wording`):
# `{s}` whom it is about, `{v}` the value, `{k}` what tells two values of one attribute apart,
# `{x}` up to three words that do not matter; `a|b` either word, `a?` may be missing. Examples are
# (statement, (subject, slot, key, value)).

CONDITIONS = frozenset("for in on at during with without".split())
# "Paris" of "Paris last week", and all of "Monday next week"
DAYS = frozenset("last next yesterday today tonight tomorrow".split())
CUT = PREPOSITIONS | {"'s", "'insteadof", "insteadof", "infavorof", "very", "be"}


@dataclass(frozen=True, slots=True)
class Slot:
    """An attribute with one value at a time. All four are normal forms, lower case."""

    subject: str
    name: str
    key: str
    value: str


def value_of(phrase: Sequence[Word]) -> list[Word]:
    """Return the value without what follows it: "Paris" of "Paris with her sister"."""
    kept: list[Word] = []
    for word in phrase:
        if word.text in CUT:
            if kept:
                break
            continue
        if word.text in DAYS and kept and kept[-1].root not in WEEKDAYS:
            break
        if not word.is_function:
            kept.append(word)
    return kept[:6]


def condition_of(phrase: Sequence[Word]) -> list[Word]:
    """Return the words for when or for whom a value holds: "adults" of "20 dollars for adults"."""
    start = next((i for i, word in enumerate(phrase) if i and word.text in CONDITIONS), len(phrase))
    return value_of(phrase[start:])


def text_of(value: Sequence[Word]) -> str:
    return " ".join([word.root for word in value])


@dataclass(frozen=True, slots=True)
class SlotForm:
    """Forms in which an attribute is told. `values`: the value must hold one of these words, if any
    are given ("#" a number, "#1" nothing but a number of years, "nth" an ordinal, "no #" none, "no
    work" what people do themselves but "works", "$" money, "@" a day or time, "*" a name, "**"
    nothing but a name). `is_change`: the form tells of a change, so that it may stand in the past
    tense. `is_joined`: `{k}` is part of the subject. `of_known`: "the" stands before it."""

    slot: str
    forms: Sequence[str]
    examples: Sequence[tuple[str, tuple[str, str, str, str]]]
    counter_examples: Sequence[str] = ()
    values: str = ""
    is_change: bool = False
    is_joined: bool = False
    of_known: bool = False


SUBJECT, KEY, VALUE = "subject", "key", "value"


@dataclass(frozen=True, slots=True)
class OwnSlot:
    """An attribute of a workspace. `regex` is RE2's syntax, searched in a statement. Its group
    `value` is the value; it may also name `subject`, whom it is about, and `key`, which tells two
    values of one attribute apart."""

    name: str
    regex: str


@dataclass(frozen=True, slots=True)
class OwnChange:
    """A workspace's words of change: `verbs` end what `ended` words say of the same thing ("*":
    whatever is said of it)."""

    name: str
    verbs: str
    ended: str = "*"


@dataclass(frozen=True, slots=True)
class OwnWords:
    """Attributes and words of change that a workspace adds to those that ship; `off` names the
    shipped rules (`shipped_rules`) that decide nothing in it."""

    slots: tuple[OwnSlot, ...] = ()
    changes: tuple[OwnChange, ...] = ()
    off: frozenset[str] = frozenset()


NO_WORDS = OwnWords()


def own_slots(slots: Sequence[OwnSlot], statement: str, parse: Parse) -> Iterator[Slot]:
    """Yield the attributes in `slots` that a statement gives as true now; none for plans, denials
    or what is over."""
    if parse.is_plan or parse.denials or "past" in parse.change:
        return
    for slot in slots:
        match = compiled(slot.regex).search(statement)
        said = match.groupdict() if match else {}
        if value := _said(said.get(VALUE)):
            subject = key(_said(said.get(SUBJECT))) or key(parse.noun_phrase)
            about = key(_said(said.get(KEY)))
            yield Slot(subject, f"own:{slot.name}", about, text_of(value))


def _said(text: str | None) -> list[Word]:
    found = words(text or "")
    return [word for word in found if not word.is_function and word.text not in ARTICLES]


OF_PEOPLE = (
    SlotForm(
        "residence",
        (
            "{s} live|reside|base|settle in|at|near {v}",
            "{v} be where {s} live",
            "{s} call {v} home",
        ),
        examples=(
            ("Ada lives in Oslo", ("ada", "residence", "", "oslo")),
            ("Oslo is where Ada lives", ("ada", "residence", "", "oslo")),
        ),
        counter_examples=("Ada used to live in Oslo", "Ada lived in Oslo", "Ada loves Oslo"),
    ),
    SlotForm(
        "residence",
        ("{s} move|emigrate|settle back? home? to|in|into {v}", "{s} move from {x} to {v}"),
        examples=(
            ("Ada moved to Bergen", ("ada", "residence", "", "bergen")),
            ("Ada moved back home to Bergen", ("ada", "residence", "", "bergen")),
        ),
        counter_examples=("Ada wants to move to Bergen", "Ada moved to a new desk"),
        values="*",
        is_change=True,
    ),
    SlotForm(
        "residence",
        ("{s} rent {x} in {v}", "{s} buy {x} house|home|apartment|place|condo|studio in {v}"),
        examples=(("Ada rents a studio in Oslo", ("ada", "residence", "", "oslo")),),
        counter_examples=("Ada's rent was 850 euros in 2025",),
        values="no #",
        is_change=True,
    ),
    SlotForm(
        "employer",
        ("{s} work at|for {v}", "{s} work as {x} at|for {v}", "{s} employ at|by {v}"),
        examples=(("Ada works at Equinor", ("ada", "employer", "", "equinor")),),
        counter_examples=("Ada worked at Equinor", "Ada's wife and Equinor"),
    ),
    SlotForm(
        "employer",
        (
            "{s} hire by|at {v}",
            "{s} start|get|take|accept|land|find {x} job|role|position at|with {v}",
            "{s} start|begin work at|for {v}",
            "{s} start|begin at {v}",
        ),
        examples=(("Ada took a job at Statkraft", ("ada", "employer", "", "statkraft")),),
        counter_examples=("Ada applied for a job at Statkraft",),
        is_change=True,
    ),
    SlotForm(
        "employer",
        ("{s} join {v}", "{s} {x} and join {v}", "{s} play for|with {v}", "{s} @ {v}"),
        examples=(("Ada left Equinor and joined Statkraft", ("ada", "employer", "", "statkraft")),),
        counter_examples=("Ada joined a book club", "Ada joined the Oslo Chess Club"),
        values="**",
        is_change=True,
    ),
    SlotForm(
        "job",
        (
            "{s} work as {v}",
            "{s} 's job be {v}",
            "{s} 's job title be {v}",
        ),
        examples=(("Ada works as a nurse", ("ada", "job", "", "nurse")),),
        counter_examples=("Ada worked as a nurse",),
    ),
    SlotForm(
        "job",
        ("{s} {v} for living",),
        examples=(("Ada paints signs for a living", ("ada", "job", "", "paint sign")),),
        counter_examples=("Ada works for a living", "Ada's son paints signs for a living"),
        values="no work",
    ),
    SlotForm(
        "job",
        (
            "{s} promote to {v}",
            "{s} start|begin work as {v}",
            "{s} start|get|take|accept|land|find {x} job|role|position as {v}",
            "{s} retrain as {v}",
        ),
        examples=(("Ada was promoted to head nurse", ("ada", "job", "", "head nurse")),),
        counter_examples=("Ada was promoted to level 12 in the game",),
        values="no #",
        is_change=True,
    ),
    SlotForm(
        "age",
        ("{s} be {v} yearsold", "{s} 's age be {v}", "{s} be age|aged {v}", "{s} be {v}"),
        examples=(("Ada is 30 years old", ("ada", "age", "", "30")),),
        counter_examples=("Ada is in room 30", "The error rate is 30 percent", "The sync is at 9"),
        values="#1",
    ),
    SlotForm(
        "age",
        ("{s} turn {v}",),
        examples=(("Ada turned 31", ("ada", "age", "", "31")),),
        values="#",
        is_change=True,
    ),
    SlotForm(
        "age",
        ("{s} celebrate|have {v} birthday",),
        examples=(("Ada celebrated her 31st birthday", ("ada", "age", "", "31")),),
        counter_examples=("Ada celebrated her birthday",),
        values="nth",
        is_change=True,
    ),
    SlotForm(
        "birthday",
        ("{s} born on|in? {v}", "{s} 's birthday be on? {v}", "{s} have birthday on {v}"),
        examples=(("Ada was born on 3 March", ("ada", "birthday", "", "03_03")),),
        counter_examples=("Ada was born in Ghana",),
        values="@",
        is_change=True,
    ),
    SlotForm(
        "spouse",
        ("{s} marry to? {v}", "{s} get? marry to {v}", "{s} 's husband be call? {v}"),
        examples=(("Ada is married to Jens", ("ada", "spouse", "", "jen")),),
        counter_examples=("Ada is married", "Ada's brother is called Jens"),
        values="*",
    ),
    SlotForm(
        "fiance",
        ("{s} fiance to {v}", "{s} 's fiance be call? {v}"),
        examples=(("Ada is engaged to Jens", ("ada", "fiance", "", "jen")),),
        values="*",
    ),
    SlotForm(
        "boyfriend",
        ("{s} date {v}", "{s} have boyfriend name|call {v}", "{s} 's boyfriend be name|call? {v}"),
        examples=(("Ada's girlfriend is called Liv", ("ada", "boyfriend", "", "liv")),),
        values="*",
    ),
    SlotForm(
        "favorite",
        (
            "{s} 's favorite {k} be {v}",
            "{v} be {s} 's favorite {k}",
            "{s} have favorite {k} be {v}",
            "{s} favorite {k} be {v}",
        ),
        examples=(
            ("Ada's favourite fruit is mango", ("ada", "favorite", "fruit", "mango")),
            ("Mango is Ada's favorite fruit", ("ada", "favorite", "fruit", "mango")),
        ),
        counter_examples=("Mango is one fruit that Ada likes",),
    ),
    SlotForm(
        "phone",
        ("{s} reach at {v}", "{s} can reach at {v}", "{s} 's phone be {v}"),
        examples=(("Ada can be reached at 22 33 44 55", ("ada", "phone", "", "22334455")),),
        counter_examples=("Ada's phone was 22 33 44 55",),
        values="#",
    ),
    SlotForm(
        "manager",
        ("{s} report to {v}", "{s} 's boss be {v}"),
        examples=(
            ("Ada reports to Liv", ("ada", "manager", "", "liv")),
            ("Ada's new boss is Liv", ("ada", "manager", "", "liv")),
        ),
        counter_examples=("Ada reported the bug to Liv",),
        values="*",
    ),
    SlotForm(
        "weight",
        ("{s} weigh {v}", "{s} 's weight be {v}"),
        examples=(("Ada weighs 60 kg", ("ada", "weight", "", "60 kg")),),
        values="#",
    ),
    SlotForm(
        "weight",
        ("{s} 's weight @ {v}",),
        examples=(("Ada's weight went down to 58 kg", ("ada", "weight", "", "58 kg")),),
        values="#",
        is_change=True,
    ),
    SlotForm(
        "height",
        ("{s} be {v} tall", "{s} 's height be {v}"),
        examples=(("Ada is 170 cm tall", ("ada", "height", "", "170 cm")),),
        values="#",
    ),
    SlotForm(
        "income",
        ("{s} earn|make {v}", "{s} 's monthly|yearly? income|salary|pay be {v}"),
        examples=(("Ada earns 4,000 euros a month", ("ada", "income", "", "4000 euro month")),),
        counter_examples=("Ada makes 3 cakes", "Ada made 40 euros"),
        values="$",
    ),
    SlotForm(
        "car",
        ("{s} drive {v}", "{s} 's car be {v}"),
        examples=(
            ("Ada drives a Fiat", ("ada", "car", "", "fiat")),
            ("Ada's car is a Fiat", ("ada", "car", "", "fiat")),
        ),
        counter_examples=("Ada drove a Fiat on holiday", "Ada drives to work"),
        values="*",
    ),
    SlotForm(
        "commute",
        (
            "{s} commute by|on|with {v}",
            "{s} go|travel|get to work by {v}",
            "{s} take|catch|ride {v} to work|office",
            "{s} {v} to work|office",
        ),
        examples=(("Ada commutes by tram", ("ada", "commute", "", "tram")),),
        values="bus bike train car tram foot walk scooter drive subway metro ferry carpool",
    ),
    SlotForm(
        "reading",
        ("{s} read {v}",),
        examples=(("Ada is reading 'Emma'", ("ada", "reading", "", "emma")),),
        counter_examples=("Ada reads a lot", "Ada read 'Emma' last year"),
        values="*",
    ),
    SlotForm(
        "level",
        ("{s} be|become {v} in|at|with {k}",),
        examples=(("Ada is a beginner in chess", ("ada", "level", "chess", "beginner")),),
        counter_examples=("Ada is in chess club",),
        values="beginner novice intermediate advanced proficient expert skilled unskilled",
        is_change=True,
    ),
    SlotForm(
        "household",
        ("{s} live|move {v}",),
        examples=(("Ada lives alone", ("ada", "household", "", "alon")),),
        values="alone",
        is_change=True,
    ),
    SlotForm(
        "household",
        ("{s} live with {v}",),
        examples=(("Ada lives with two cousins", ("ada", "household", "", "2 cousin")),),
        counter_examples=("Ada lived with two cousins",),
    ),
    SlotForm(
        "hours",
        ("{s} work {v}", "{s} go|return|switch|change back? to {v}"),
        examples=(("Ada works part time", ("ada", "hours", "", "parttim")),),
        values="parttime fulltime",
        is_change=True,
    ),
    SlotForm(
        "school",
        (
            "{s} attend|visit {v}",
            "{s} study|learn at {v}",
            "{s} be student at {v}",
            "{s} be in {v}",
            "{s} go to {v}",
            "{s} transfer|switch|change|move|@ to? {v}",
        ),
        examples=(("Ada attends Bergen High School", ("ada", "school", "", "bergen high school")),),
        counter_examples=("Ada attends concerts in Bergen",),
        values="school university academy elementary kindergarten",
        is_change=True,
    ),
    SlotForm(
        "hair",
        ("{s} 's hair be {v}", "{s} have {v} hair", "{s} dye|cut hair {v}"),
        examples=(("Ada dyed her hair green", ("ada", "hair", "", "green")),),
        values="red blue green black brown blond blonde grey gray pink purple white short long",
        is_change=True,
    ),
)


# Attributes of which a thing, a place or a team has one value at a time. Data only.

OF_THINGS = (
    SlotForm(
        "place",
        ("{s} be at|in|on {v}", "{s} locate|situate at|in|on {v}"),
        examples=(("The office is on Baker Street", ("offic", "place", "", "baker street")),),
        counter_examples=("The office is on a hill", "The party is on Friday"),
        values="*",
    ),
    SlotForm(
        "place",
        ("{s} move|relocate to {v}",),
        examples=(("The fair moved to Camden", ("fair", "place", "", "camden")),),
        values="*",
        is_change=True,
    ),
    SlotForm(
        "deadline",
        (
            "{s} be? deadline on|by|at? {v}",
            "deadline for|of {s} be on|by? {v}",
            "{s} 's deadline be on|by? {v}",
            "deadline for|of {s} @ {v}",
            "{s} deadline be on|by? {v}",
        ),
        examples=(
            ("The essay is due on Friday", ("essay", "deadline", "", "friday")),
            ("The deadline for the essay is Friday", ("essay", "deadline", "", "friday")),
        ),
        counter_examples=("The essay is due to a mistake",),
        values="@",
    ),
    SlotForm(
        "price",
        ("{s} cost {v}", "price of|for {s} be {v}", "{s} price be {v}", "{s} 's price be {v}"),
        examples=(("The pass costs 40 euros", ("pass", "price", "", "40 euro")),),
        values="#",
    ),
    SlotForm(
        "price",
        ("{s} price @ {v}", "price of|for {s} @ {v}", "{s} 's price @ {v}"),
        examples=(("The price of the pass rose to 45 euros", ("pass", "price", "", "45 euro")),),
        values="#",
        is_change=True,
    ),
    SlotForm(
        "price",
        ("{s} pay {v} for {k}",),
        examples=(("Ada pays 40 euros a month for the gym", ("ada-gym", "price", "", "40 euro month")),),
        counter_examples=("Ada paid 40 euros for the gym",),
        values="$",
        is_joined=True,
    ),
    SlotForm(
        "language",
        ("{s} write in {v}", "{v} be language of {s}", "{s} 's language be {v}"),
        examples=(("The parser is written in Rust", ("parser", "language", "", "rust")),),
        counter_examples=("The letter is written in blue ink",),
        values="*",
    ),
    SlotForm(
        "language",
        ("{s} rewrite in {v}", "{s} port to {v}"),
        examples=(("The parser was rewritten in Zig", ("parser", "language", "", "zig")),),
        values="*",
        is_change=True,
    ),
    SlotForm(
        "owner",
        (
            "{s} own|lead|maintain|manage|handle|run|coordinate|oversee by {v}",
            "{v} be owner|maintainer of {s}",
            "{s} 's owner be {v}",
        ),
        examples=(("The parser is owned by Liv", ("parser", "owner", "", "liv")),),
        values="*",
    ),
    SlotForm(
        "owner",
        ("{v} be responsible for {s}",),
        examples=(("Liv is responsible for parsing", ("pars", "owner", "", "liv")),),
    ),
    SlotForm(
        "owner",
        ("{v} own|lead|maintain|manage|oversee|head|coordinate {s}", "{v} become {s}"),
        examples=(
            ("Liv maintains the parser", ("parser", "owner", "", "liv")),
            ("Bo took over the parser", ("parser", "owner", "", "bo")),
        ),
        counter_examples=(
            "Liv maintains a parser",
            "Liv fears the parser",
            "Liv runs the marathon",
        ),
        is_change=True,
        of_known=True,
    ),
    SlotForm(
        "assignee",
        ("{s} assign|reassign to {v}", "{v} be assign of {s}", "{v} work on ticket {s}"),
        examples=(("Ticket 12 was reassigned to Liv", ("12-ticket", "assignee", "", "liv")),),
        is_change=True,
        values="*",
    ),
    SlotForm(
        "role",
        (
            "{v} be {k} of|at|for {s}",
            "{v} become|be as? {k} of|at|for {s}",
            "{v} replace {x} as {k} of|at|for {s}",
            "{v} name|appoint|elect {k} of|at|for {s}",
        ),
        examples=(
            ("Liv is the tech lead of the parser", ("parser", "role", "lead-tech", "liv")),
            ("Liv took over as CEO of Yara", ("yara", "role", "ceo", "liv")),
        ),
        counter_examples=("Liv is a fan of Yara",),
        is_change=True,
    ),
    SlotForm(
        "role",
        ("{s} 's {k} be {v}", "{k} of {s} be {v}"),
        examples=(("Yara's CEO is Liv", ("yara", "role", "ceo", "liv")),),
    ),
    SlotForm(
        "plan",
        ("{s} be on {v} plan|tier", "{s} @ {v} plan|tier", "{s} downgrade|move to {v} plan|tier"),
        examples=(("Ada upgraded to the Pro plan", ("ada", "plan", "", "pro")),),
        is_change=True,
    ),
    SlotForm(
        "name",
        ("{s} be call|name {v}", "{s} 's name be {v}", "name of {s} be {v}"),
        examples=(("The default branch is called trunk", ("branch-default", "name", "", "trunk")),),
        counter_examples=("Ada called Liv", "Ada called the plumber"),
    ),
    SlotForm(
        "name",
        ("{s} rename to? {v}", "{s} rename {k} to {v}"),
        examples=(("The branch was renamed to main", ("branch", "name", "", "main")),),
        is_change=True,
    ),
)
