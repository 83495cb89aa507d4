"""Subject, verb and rest of a statement."""

from functools import cache

from memories.conflicts.grammar import FUNCTION, PLAN, SAME_IN_PAST, VERBS
from memories.conflicts.marks import take
from memories.conflicts.sentence import RENAMED, Parse, is_date, is_when, plain
from memories.conflicts.slots import CHANGE_TO
from memories.conflicts.wording import Word, root, words

ME = {"i": "user", "me": "user", "myself": "user", "we": "team", "us": "team"}
MY = {"my": "user", "mine": "user", "our": "team", "ours": "team"}


def parse(statement: str) -> Parse:
    found = Parse()
    pending = _first_person(words(statement))
    found.is_definite = bool(pending) and pending[0].text in ("the", "team")
    for position, word in enumerate(pending):
        take(found, word, pending[position + 1 : position + 4])
    _turn_around(found)
    found.words = _changes_to(found)
    found.verb = _boundary(found)
    _settle_tense(found)
    return found


def _first_person(found: list[Word]) -> list[Word]:
    out: list[Word] = []
    for word in found:
        if word.text in ME:
            out.append(plain(ME[word.text]))
        elif word.text in MY:
            out += [plain(MY[word.text]), plain("'s")]
        else:
            out.append(word)
    return out


def _turn_around(found: Parse) -> None:
    """ "Every Friday Ann swims" is "Ann swims every Friday"; "likes A better" is "prefers A"."""
    all_words = found.words
    end = 0
    if all_words and all_words[0].text in ("every", "each", "on", "in", "since", "by", "at"):
        while end < len(all_words) and (is_when(all_words[end]) or all_words[end].is_function):
            end += 1
        if any(map(is_when, all_words[:end])) and end < len(all_words) - 1:
            moved = [word for word in all_words[:end] if word.text != ","]
            found.words = [*all_words[end:], *moved]
            found.verbs = {place - end for place in found.verbs if place >= end}
    for place, word in enumerate(found.words):
        if word.text in ("better", "best", "most", "more") and place > 1:
            liked = [i for i, w in enumerate(found.words[:place]) if w.root == root("love")]
            if liked and (place + 1 == len(found.words) or found.words[place + 1].text == "over"):
                found.words[liked[0]] = plain("prefers")
                found.words.pop(place)
                return


@cache
def change_roots() -> frozenset[str]:
    return frozenset(map(root, CHANGE_TO))


def _changes_to(found: Parse) -> list[Word]:
    """ "rose from 3 to 5" becomes "@ 5"; the place keeps its number in `verbs`."""
    old = found.words
    for start, word in enumerate(old[1:], 1):
        if word.root not in change_roots():
            continue
        near = range(start + 1, min(start + 7, len(old) - 1))
        end = next((i for i in near if old[i].text in ("to", "until", "till")), 0)
        if not end:
            continue
        between = old[start + 1 : end]
        if between and between[0].text not in ("from", "back", "by", "up", "down"):
            continue
        if word.root == root("move") and not between and _is_place(old[end + 1]):
            continue  # "Ann moved to Oslo" tells where Ann lives
        found.change.add("to")
        found.replaced += [w.root for w in between if w.root not in FUNCTION]
        found.verbs.add(start)
        return [*old[:start], Word(word.text, RENAMED), *old[end + 1 :]]
    return old


def _is_place(word: Word) -> bool:
    return word.is_name and not is_date(word)


def _boundary(found: Parse) -> int:
    """Where the verb stands: the first word after the subject."""
    all_words = found.words
    colon = next((i for i, word in enumerate(all_words[:4]) if word.text == ":"), 0)
    if colon and colon + 1 < len(all_words):
        return colon + 1  # "Team policy: never deploy on Fridays"
    for i in range(1, len(all_words)):
        if _is_verb(found, i):
            return i
    return min(1, len(all_words))


@cache
def _third_persons() -> frozenset[str]:
    third = {verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s") for verb in VERBS}
    return frozenset(third | {verb[:-1] + "ies" for verb in VERBS if verb.endswith("y")})


def _is_verb(found: Parse, i: int) -> bool:
    word, previous = found.words[i], found.words[i - 1]
    if word.root in ("be", "have", RENAMED) or i in found.verbs:
        return True
    if word.is_function or previous.root == "'s" or word.text[:1].isdigit():
        return False
    if word.is_past and not word.is_name:
        return True
    if word.text in _third_persons() and not word.is_name:
        return True
    agrees = previous.text.endswith("s") or i == 1 or previous.is_name
    if word.text in VERBS and agrees and not word.is_name:
        return True
    starts_with_name = i == 1 and found.words[0].text in ("user", "team", "he", "she", "they", "it")
    return starts_with_name and word.text.endswith("s") and not _next_is_verb(found, i)


def _next_is_verb(found: Parse, i: int) -> bool:
    return i + 1 in found.verbs or (
        i + 1 < len(found.words) and found.words[i + 1].root in ("be", RENAMED)
    )


def second_clause(found: Parse) -> Parse | None:
    """ "Ann left Bergen and now lives in Oslo": what is said after "and", of Ann."""
    for i in range(found.verb + 1, len(found.words) - 2):
        if found.words[i].text == "and" and _is_verb(found, i + 1):
            words = [*found.noun_phrase, *found.words[i + 1 :]]
            later = Parse(words=words, verb=found.verb, change=set(found.change))
            _settle_tense(later)
            return later
    return None


def _settle_tense(found: Parse) -> None:
    head = next((w for w in found.predicate if not w.is_function), None)
    if head is None:
        return
    rest = [w.text for w in found.predicate[found.predicate.index(head) + 1 :]]
    is_wish = head.root not in _of_things() or "to" in rest[:2]
    found.is_plan |= head.root in _plan_roots() and is_wish and not found.is_passive
    found.is_plan |= (
        found.predicate[0].root == "be" and found.words[found.verb - 1].root in _wishes()
    )
    first = found.predicate[0]
    was_once = first.text in SAME_IN_PAST and any(
        w.text in ("last", "ago", "yesterday") for w in found.words
    )
    if (first.is_past or was_once) and not found.is_passive:
        found.is_past = True


@cache
def _of_things() -> frozenset[str]:
    """Wishes that take a thing as well: "wants short answers"."""
    return frozenset(map(root, "want need wish apply offer".split()))


@cache
def _wishes() -> frozenset[str]:
    return frozenset(map(root, "dream wish hope intention ambition".split()))


@cache
def _plan_roots() -> frozenset[str]:
    return frozenset(map(root, PLAN))
