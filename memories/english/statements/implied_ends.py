"""Events that end what was true without naming it: who gave birth is pregnant no more.

A row is data. A phrase is matched by its roots, in this order, with up to three words between two of
them; `a|b` is either word. `a+b` are two that are one word where they stand side by side.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from memories.english.statements.contradictions import KIN, PROFESSIONS
from memories.english.statements.overlap import Relation, light, meet, subject_words
from memories.english.statements.parse import ME
from memories.english.statements.read_statement import Reading, read
from memories.english.statements.word_lists import ARTICLES, BE, FUNCTION, HAVE
from memories.english.statements.wording import root, words

_reason = re.compile(
    r"\b(?:because|since|due to|thanks to|now that|as long as"
    r"|(?:near|with|at|from|to|for|of|by) (?:their|his|her|my|our|[A-Z][\w-]*['’]s))\b"
)
APART = 4  # places from one root of a phrase to the next


@dataclass(frozen=True, slots=True)
class ImpliedEnd:
    """After one of the `phrases`, what a statement tells with one of the words `ends`, or as one of
    the attributes `slots`, is over for whom it is about; without `ends`, whatever is told of whom the
    event is about. `of_thing`: only where both name the same thing. `is_sure`: it is replaced; else a person is asked.

    Examples are pairs (before, after) that end, counter-examples pairs that do not.
    """

    name: str
    phrases: str
    ends: str
    examples: tuple[tuple[str, str], ...]
    counter_examples: tuple[tuple[str, str], ...] = ()
    slots: str = ""
    of_thing: bool = False
    is_sure: bool = False


_partner = "engaged fiance dating boyfriend girlfriend partner husband wife married together couple"
_owning = "have own drive ride use keep wear rent car bike phone"
IMPLIED_ENDS = (
    ImpliedEnd(
        "breakup",
        "broke up, split up, separated, divorce, divorce|engagement|marriage|relationship|wedding is|"
        "was over|final|off, call|called off wedding|engagement, dumped",
        _partner,
        examples=(("Ada is engaged to Jens", "Ada and Jens split up"),),
        counter_examples=(("Ada is married to Jens", "Ada's colleague got divorced"),),
        slots="spouse fiance boyfriend relationship",
        is_sure=True,
    ),
    ImpliedEnd(
        "wedding",
        "got married, get|getting married, tied knot, married, wedding was, eloped",
        "single engaged fiance divorced widowed dating boyfriend girlfriend",
        examples=(("Ada is single", "Ada and Jens got married on Saturday"),),
        counter_examples=(("Ada is a nurse", "Ada and Jens got married"),),
    ),
    ImpliedEnd(
        "engagement",
        "proposed, got engaged, engaged, said yes",
        "single dating boyfriend girlfriend",
        examples=(("Ada is dating Jens", "Ada got engaged to Jens"),),
    ),
    ImpliedEnd(
        "birth",
        "gave birth, birthed, baby|child|son|daughter|twins was born, had twins|baby|boy|girl,"
        " became father|mother|parents|dad|mum|mom",
        "pregnant expecting expects childless due",
        examples=(("Ada is pregnant", "Ada had twins on Monday"),),
        counter_examples=(("Ada likes jazz", "Ada had twins on Monday"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "another child",
        "gave birth, birthed, baby|child|son|daughter|twins was born, had twins|baby|boy|girl",
        "child children kids",
        examples=(("Ada has two children", "Ada gave birth to a boy"),),
        counter_examples=(("Ada has two cats", "Ada gave birth to a boy"),),
    ),
    ImpliedEnd(
        "death",
        "died, passed away, put down, put sleep, lost to|battle",
        "have live own sleep ill sick care walk feed dog cat pet horse parrot hamster rabbit alive",
        examples=(("Ada's dog Bo sleeps in the hall", "Ada had to put Bo down"),),
        counter_examples=(("Ada has a dog called Bo", "The neighbour's cat died"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "job lost",
        "laid off, fired, sacked, made redundant, quit job, lost job, resigned, let go from|by,"
        " handed in|over notice|resignation, last day at work|job, left company|job",
        "work works job employed intern employer shift position",
        examples=(("Ada works at Equinor", "Ada was made redundant"),),
        counter_examples=(("Ada works at Equinor", "Ada resigned from the chess club"),),
        slots="employer job hours",
        is_sure=True,
    ),
    ImpliedEnd(
        "job found",
        "signed contract, got job|position, found job|work, accepted offer|job|position, hired,"
        " started new job, offered permanent contract|position, offered contract|job",
        "unemployed jobless job intern internship freelance temp",
        examples=(("Ada is looking for a job", "Ada signed a contract with Equinor"),),
        counter_examples=(("Ada is looking for a flat", "Ada signed a contract with Equinor"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "firm closed",
        "went bankrupt|bust|under, closed down, shut down, is|was bankrupt, ceased, folded",
        "work works job employed run own manage study intern train shop member",
        examples=(("Ada works for Statkraft", "Statkraft went bankrupt"),),
        counter_examples=(("Ada works for Equinor", "Statkraft went bankrupt"),),
        of_thing=True,
    ),
    ImpliedEnd(
        "promotion",
        "promoted, got promotion, got promoted, moved up to, made head|lead|manager|partner|director",
        "assistant junior trainee intern deputy associate second",
        examples=(("Ada is a junior designer", "Ada got promoted today"),),
        counter_examples=(("Ada is a nurse", "Ada was promoted to level 9 in the game"),),
    ),
    ImpliedEnd(
        "retirement",
        "retired, went into retirement, drew pension",
        "work works job employed",
        examples=(("Ada works at Equinor", "Ada retired in May"),),
        counter_examples=(("Ada lives in Oslo", "Ada retired in May"),),
        slots="employer job hours",
        is_sure=True,
    ),
    ImpliedEnd(
        "studies over",
        "graduated, got degree|diploma|phd|doctorate, finished degree|studies|phd|school|university,"
        " handed in thesis|dissertation, defended thesis|dissertation, submitted thesis|dissertation,"
        " passed finals, dropped out",
        "student study studies studying degree phd university college thesis dissertation",
        examples=(("Ada is doing a PhD", "Ada got her PhD"),),
        counter_examples=(("Ada is a nurse", "Ada graduated in May"),),
        slots="school",
        is_sure=True,
    ),
    ImpliedEnd(
        "studies begun",
        "started university|college, enrolled at university|college, began university|college",
        "pupil school gap",
        examples=(("Ada is in high school", "Ada started university in May"),),
    ),
    ImpliedEnd(
        "licence",
        "passed driving test, got licence|license, passed test",
        "learner permit",
        examples=(("Ada has a learner's permit", "Ada passed her driving test"),),
        counter_examples=(("Ada drives a Fiat", "Ada passed her driving test"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "learned",
        "passed test|exam, got licence|license|certificate|diploma",
        "learning lessons practising studying preparing training",
        examples=(("Ada is learning to drive", "Ada passed her driving test"),),
        counter_examples=(("Ada is learning Danish", "Ada passed her driving test"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "healed",
        "healed, recovered, cured, walk normally|again, walking normally|again, came off, taken off,"
        " got off, has laser surgery, has laser eyes, lasered, discharged",
        "crutches cast injury injured ill sick broken sprained wheelchair glasses lenses braces"
        " brace bandage sling hospital limp",
        examples=(("Ada is on crutches", "Ada's leg has healed"),),
        counter_examples=(("Ada is a nurse", "Ada's leg has healed"),),
    ),
    ImpliedEnd(
        "moved out",
        "moved out, moved away, moved in with, emigrated, left home, has own place|flat|apartment,"
        " got own place|flat|apartment, found own place",
        "live lives stay stays share shares roommate flatmate neighbour neighbor lodger commute",
        examples=(("Ada lives with her aunt", "Ada moved out in May"),),
        counter_examples=(("Ada shares her notes with Bo", "Ada moved the desk"),),
        slots="household",
    ),
    ImpliedEnd(
        "went away",
        "moved to|away|abroad|back, emigrated, left country|town|city",
        "",
        examples=(("Ada plays chess with Bo", "Bo moved to Canada"),),
        counter_examples=(("Ada plays chess with Bo", "Kim moved to Canada"),),
        of_thing=True,
    ),
    ImpliedEnd(
        "home bought",
        "bought house|flat|apartment|home|place, got house|flat|apartment|keys, closed on house|flat",
        "rent rents renting tenant landlord looking waiting saving househunting",
        examples=(("Ada rents a flat in Oslo", "Ada bought a house in May"),),
        counter_examples=(("Ada rents out a boat", "Ada bought a new rug"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "thing bought",
        "bought, got, found, received, picked up, treated myself",
        "saving save saves looking waiting waits searching need wishlist want wants",
        examples=(("Ada is saving for a kayak", "Ada bought the kayak"),),
        counter_examples=(("Ada is saving for a kayak", "Ada bought a paddle"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "thing gone",
        "sold, gave+away, gave+back, given+away, given+back, gave back|away, given back|away, donated, returned, rehomed, wrote off, written off,"
        " totalled, totaled, crashed, stolen, lost, broke down, threw out|away, died, traded in,"
        " passed on to",
        _owning,
        examples=(("Ada's car is a Fiat", "Ada's Fiat was written off"),),
        counter_examples=(("Ada has a Fiat", "Ada lost her keys"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "habit",
        "quit, stopped, gave up, given up, kicked, not since, clean since, sober since, had stop",
        "smoke smokes drink drinks eat eats bite bites gamble gambles vape volunteer volunteers play"
        " plays take takes practise practice do does attend attends go goes use uses run runs",
        examples=(("Ada smokes ten a day", "It is a month since Ada quit smoking"),),
        counter_examples=(("Ada smokes ten a day", "Ada quit chess"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "diet",
        "went|became|turned vegetarian|vegan, is vegetarian|vegan now, stopped eating meat",
        "meat steak beef pork chicken everything omnivore barbecue",
        examples=(("Ada eats meat every day", "Ada went vegetarian in spring"),),
        counter_examples=(("Ada likes tofu", "Ada went vegetarian"),),
        slots="diet",
    ),
    ImpliedEnd(
        "debt paid",
        "paid+off, paid+back, paid off, paid back, repaid, debt free, settled, cleared",
        "mortgage debt debts loan owe owes owing instalments",
        examples=(("Ada is in debt", "Ada paid back all her debts"),),
        counter_examples=(("Ada has a piano", "Ada paid back all her debts"),),
        is_sure=True,
    ),
    ImpliedEnd(
        "handed over",
        "took over, handed over, handed, replaced, successor, new director|captain|head|chair|lead,"
        " stepped down, stepped back, voted out",
        "captain director head chair president lead leader interim acting treasurer secretary"
        " coach conductor editor mayor captaincy",
        examples=(("Ada is the captain of the team", "Bo took over as captain of the team"),),
        counter_examples=(("Ada is a nurse", "Bo took over the shop"),),
        of_thing=True,
    ),
    ImpliedEnd(
        "fear lost",
        "got over, overcame, conquered, not afraid|scared",
        "afraid fear scared phobia",
        examples=(("Ada is afraid of dogs", "Ada got over her fear of dogs"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "came",
        "arrived, came through, was approved, got approved, was granted, was delivered",
        "waiting waits expecting ordered applied pending",
        examples=(("Ada is waiting for her visa", "Ada's visa arrived"),),
        counter_examples=(("Ada is waiting for her visa", "Ada's parcel arrived"),),
        of_thing=True,
        is_sure=True,
    ),
    ImpliedEnd(
        "cancelled",
        "cancelled, canceled, closed account, unsubscribed, ended, terminated, let lapse, expired",
        "subscription subscribe subscribes subscribed membership member account booking contract",
        examples=(("Ada has a subscription to Time", "Ada cancelled her subscription to Time"),),
        counter_examples=(("Ada has a subscription to Time", "Ada cancelled her trip"),),
        of_thing=True,
        is_sure=True,
    ),
)  # fmt: skip


LIFE = frozenset(
    (
        "breakup", "wedding", "engagement", "birth", "death", "job lost", "job found", "firm closed",
        "promotion", "retirement", "studies over", "licence", "moved out", "home bought", "debt paid",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    ends: frozenset[str]
    words: tuple[str, ...]
    slots: frozenset[str]
    of_thing: bool
    is_sure: bool


@cache
def _by_first() -> dict[str, list[tuple[tuple[str, ...], _Row]]]:
    """Phrases by their first root."""
    result: dict[str, list[tuple[tuple[str, ...], _Row]]] = {}
    for each in IMPLIED_ENDS:
        row = _Row(
            each.name, frozenset(map(root, each.ends.split())), tuple(each.ends.split()),
            frozenset(each.slots.split()), each.of_thing, each.is_sure,
        )  # fmt: skip
        for phrase in each.phrases.split(","):
            if "+" in phrase:
                roots = tuple(map(root, phrase.strip().split("+")))
                result.setdefault(roots[0], []).append((roots[1:], row))
                continue
            for chosen in product(*(part.split("|") for part in phrase.split())):
                roots = tuple(_roots(" ".join(chosen)))
                result.setdefault(roots[0], []).append((roots[1:], row))
    return result


def _roots(phrase: str) -> list[str]:
    return [word.root for word in words(phrase) if word.text not in ARTICLES]


def events(reading: Reading) -> tuple[_Row, ...]:
    """What a statement tells of that ends something; nothing of plans and denials."""
    # "had to put her down" is no plan, "is jobless" no denial.
    if reading.is_plan and "had to" not in reading.statement.lower():
        return ()
    if "past" in reading.change or reading.parse.denials and "end" not in reading.change:
        return ()
    rows = _events(reading.order)
    # Where its speaker goes ends nothing of what others do with him; his home is an attribute.
    return tuple(row for row in rows if row.ends) if reading.subject in _persons else rows


def is_life_event(statement: str) -> bool:
    """Whether it tells of what changes a life, and so is worth knowing however briefly it is told."""
    # Most statements have none of the words, and are not taken apart for it.
    if _life_words().isdisjoint(_letters.findall(statement.lower())):
        return False
    return any(row.name in LIFE for row in events(read(statement)))


@cache
def _life_words() -> frozenset[str]:
    phrases = " ".join(each.phrases for each in IMPLIED_ENDS if each.name in LIFE)
    return frozenset(_letters.findall(phrases)) - FUNCTION - BE - HAVE - _idle


@lru_cache(maxsize=4096)
def _events(order: tuple[str, ...]) -> tuple[_Row, ...]:
    known = _by_first()
    return tuple(
        dict.fromkeys(
            row
            for place, first in enumerate(order)
            for rest, row in known.get(first, ())
            if _follows(order, place, rest)
        )
    )


def _follows(order: tuple[str, ...], place: int, rest: tuple[str, ...]) -> bool:
    for each in rest:
        near = order[place + 1 : place + 1 + APART]
        if each not in near:
            return False
        place += 1 + near.index(each)
    return True


def implied(old: Reading, new: Reading) -> Relation | None:
    """ "Ada gave birth" ends "Ada is pregnant"."""
    rows = events(new)
    if not rows or "past" in old.change or old.is_past or old.is_negated:
        return None
    persons = _persons | set(old.subject.partition("/")[0].split("-"))
    verb = {word.root for word in old.words[old.verb_at : old.verb_at + 1]}
    told = old.stems | subject_words(old) | {old.head} | verb
    if (cut := _reason.search(old.statement)) and cut.start():
        # What it rests on has ended, which makes it doubtful, not untrue.
        main = read(old.statement[: cut.start()])
        told = main.stems | subject_words(main) | {main.head}
    for row in rows:
        ended = row.ends & told or {s.name for s in old.slots if s.name in row.slots}
        if not row.ends and new.subject and subject_words(new) <= old.names - persons:
            ended = old.stems
        if not ended and row.slots & _work and told & _professions:
            ended = told & _professions
        if not ended or not _is_of(old, new, row.of_thing):
            continue
        shared = _said(new) & _said(old) - persons
        if row.of_thing and not shared:
            continue
        names = [(reading.names - persons - subject_words(reading)) for reading in (old, new)]
        if not row.of_thing and "from" in new.order and not shared:
            continue  # "resigned from the chess club" tells nothing of a job
        apart = all(names) and not names[0] & (names[1] | subject_words(new))
        if apart and not row.slots & _partnership:
            continue
        is_sure = row.is_sure and (bool(shared) or old.subject == new.subject)
        return Relation("update" if is_sure else "unsure", f"implied:{row.name}")
    return None


def words_ended(reading: Reading) -> tuple[str, ...]:
    """Words by which what a statement may end can be looked up: what it names, then what is over."""
    rows = events(reading)
    if not rows:
        return ()
    said = [w for w in reading.words if not (w.is_function or w.is_number or w.root in _persons)]
    named = [word.text for word in said if word.root not in light()][:6]
    return tuple(dict.fromkeys((*named, *(word for row in rows for word in row.words))))[:24]


def _is_of(old: Reading, new: Reading, of_thing: bool) -> bool:
    """Both speak of one person, or of one thing."""
    persons = set(old.subject.partition("/")[0].split("-"))
    if meet(old, new):
        return True
    owner = set(new.subject.partition("/")[0].split("-")) if "/" in new.subject else persons
    if not owner & persons and not owner <= old.names:
        return False
    owned = set(new.subject.rpartition("/")[2].split("-")) if "/" in new.subject else set()
    if owned & _kin and not owned & (old.stems | subject_words(old)):
        return False
    persons -= {"other"}
    if persons & {*new.subject.partition("/")[0].split("-"), *new.order}:
        return True
    # "Jonas moved out" is about what names Jonas; "the cottage was sold" about what one has.
    about = subject_words(new)
    return bool(about & old.stems) and (of_thing or about <= old.stems)


def _said(reading: Reading) -> frozenset[str]:
    return (reading.stems | subject_words(reading)) - light() - reading.dates


_letters = re.compile(r"[a-z]+")
_idle = frozenset("got get getting own new said yes again last day".split())
_persons = frozenset(ME.values()) | {"other"}
_kin = frozenset(map(root, KIN))
_professions = frozenset(map(root, PROFESSIONS))
_work = frozenset({"employer", "job"})
_partnership = frozenset({"spouse", "relationship"})
