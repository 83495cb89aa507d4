"""Subject, verb and rest of a statement."""

from functools import cache

from memories.bounds import WHOLE
from memories.english.statements.auxiliaries import (
    QUIT,
    RENAMED,
    Parse,
    is_date,
    is_when,
    plain,
    take,
)
from memories.english.statements.find_attributes import tool_role
from memories.english.statements.word_lists import (
    ARTICLES,
    CHANGE_TO,
    FUNCTION,
    PLAN,
    SAME_IN_PAST,
    VERBS,
)
from memories.english.statements.wording import Word, root, words

STARTS = frozenset("every each on in since by at until till".split())
OFTEN = frozenset("daily nightly weekly monthly yearly".split())
PERIODS = OFTEN | frozenset("day days week weeks weekend weekends month months year years".split())
FRONTED = frozenset(
    "before after since during in on at by for with without until till despite as from".split()
)
ME = {"i": "user", "me": "user", "myself": "user", "we": "team", "us": "team"}
MY = {"my": "user", "mine": "user", "our": "team", "ours": "team"}


def parse(statement: str) -> Parse:
    """A statement, as far as a memory may be long."""
    found = Parse()
    pending: list[Word] = []
    for word in words(statement[:WHOLE]):
        if word.text in ME:
            pending.append(plain(ME[word.text]))
        elif word.text in MY:
            pending += [plain(MY[word.text]), plain("'s")]
        else:
            pending.append(word)
    if len(pending) > 2 and pending[2].text == "team" and pending[1].text == "'s":
        # "our team", "my team": whoever says so, it is the team.
        pending = pending[2:] if pending[0].text in ("user", "team") else pending
    pending = _going_to(_used_to(_contrasted(_with_subject(pending))))
    found.is_definite = bool(pending) and pending[0].text in ("the", "team")
    for position, word in enumerate(pending):
        take(found, word, pending[position + 1 : position + 4])
    _turn_around(found)
    found.words = _changes_to(found)
    # The verb is the first word after the subject.
    colon = next((i for i, word in enumerate(found.words[:4]) if word.text == ":"), 0)
    if colon and colon + 1 < len(found.words):
        found.verb = colon + 1  # "Team policy: never deploy on Fridays"
    else:
        places = (i for i in range(1, len(found.words)) if _is_verb(found, i))
        found.verb = next(places, min(1, len(found.words)))
    _settle_tense(found)
    return found


def _contrasted(found: list[Word]) -> list[Word]:
    """ "on Teams, not on Slack" is "on Teams instead of Slack"; nothing is denied of Teams."""
    for i in range(3, len(found) - 1):
        if found[i].text != "not" or found[i - 1].text not in (",", "and"):
            continue
        after = i + 1
        while after < len(found) - 1 and (
            found[after].is_function or found[after].text in ARTICLES
        ):
            after += 1
        denied = found[after]
        if denied.is_function or denied.text in VERBS or denied.text.endswith("ing"):
            continue
        return [*found[: i - 1], Word("insteadof", "insteadof"), *found[after:]]
    return found


def _used_to(found: list[Word]) -> list[Word]:
    """ "Ann used to live in Oslo"; not "is used to", nor "the tool used to build it"."""
    for i in range(1, min(6, len(found) - 2)):
        if found[i].text != "used" or found[i + 1].text != "to":
            continue
        before = {word.root for word in found[:i]}
        is_verb = found[i + 2].text in VERBS or found[i + 2].root in ("have", "do", "be")
        if is_verb and before.isdisjoint({"be", "get", "have"}):
            return [*found[:i], plain("usedto"), *found[i + 2 :]]
    return found


def _going_to(found: list[Word]) -> list[Word]:
    """ "Is going to move in May" is "will move in May"; without a day it stays a plan."""
    for i in range(2, min(8, len(found) - 2)):
        is_plan = found[i].text == "going" and found[i + 1].text == "to"
        if is_plan and found[i + 2].text in VERBS and found[i - 1].root == "be":
            is_dated = any(map(is_when, found[i + 3 :]))
            return [*found[: i - 1], plain("will"), *found[i + 2 :]] if is_dated else found
    return found


def _with_subject(found: list[Word]) -> list[Word]:
    """ "Prefers tea" is said of the user; "Plans cost 12 euros" is not."""
    if len(found) < 2:
        return found
    first, second = found[:2]
    is_noun = second.root in ("be", "have", "'s") or second.text in VERBS
    is_now = first.text in _third_persons() or first.text in ("is", "has", "does")
    is_over = first.text in QUIT or first.is_past and (second.is_function or second.is_name)
    return [plain(ME["i"]), *found] if is_over or (is_now and not is_noun) else found


def _turn_around(found: Parse) -> None:
    """ "Every Friday Ann swims" is "Ann swims every Friday"; "likes A better" is "prefers A"."""
    _move_front(found)
    all_words = found.words
    end = 0
    if all_words and all_words[0].text in STARTS | OFTEN:
        while end < len(all_words) and (_tells_when(all_words[end]) or all_words[end].is_function):
            end += 1
        if any(map(_tells_when, all_words[:end])) and end < len(all_words) - 1:
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


def _tells_when(word: Word) -> bool:
    return is_when(word) or word.text in PERIODS


def _move_front(found: Parse) -> None:
    """ "Before work, Ann runs" is "Ann runs before work"."""
    words = found.words
    if not words or words[0].text not in FRONTED:
        return
    comma = next((i for i, word in enumerate(words[:7]) if word.text == ","), 0)
    # A name after a plain word begins the clause: "since college Marcus".
    name = next(
        (
            i
            for i in range(2, min(5, len(words)))
            if words[i].is_name and not is_date(words[i])
            if not (words[i - 1].is_name or words[i - 1].is_function or is_date(words[i - 1]))
        ),
        0,
    )
    end, skipped = (comma, 1) if comma else (name, 0)
    if end and end + skipped + 1 < len(words):
        found.words = [*words[end + skipped :], *words[:end]]
        found.verbs = {i - end - skipped for i in found.verbs if i >= end + skipped}


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
        if between and between[0].text not in ("from", "back", "by", "up", "down", "over"):
            value = old[end + 1]
            is_measured = value.is_number or is_date(value) or bool(tool_role(value))
            if not is_measured or found.is_passive:
                continue
            # "Ann's landlord raised the rent to 900" is "Ann's rent @ 900"; "Bo moved the sync to
            # Friday" is "sync @ Friday".
            owner = next((i + 1 for i, each in enumerate(old[:start]) if each.root == "'s"), 0)
            thing = [each for each in between if each.text not in ("back", "up", "down")]
            found.change.add("to")
            found.is_past = False
            found.is_definite |= not owner
            found.verbs = {owner + len(thing)}
            return [*old[:owner], *thing, Word(word.text, RENAMED), *old[end + 1 :]]
        is_place = old[end + 1].is_name and not is_date(old[end + 1])
        is_straight = {each.text for each in between} <= {"back", "home"}
        if word.root == root("move") and is_straight and is_place:
            continue  # "Ann moved back to Oslo" tells where Ann lives
        found.change.add("to")
        found.replaced += [w.root for w in between if w.root not in FUNCTION]
        found.verbs.add(start)
        return [*old[:start], Word(word.text, RENAMED), *old[end + 1 :]]
    return old


@cache
def _third_persons() -> frozenset[str]:
    third = {verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s") for verb in VERBS}
    return frozenset(third | {verb[:-1] + "ies" for verb in VERBS if verb.endswith("y")})


def _is_verb(found: Parse, i: int) -> bool:
    word, previous = found.words[i], found.words[i - 1]
    if word.root in ("be", "have", RENAMED) or i in found.verbs:
        return True
    is_other = word.text == "others" and previous.text == "and"  # "User and others own a boat"
    if word.is_function or is_other or previous.root == "'s" or word.text[:1].isdigit():
        return False
    if word.is_past and not word.is_name:
        return True
    if word.text in _third_persons() and not word.is_name:
        return True
    agrees = previous.text.endswith("s") or i == 1 or previous.is_name
    if word.text in VERBS and agrees and not word.is_name:
        return not _next_is_verb(found, i)  # "Ann's Slack handle is @ann"
    starts_with_name = i == 1 and not (found.is_definite or found.words[0].is_function)
    return starts_with_name and word.text.endswith("s") and not _next_is_verb(found, i)


def _next_is_verb(found: Parse, i: int) -> bool:
    return i + 1 in found.verbs or (
        i + 1 < len(found.words) and found.words[i + 1].root in ("be", RENAMED)
    )


def second_clause(found: Parse) -> Parse | None:
    """ "Ann left Bergen and now lives in Oslo": what is said after "and", of Ann or of another."""
    for i in range(found.verb + 1, len(found.words) - 2):
        if found.words[i].text == "and" and _is_verb(found, i + 1):
            words = [*found.noun_phrase, *found.words[i + 1 :]]
            later = Parse(words=words, verb=found.verb, change=set(found.change))
            later.is_definite, later.passives = found.is_definite, found.passives
            _settle_tense(later)
            return later
    # "Karl retired and Zoe reports to Birgit": what is said of Zoe.
    for i in range(found.verb + 1, len(found.words) - 3):
        words = found.words[i + 1 :]
        if found.words[i].text == "and" and words[0].is_name and not is_date(words[0]):
            verbs = {place - i - 1 for place in found.verbs if place > i}
            later = Parse(words=words, verbs=verbs, change=set(found.change))
            later.verb = 1
            if _is_verb(later, 1):
                _settle_tense(later)
                return later
    return None


def _settle_tense(found: Parse) -> None:
    head = next((w for w in found.predicate if not w.is_function), None)
    if head is None:
        return
    rest = [w.text for w in found.predicate[found.predicate.index(head) + 1 :]]
    is_wish = head.root not in _of_things or "to" in rest[:2]
    found.is_plan |= head.root in _plan_roots and is_wish and not found.is_passive
    found.is_plan |= found.predicate[0].root == "be" and found.words[found.verb - 1].root in _wishes
    first = found.predicate[0]
    was_once = first.text in SAME_IN_PAST and any(
        w.text in ("last", "ago", "yesterday") for w in found.words
    )
    if (first.is_past or was_once) and not found.is_passive:
        found.is_past = True


# Wishes that take a thing as well: "wants short answers".
_of_things = frozenset(map(root, "want need wish apply offer".split()))


_wishes = frozenset(map(root, "dream wish hope intention ambition".split()))


_plan_roots = frozenset(map(root, PLAN))
