"""The rules by which statements replace one another, if they have a name by which they can be read,
tried and switched off. Data only."""

from collections import defaultdict
from dataclasses import dataclass

from memories.language.english.plain_words import ATTRIBUTES, ENDED, SLOT
from memories.language.english.statements.attributes import OF_PEOPLE, OF_THINGS
from memories.language.english.statements.word_lists import ENDINGS

# Rules for attributes that no row of words tells.
_told_by_code = {
    "color": "The gate is red",
    "count": "Ada has three cats",
    "diet": "Ada is vegan",
    "email": "Ada's email is ada@example.org",
    "preferred": "Ada prefers tea to coffee",
    "relationship": "Ada is married",
    "status": "The shop is closed",
    "timezon": "Ada's timezone is CET",
    "tool": "Ada uses Vim",
    "wish": "Ada asks the assistant to always answer in French",
}


# Verbs by rule: a decision is named after the root of the verb that was said, not after its rule.
VERBS_OF = {f"{ENDED}{row.verbs.split()[0]}": tuple(row.verbs.split()) for row in ENDINGS}


@dataclass(frozen=True, slots=True)
class ShippedRule:
    """A rule that ships. `name` is that of its decisions, or how it begins: `slot:residence`.
    `says`: what it rests on, in words. Examples are (statement, "") for an attribute, (before,
    after) for an end."""

    name: str
    says: str
    examples: tuple[tuple[str, str], ...]
    counter_examples: tuple[str, ...] = ()


def _attributes() -> tuple[ShippedRule, ...]:
    examples: dict[str, list[str]] = defaultdict(list)
    others: dict[str, list[str]] = defaultdict(list)
    for form in (*OF_PEOPLE, *OF_THINGS):
        examples[form.slot] += [statement for statement, _ in form.examples]
        others[form.slot] += form.counter_examples
    for name, statement in _told_by_code.items():
        examples[name].append(statement)
    return tuple(
        ShippedRule(f"{SLOT}{name}", "", tuple((each, "") for each in examples[name]), tuple(others[name]))
        for name in sorted(examples, key=lambda each: ATTRIBUTES.get(each, each))
    )


ONE_AT_A_TIME = _attributes()
ENDS = tuple(
    ShippedRule(
        f"{ENDED}{row.verbs.split()[0]}",
        ", ".join(row.verbs.split()),
        row.examples,
        tuple(f"{before} → {after}" for before, after in row.counter_examples),
    )
    for row in ENDINGS
)
NAMES = tuple(sorted(rule.name for rule in (*_attributes(), *ENDS)))
