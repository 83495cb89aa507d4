"""Attributes told by forms of words, and by a noun phrase: "the budget of the kitchen is 5,000 euros"."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memories.english.statements.attribute_forms import (
    Slot,
    SlotForm,
    condition_of,
    text_of,
    value_of,
)
from memories.english.statements.attributes_of_people import OF_PEOPLE
from memories.english.statements.attributes_of_things import OF_THINGS
from memories.english.statements.auxiliaries import RENAMED, Parse, is_date, is_time, key
from memories.english.statements.tools import tool_role
from memories.english.statements.word_lists import (
    CLOCK_VERBS,
    MANY,
    PREPOSITIONS,
    ROLES,
    SINGLE,
    WHEN_VERBS,
)
from memories.english.statements.wording import RELATIVE_DATES, Word, root

_clock = frozenset(map(root, CLOCK_VERBS))
_when = frozenset(map(root, WHEN_VERBS)) | {RENAMED}
single = frozenset(map(root, SINGLE))
_many = frozenset(map(root, MANY))


def noun_phrase_slots(parse: Parse) -> Iterator[Slot]:
    phrase, predicate = parse.noun_phrase, parse.predicate
    if len(predicate) < 2:
        return
    verb = predicate[0].root
    subject, head = split(phrase)
    if not head:
        return
    if verb in _clock and (hours := [w.root for w in predicate if is_time(w)]):
        yield Slot(key(phrase), verb, "time", hours[0])
    days = [w.root for w in predicate if is_date(w) and not is_time(w)]
    is_named = parse.is_definite or "'s" in {w.text for w in phrase}
    is_telling = not parse.is_past and not predicate[0].is_function
    if verb not in _when and is_named and is_telling and 0 < len(days) < 3:
        # "The play opens in May" as "the opening of the play is in May".
        yield Slot(key(phrase), verb, "day", " ".join(days))
    if verb in _when:
        if days and not set(days) <= RELATIVE_DATES:
            yield Slot(subject, head, "day", " ".join(days))
        if times := [w.root for w in predicate if is_time(w)]:
            yield Slot(subject, head, "time", " ".join(times))
    if verb not in ("be", RENAMED) or (parse.is_past and verb == "be"):
        return
    yield from _measures(parse, subject, head)


def split(phrase: Sequence[Word]) -> tuple[str, str]:
    """(all but the head, head): ("kitchen", "budget") of "budget for the kitchen"."""
    if len(phrase) > 2 and phrase[0].text == "team" and phrase[1].root == "'s":
        phrase = phrase[2:]
    after = [i for i, word in enumerate(phrase) if word.root == "'s"]
    segment = list(phrase[after[-1] + 1 :] if after else phrase)
    cut = next((i for i, w in enumerate(segment) if i and w.text in PREPOSITIONS), len(segment))
    heads = [word for word in segment[:cut] if not word.is_function]
    if not heads:
        return "", ""
    head = heads[-1]
    if head.root in ("date", "day", "time") and len(heads) > 1:
        phrase, head = [word for word in phrase if word is not head], heads[-2]
    return key([word for word in phrase if word is not head]), head.root


def _measures(parse: Parse, subject: str, head: str) -> Iterator[Slot]:
    said = value_of(parse.predicate[1:])
    if not said or is_date(said[0]):
        return
    value = " ".join(word.root for word in said)
    tools = [word for word in said if tool_role(word)]
    if tools and any(word.text in ("'s", "of", "for") for word in parse.noun_phrase):
        yield Slot(owner(parse) or subject, "tool", tool_role(tools[0]), tools[0].root)
    if said[0].is_number and len(said) < 4:
        condition = key(condition_of(parse.predicate[1:]))
        yield Slot(subject, head, f"number {condition}".rstrip(), value)
    elif head in single and subject:
        yield Slot(subject, head, "", value)
    elif (
        (head not in _many or "best" in subject)
        and (subject or parse.is_definite)
        and any(word.is_name or word.text[:1].isdigit() for word in said)
        or parse.predicate[0].root == RENAMED
        and len(parse.noun_phrase) > 1
    ):
        yield Slot(subject, head, "is", value)


def owner(parse: Parse) -> str:
    phrase = parse.noun_phrase
    cut = next((i for i, word in enumerate(phrase) if word.root == "'s"), 0)
    return key(phrase[:cut])


FORMS = (*OF_PEOPLE, *OF_THINGS)

# "switched her bank to DNB", "got a new bank, DNB": the noun is the attribute.
NOUN_FORMS = (
    "{s} change|switch|update|move {k} to {v}",
    "{s} replace {k} with {v}",
    "{s} replace by {v} as {k}",
    "{v} replace {s} as {k}",
    "{v} become as? {k}",
    "{s} get|buy|have|choose new {k} , {v}",
    "{s} get|buy|have|choose new {k} call|name {v}",
)
# Of whom the owner is not the subject of the form
OTHERS_NOUN_FORMS = frozenset(NOUN_FORMS[2:5])


SOCIETIES = frozenset("club group society association choir team band church gym union".split())
OLDEST = 120  # years
MONEY = frozenset("dollar euro pound percent".split())
_common = frozenset({"be", "'s", "have", "in", "of", "to", "at"})


def compile_form(form: str) -> tuple[frozenset[str], re.Pattern[str]]:
    """(words of which one must be there, pattern over `Parse.form`)."""
    triggers: frozenset[str] = frozenset()
    pattern = "^"
    for part in form.split():
        if part in ("{s}", "{v}", "{k}") and form.endswith(part):
            pattern += rf"(?P<{part[1]}>(?:[^ ]+ )+)"
        elif part in ("{s}", "{v}", "{k}"):
            pattern += rf"(?P<{part[1]}>(?:[^ ]+ ){{1,{3 if part == '{k}' else 8}}}?)"
        elif part == "{x}":
            pattern += r"(?:[^ ]+ ){0,3}?"
        else:
            words = [root(word) for word in part.rstrip("?").split("|")]
            pattern += f"(?:{'|'.join(re.escape(word) for word in words)}) "
            if part == "'s":
                pattern += "(?:new |current )?"
            if part.endswith("?"):
                last = f"(?:{'|'.join(re.escape(word) for word in words)}) "
                pattern = f"{pattern.removesuffix(last)}(?:{last})?"
            elif not triggers or triggers <= _common:
                triggers = frozenset(words)
    return triggers, re.compile(pattern)


def forms(parse: Parse) -> Iterator[Slot]:
    yield from _noun_forms(parse)
    form = parse.form
    by_trigger, rows = _by_trigger(), _compiled
    told = {place for word in parse.words for place in by_trigger.get(word.root, ())}
    for row, regex in (rows[place] for place in sorted(told)):
        if parse.is_past and not row.is_change:
            continue
        match = regex.search(form)
        if match:
            yield from _matched(parse, row, match)


def _noun_forms(parse: Parse) -> Iterator[Slot]:
    said = {word.root for word in parse.predicate}
    for form, triggers, regex in _compiled_noun_forms:
        if triggers.isdisjoint(said):
            continue
        if match := regex.search(parse.form):
            subject, head = split(_words_at(parse, match, "k"))
            value = value_of(_words_at(parse, match, "v"))
            owner = "" if form in OTHERS_NOUN_FORMS else key(_words_at(parse, match, "s"))
            if head in single and value and (subject or owner):
                parts = {*subject.split("-"), *owner.split("-")} - {""}
                yield Slot("-".join(sorted(parts)), head, "", text_of(value))


_compiled_noun_forms: tuple[tuple[str, frozenset[str], re.Pattern[str]], ...] = tuple(
    (form, *compile_form(form)) for form in NOUN_FORMS
)


def _matched(parse: Parse, row: SlotForm, match: re.Match[str]) -> Iterator[Slot]:
    groups = {name: _words_at(parse, match, name) for name in match.re.groupindex}
    value = value_of(groups["v"])
    if match.end("s") == len(match.string) and not row.of_known:
        groups["s"] = value_of(groups["s"])
    said = groups.get("k", [])
    if not value or not _fits(row, value, groups["v"]):
        return
    if row.of_known and groups["s"][0].root not in parse.known:
        return
    if row.slot == "role" and not any(word.text in ROLES for word in said):
        return
    is_joined = row.is_joined or row.slot == "name" and bool(said)
    subjects = [key([*groups["s"], *said])] if is_joined else _each(groups["s"])
    # A price holds for adults, or in winter: another one is no change.
    said = [] if is_joined else said or (condition_of(groups["v"]) if row.slot == "price" else [])
    text = " ".join(word.root for word in value)
    text = text[:-2] if row.values == "nth" else text
    for subject in subjects:
        yield Slot(subject, row.slot, key(said), text)


def _each(phrase: Sequence[Word]) -> list[str]:
    """ "Ann and Bo moved to Oslo" is said of each."""
    cuts = [i for i, word in enumerate(phrase) if word.text == "and"]
    if len(cuts) != 1:
        return [key(phrase)] if key(phrase) else []
    return [name for name in (key(phrase[: cuts[0]]), key(phrase[cuts[0] + 1 :])) if name]


def _words_at(parse: Parse, match: re.Match[str], name: str) -> list[Word]:
    start = match.string.count(" ", 0, match.start(name))
    return parse.words[start : start + match[name].count(" ")]


WORKING = frozenset("work works".split())


def _fits(row: SlotForm, value: Sequence[Word], told: Sequence[Word]) -> bool:
    match row.values:
        case "" | "no work":
            is_own = "'s" not in {w.text for w in told} and value[0].text not in WORKING
            return not is_date(value[0]) and (not row.values or is_own)
        case "#":
            return value[0].is_number
        case "nth":
            return value[0].root[:1].isdigit() and value[0].root[-2:] in ("st", "nd", "rd", "th")
        case "no #":
            return not any(word.is_number or is_date(word) for word in value)
        case "$":
            return value[0].is_number and any(w.root in MONEY for w in value)
        case "#1":
            return len(told) == 1 and value[0].root.isdigit() and int(value[0].root) <= OLDEST
        case "@":
            return any(map(is_date, value))
        case "*":
            return not is_date(value[0]) and any(w.is_name or tool_role(w) for w in value)
        case "**":
            return all(w.is_name for w in value) and value[-1].text not in SOCIETIES
    return any(word.root in _roots_of(row.values) for word in value)


@cache
def _roots_of(text: str) -> frozenset[str]:
    return frozenset(map(root, text.split()))


_compiled: tuple[tuple[SlotForm, re.Pattern[str]], ...] = tuple(
    (row, compile_form(form)[1]) for row in FORMS for form in row.forms
)


@cache
def _by_trigger() -> dict[str, list[int]]:
    """Places in `_compiled` by a word that must be there."""
    found: dict[str, list[int]] = {}
    for place, form in enumerate(form for row in FORMS for form in row.forms):
        for trigger in compile_form(form)[0]:
            found.setdefault(trigger, []).append(place)
    return found
