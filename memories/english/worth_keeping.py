"""Whether what a pattern finds in a clause is worth keeping, and if not, why not.

The rules are those of `memories.evaluation.worth_stories`. A clause comes here in the first person;
what it does not name cannot be resolved any more. Patterns that fit almost anything must say more
than narrow ones, and to a machine most wishes and plans are about the piece of work at hand.
"""

from dataclasses import dataclass

from memories.english import read_clause
from memories.english import worth_forms as forms
from memories.english.referents import open_referent
from memories.english.shorten_clause import OWN

REASONS = {
    "referent": "it points at what stands elsewhere",
    "unfinished": "no finished clause",
    "addressed": "it is about whom it is said to",
    "task": "about the piece of work at hand",
    "moment": "a mood, a wish or a plan of the moment",
    "remark": "an opinion or a truism, not a fact about anybody",
    "others": "words of others",
    "vague": "it names nothing that could be known",
}

# They fit almost anything: "X says ..." and whatever tells of the speaker somewhere.
LOOSE = frozenset(
    """
    statement our-world of-mine joined-past it-is advises doing-is does-me-good with-people first-person
    must-stay
    """.split()
)
BY_THE_WAY = frozenset("joined-past with-people of-mine".split())
WISHES = frozenset(
    """
    wants needs will going-to considering thinks goal plans looking-forward is-doing dated-plan
    wants-from-assistant my-work
    """.split()
)
# To a machine they are of the work at hand, but for what has a day or is of one's own life.
AT_HAND = frozenset("will going-to needs".split())
# Where the work at hand changes, nothing has changed for its speaker.
STILL_AT_HAND = frozenset("wants needs will first-person thinks state-of-thing people".split())
OF_ANY_WORK = AT_HAND | frozenset("wants looking-forward thinks dated-plan my-work".split())
FEELINGS = frozenset("feels values".split())
# Of a message that leaves nothing else one may be kept for these reasons all the same.
WEAK = frozenset("moment remark vague".split())
OUTWEIGHED = frozenset("moment remark vague task".split())  # by a change that is told
IDLE = frozenset("it-is advises statement our-world of-mine doing-is".split())
# What somebody does and has done, told among other things to a machine: mostly the work that it
# helps him with.
AT_WORK = frozenset(
    "has-done is-doing started-using did dislikes of-mine wants-from-assistant passive".split()
)
LEAST = 3
# What happened is news whatever words of cheer it is told with, where it says this much.
TOLD_EVENTS, MUCH = frozenset("did dated has-done got".split()), 5
EVENTS = frozenset("got dated passive started-using people kin".split())
# What it says is clear enough not to be kept as a text either.
UNDERSTOOD = frozenset("referent addressed task moment remark".split())
TEAM_RULES = frozenset("team-should team-decided-that team-system".split())
TEAM_DOES = frozenset("team-does named-team in-our-team team-label".split())
OF_WORK = frozenset(
    "missing-check should-add-check review-demand asks-about-null warns-of-null".split()
)  # said of code in reviews
STANDING = frozenset(("instruction", "policy"))


@dataclass(frozen=True, slots=True)
class Telling:
    """A clause that a pattern fits: `words` in the first person, `rule` and `category` of the pattern.

    `is_restored`: its "I" was put there by us. `to_machine`: it is said to an assistant, or by nobody
    known. `is_named`: "you" is somebody whose name is known. `is_beside`: it is not what its message is
    about, and has to say more. `is_alone`: it is all that its message says. `is_unknown`: nobody knows the name of who says it.
    `is_purpose`: it stands behind "so" or "so that".
    """

    words: str = ""
    rule: str = ""
    category: str = ""
    confidence: float = 0.0
    is_restored: bool = False
    is_answer: bool = False
    is_item: bool = False
    to_machine: bool = False
    is_named: bool = False
    is_beside: bool = False
    is_alone: bool = False
    is_unknown: bool = False
    is_purpose: bool = False


def doubt(telling: Telling) -> str:
    """Why a clause is not worth keeping, a key of REASONS; empty where it is."""
    if telling.rule in OF_WORK:
        is_asked = telling.to_machine and forms.ONE_NEED.match(telling.words)
        return "task" if is_asked or forms.PERHAPS.match(telling.words) else ""
    if _is_unfinished(telling):
        return "unfinished"
    is_told_to_keep = telling.category in STANDING or telling.rule == "remember"
    if is_told_to_keep and telling.rule not in TEAM_RULES and not telling.is_named:
        # How somebody wants to be answered is said of "this" and to "you".
        is_wish = telling.rule == "wants-from-assistant"
        is_once = is_wish and (
            forms.ONCE.search(telling.words)
            or not forms.MANNER.search(telling.words[len("I want") :])
        )
        if telling.rule in TEAM_DOES and open_referent(telling.words):
            return "referent"
        is_here = forms.AT_ONCE.search(telling.words) or forms.BELOW.search(telling.words)
        return "task" if is_once or is_here else ""
    is_open = open_referent(telling.words) or forms.NO_OBJECT.search(telling.words)
    if not telling.is_answer and is_open:
        return "referent"
    if forms.SINCE_TALK.search(telling.words) or forms.HANDED.search(telling.words):
        return "addressed"
    if forms.YOU.search(telling.words) and (
        not telling.is_named or forms.YOU_DOES.search(telling.words)
    ):
        return "addressed"
    amount = strength(telling.words)
    is_dated = (
        not telling.to_machine and telling.rule in EVENTS and forms.NAMED_TIME.search(telling.words)
    )
    if telling.is_beside and amount + bool(is_dated) < BESIDE:
        return "vague"
    reason = _of_no_use(telling)
    # Among people, what somebody says of himself and not for the moment alone.
    is_his = not telling.to_machine and not telling.is_beside and OWN.match(telling.words)
    if is_his and reason in ("moment", "vague") and amount > LEAST:
        return (
            reason
            if forms.PASSING.search(telling.words) or forms.CHEER.search(telling.words)
            else ""
        )
    is_task = (
        telling.to_machine
        and not telling.is_alone
        and not telling.is_item
        and (telling.rule in AT_WORK or forms.ATTEMPT.match(telling.words))
    )
    lasts = forms.LASTING.search(telling.words) or (
        forms.FIGURE.search(telling.words) and forms.NAMED_TIME.search(telling.words)
    )
    return reason or ("task" if is_task and not lasts else "")


def _is_unfinished(telling: Telling) -> bool:
    words = telling.words
    if forms.EACH_OTHER.match(words) or (telling.is_restored and forms.NO_DEED.match(words)):
        return True
    if telling.is_purpose and forms.PURPOSE.match(words):
        return True
    if telling.rule == "goal" and not forms.FINITE.search(words):
        return True
    if forms.ASKED_BEHIND.search(words):
        return True
    opening = forms.OPENING.match(words)
    rest = opening["rest"] if opening else words
    if len(rest.split()) < 3 and (
        opening or not read_clause.is_courtesy(words) and telling.confidence < 0.8
    ):
        return True
    if (
        len(forms.QUOTES.findall(words)) % 2
        or forms.GARBLED.search(words)
        or forms.NO_END.search(words)
        or (forms.STRESSED.search(words) and telling.category not in STANDING)
    ):
        return True
    if telling.is_restored and (":" in words or forms.OF_A_THING.match(words)):
        return True
    if telling.rule in LOOSE and forms.FRAGMENT.match(words) and not forms.FINITE.search(words):
        return True
    if telling.is_restored and (forms.PARTICIPLE.match(words) or len(words.split()) < 4):
        return True
    return any(form.match(words) for form in (forms.ASIDE, forms.SUBORDINATE, forms.BARE))


def _of_no_use(telling: Telling) -> str:
    words, rule = telling.words, telling.rule
    if forms.MOMENT.search(words) or forms.NEED.match(words):
        return "moment"
    if rule in TEAM_RULES:
        is_task = any(
            form.search(words) for form in (forms.TEXTBOOK, forms.TO_PRODUCE, forms.ONE_NEED)
        )
        return "task" if telling.to_machine and is_task else ""
    if reason := _of_the_talk(telling):
        return reason
    if forms.HOUSEKEEPING.search(words) or forms.SAYING.search(words):
        return "remark"
    if forms.WE_ALL.match(words) and not (read_clause.names(words) or forms.NUMBER.search(words)):
        return "remark"
    if rule in LOOSE:
        return _loose(telling, strength(words))
    if forms.VAGUE_END.search(words):
        return "vague"
    if rule == "matters":
        return "" if len(read_clause.telling(words)) >= 2 else "vague"
    return _of_little_use(telling, strength(words))


def _of_the_talk(telling: Telling) -> str:
    """As `_of_no_use`, of what it says of the work that a machine helps with, and of praise."""
    words = telling.words
    is_at_work = forms.AT_WORK_NOW.search(words) or forms.USER_STORY.match(words)
    told = words.partition(" ")[2]  # without "my": whose it is does not make the work a life
    is_of_life = forms.OF_A_LIFE.search(words) or forms.LASTING.search(told)
    if telling.to_machine and is_at_work and not is_of_life:
        return "task"
    if forms.PRAISED.match(words) or (telling.to_machine and forms.OF_ANSWERS.match(words)):
        return "remark"
    return "vague" if says_nothing(words) else ""


def _of_little_use(telling: Telling, amount: int) -> str:
    """As `_of_no_use`, of what a narrow pattern fits, by how much it says."""
    words, rule, is_dated = (
        telling.words,
        telling.rule,
        bool(forms.NAMED_TIME.search(telling.words)),
    )
    if rule in FEELINGS or (
        forms.FEELING.match(words) and telling.category not in ("relationship", "possession")
    ):
        least = 7 if telling.to_machine else 5
        return "" if amount >= least and not forms.CHEER.search(words) else "moment"
    is_told = rule in TOLD_EVENTS and not forms.DEFIANT.search(words)
    is_event = not telling.to_machine and is_told and amount >= MUCH
    if not is_event and (forms.CHEER.search(words) or forms.MOOD.search(words)):
        return "remark"
    is_judged = amount < 5 or forms.JUDGEMENT.search(words)
    is_of_others = telling.to_machine and not forms.LASTING.search(words)
    if rule == "thinks" and (is_judged or is_of_others):
        return "remark"
    # Who somebody is or what he has is no work at hand, whatever words he says it with.
    is_plain = telling.confidence >= 0.85 and rule not in WISHES | EVENTS
    is_of_task = telling.to_machine and not is_plain and forms.OF_TASK.search(words)
    if is_of_task and not (forms.LASTING.search(words) and amount >= 4):
        return "task"
    if rule in WISHES:
        return _wish(telling, amount, is_dated=is_dated)
    if telling.to_machine and rule in ("my-something", "my-thing"):
        is_his = forms.LASTING.search(words) or forms.FIGURE.search(words)
        if forms.CAME_TO.search(words):
            return ""
        if amount < 4 or (rule == "my-something" and not is_his):
            return "vague"
    if telling.confidence >= 0.85 and rule not in EVENTS:
        return ""
    least = 1 if telling.is_alone else 4 if telling.to_machine else 2
    return "" if amount >= least or (is_dated and amount >= 2) else "vague"


def _wish(telling: Telling, amount: int, *, is_dated: bool) -> str:
    words, rule = telling.words, telling.rule
    if not telling.to_machine:
        is_supposed = forms.SUPPOSITION.search(words) and amount < 5
        least = 3 if rule in ("will", "going-to", "needs") else 2
        return "" if amount >= least and not is_supposed else "moment"
    # A goal has a day, or something of one's own in it.
    is_own = is_dated or forms.LASTING.search(words)
    if rule in OF_ANY_WORK and not is_own:
        return "task"
    if forms.WORK_AT_HAND.match(words) and not is_own:
        return "task"
    if rule in AT_HAND:
        return "" if is_own and amount >= 5 else "task"
    least = 3 if is_dated or (telling.is_alone and forms.LASTING.search(words)) else 4
    return "" if amount >= least else "task"


BESIDE = 4  # the least strength of what is said beside the news of a message


def is_idle(words: str) -> bool:
    """Whether it cheers somebody on, gives advice, or shows a picture."""
    return bool(
        forms.ADVICE.search(words)
        or forms.SAYING.search(words)
        or forms.WE_ALL.match(words)
        or forms.DEFIANT.search(words)
    )


def says_nothing(words: str) -> bool:
    """Whether a clause ends with what it does not name, and says nothing else."""
    told = forms.NAMED_TIME.sub("", words).rstrip(" ,")
    unnamed = forms.NAMELESS.search(told)
    if unnamed is None or forms.TITLE.search(words) or read_clause.names(words):
        return False
    return len(read_clause.telling(told[: unnamed.start()])) < LEAST


def strength(words: str) -> int:
    """How much of a clause could be known of somebody: its telling words count one, names, numbers
    and what lasts two more."""
    if says_nothing(words) or forms.PRAISED.match(words):
        return 0
    named = read_clause.names(words)
    return (
        min(4, len(read_clause.telling(words)))
        + 2 * min(2, len(named))
        + 2 * bool(forms.NUMBER.search(words) or forms.TITLE.search(words))
        + 2 * bool(forms.LASTING.search(words))
    )


def _loose(telling: Telling, amount: int) -> str:
    words, rule = telling.words, telling.rule
    deed = None if telling.to_machine else forms.OWN_DEED.match(words)
    if deed and len(read_clause.telling(deed["deed"])) > 2:
        return ""  # whatever it was like, it was done
    if rule == "does-me-good":
        return "" if forms.HELPS.match(words) and not telling.to_machine else "remark"
    if rule in ("it-is", "advises"):
        return "remark"
    is_own = OWN.match(words) or forms.OWN_BEHIND.search(words)
    if rule in BY_THE_WAY and telling.to_machine and not is_own:
        return "vague"  # the speaker comes in, and nothing is told of him
    if telling.is_unknown and rule in ("statement", "our-world"):
        return "others"  # nobody says it of himself, and nobody knows who says it
    if rule == "doing-is":
        return "" if forms.HOBBY.search(words) and not forms.JUDGEMENT.search(words) else "remark"
    if forms.CHEER.search(words) or forms.JUDGEMENT.search(words) or forms.FEELING.match(words):
        return "remark"
    if telling.to_machine and forms.OF_TASK.search(words):
        return "task"
    if rule in ("first-person", "of-mine") and amount > 1 and forms.FOR_OWN_REASON.match(words):
        return ""
    has_detail = bool(
        forms.NUMBER.search(words) or read_clause.names(words) or forms.LASTING.search(words)
    )
    return "" if amount >= 5 and has_detail else "vague"
