"""Whether a statement is about what somebody names: "my salary" and "I earn 91,000 a year". Pure."""

import re
from collections.abc import Collection
from functools import cache

from memories.english import lexical
from memories.english.statements.word_lists import CLASSES, LIGHT

# Names of things that people tell in other words. The first word stands for its line.
_named = """
salary salaries earn earns earned earning income wage wages paycheck pay paid
job jobs work works worked working employer employed profession occupation career
quit quits quitting resign resigns resigned resigning resignation
fired fire sacked dismissed dismissal layoff firing
address addresses street avenue road lane
illness ill sick sickness disease disorder diagnosis diagnosed diagnose condition hiv cancer depression depressed anxiety diabetes epilepsy adhd bipolar autism asthma
medication medications medicine medicines pills pill drug drugs antidepressant antidepressants prescription
therapy therapist therapists counselling psychologist psychiatrist
health illness hiv cancer depression anxiety diabetes disorder disease diagnosed diagnosis medication antidepressants
religion religious faith church mosque synagogue muslim christian buddhist buddhism jewish judaism catholic islam hindu atheist converted pray
politics political vote voted votes voting party election
death die dies died dead dying funeral passed
divorce divorced divorcing separation separated split
breakup broke dumped split
pregnancy pregnant expecting
wedding married marry marries marriage marrying engaged
birthday birthdate born birth
age aged
weight weigh weighs weighed kilos kilo kg pounds lbs overweight
height tall
debt debts owe owes owed loan loans
money savings debt loan bank euros dollars
loss losses lost lose losing
phone telephone mobile number cell
email mail e-mail
password passcode pin
rent rental
affair affairs cheated cheating cheat
exam exams test tests
drink drinks drinking drank drunk alcohol alcoholic
smoke smokes smoked smoking cigarettes
relationship dating boyfriend girlfriend partner
holiday holidays vacation trip trips travel
accident accidents crash crashed
prison jail imprisoned convicted
adopt adopting adoption adopted
move moving moved relocation relocating
vegan vegetarian
mortgage mortgages
boxing boxer box boxed
bullying bullied bully
suspended suspension
"""
# Words that a request has, and no thing it is about.
_said_with = frozenset(
    """
    thing things stuff part bit info information detail details fact facts note notes story comment remark message
    name named called news topic subject matter issue situation business mention told said say tell talk about regarding
    whole entire old new recent current former own really actually just ever never still also anymore any more again even all
    user's user year years ago today yesterday last week month day time one two back whole lot much many people everything anything
    know knew think thought want wanted plan planning planned going go happened happen
    """.split()
)
_possessive = re.compile(r"['’]s\b")
_compound = re.compile(r"(?<=\w)[-_/](?=\w)")


@cache
def _canon() -> dict[str, frozenset[str]]:
    """By stem, the names of the lines that it stands in."""
    lines: dict[str, set[str]] = {}
    for words in CLASSES:
        for word in words:
            for stem in lexical.stems(word):
                lines.setdefault(stem, set()).add(words[0])
    for line in _named.strip().splitlines():
        words = tuple(line.split())
        for word in words:
            for stem in lexical.stems(word):
                lines.setdefault(stem, set()).add(f"={words[0]}")
    return {stem: frozenset(names) for stem, names in lines.items()}


@cache
def _light() -> frozenset[str]:
    return frozenset(stem for word in (*LIGHT, *_said_with) for stem in lexical.stems(word))


def words_of(text: str) -> list[str]:
    """The stems of a text, with the parts of its compounds."""
    return lexical.stems(_possessive.sub("", _compound.sub(" ", text)))


def meaningful(topic: str) -> list[str]:
    """The stems that say what a topic is; all of them where it has no others."""
    stems = list(dict.fromkeys(words_of(topic)))
    light = _light()
    return [stem for stem in stems if stem not in light] or stems


def coverage(topic: Collection[str], said: Collection[str]) -> float:
    """The share of a topic's stems that a statement has, in these words or in others."""
    if not topic:
        return 0.0
    return sum(_has(stem, said) for stem in topic) / len(topic)


def _has(stem: str, said: Collection[str]) -> bool:
    if stem in said:
        return True
    canon = _canon()
    names = canon.get(stem, frozenset())
    return any(
        (names and names & canon.get(other, frozenset())) or _same_root(stem, other)
        for other in said
    )


def _same_root(one: str, other: str) -> bool:
    """ "allergi" and "allerg", "adopt" and "adoption"; not "car" and "card"."""
    short, long = sorted((one, other), key=len)
    return len(short) >= 5 and long.startswith(short[: max(5, len(short) - 1)])
