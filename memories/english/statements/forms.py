"""Matches the forms of words that tell an attribute."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memories.english.statements.noun_phrases import single, split
from memories.english.statements.sentence import Parse, is_date, key
from memories.english.statements.slot_form import SlotForm
from memories.english.statements.slot_values import Slot, condition_of, text_of, value_of
from memories.english.statements.slot_words import ROLES
from memories.english.statements.slots import FORMS, NOUN_FORMS, OTHERS_NOUN_FORMS
from memories.english.statements.tools import tool_role
from memories.english.statements.wording import Word, root

SOCIETIES = frozenset("club group society association choir team band church gym union".split())
OLDEST = 120  # years
MONEY = frozenset("dollar euro pound percent".split())
_common = frozenset({"be", "'s", "have", "in", "of", "to", "at"})


def forms(parse: Parse) -> Iterator[Slot]:
    yield from _noun_forms(parse)
    form = parse.form
    by_trigger, rows = _by_trigger(), _compiled()
    told = {place for word in parse.words for place in by_trigger.get(word.root, ())}
    for row, regex in (rows[place] for place in sorted(told)):
        if parse.is_past and not row.is_change and not parse.is_passive:
            continue
        match = regex.search(form)
        if match:
            yield from _matched(parse, row, match)


def _noun_forms(parse: Parse) -> Iterator[Slot]:
    said = {word.root for word in parse.predicate}
    for form, triggers, regex in _compiled_noun_forms():
        if triggers.isdisjoint(said):
            continue
        if match := regex.search(parse.form):
            subject, head = split(_words_at(parse, match, "k"))
            value = value_of(_words_at(parse, match, "v"))
            owner = "" if form in OTHERS_NOUN_FORMS else key(_words_at(parse, match, "s"))
            if head in single and value and (subject or owner):
                parts = {*subject.split("-"), *owner.split("-")} - {""}
                yield Slot("-".join(sorted(parts)), head, "", text_of(value))


@cache
def _compiled_noun_forms() -> tuple[tuple[str, frozenset[str], re.Pattern[str]], ...]:
    return tuple((form, *compile_form(form)) for form in NOUN_FORMS)


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
    for subject in subjects:
        yield Slot(subject, row.slot, key(said), " ".join(word.root for word in value))


def _each(phrase: Sequence[Word]) -> list[str]:
    """ "Ann and Bo moved to Oslo" is said of each."""
    cuts = [i for i, word in enumerate(phrase) if word.text == "and"]
    if len(cuts) != 1:
        return [key(phrase)] if key(phrase) else []
    return [name for name in (key(phrase[: cuts[0]]), key(phrase[cuts[0] + 1 :])) if name]


def _words_at(parse: Parse, match: re.Match[str], name: str) -> list[Word]:
    start = match.string.count(" ", 0, match.start(name))
    return parse.words[start : start + match[name].count(" ")]


def _fits(row: SlotForm, value: Sequence[Word], told: Sequence[Word]) -> bool:
    match row.values:
        case "":
            return not is_date(value[0])
        case "#":
            return value[0].is_number
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


@cache
def _compiled() -> tuple[tuple[SlotForm, re.Pattern[str]], ...]:
    return tuple((row, compile_form(form)[1]) for row in FORMS for form in row.forms)


@cache
def _by_trigger() -> dict[str, list[int]]:
    """Places in `_compiled` by a word that must be there."""
    found: dict[str, list[int]] = {}
    for place, form in enumerate(form for row in FORMS for form in row.forms):
        for trigger in compile_form(form)[0]:
            found.setdefault(trigger, []).append(place)
    return found


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
