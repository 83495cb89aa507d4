"""Wording of a case for people: the question that it asks, and short names of its statements."""

import re
from collections.abc import Sequence

from memories.language.english.statements import Reading, read
from memories.language.english.statements.asides import aside
from memories.language.english.statements.wording import root

LONGEST = 60  # characters of a statement that stands for itself
MOST_NAMED = 4
# Of an attribute that somebody has only one of; `who` is the person.
OF_ATTRIBUTES = {
    "age": "How old is {who}?",
    "birthday": "When is the birthday of {who}?",
    "boyfriend": "Who is the partner of {who}?",
    "budget": "Which budget is right?",
    "car": "What does {who} drive?",
    "commute": "How does {who} get to work?",
    "deadline": "Which deadline is right?",
    "diet": "What does {who} eat?",
    "email": "Which email address has {who}?",
    "employer": "Whom does {who} work for?",
    "favorite": "What is the favourite of {who}?",
    "fiance": "Whom is {who} engaged to?",
    "hours": "Which hours are right?",
    "household": "Whom does {who} live with?",
    "income": "What does {who} earn?",
    "job": "What does {who} work as?",
    "manager": "Who is the manager of {who}?",
    "name": "What is {who} called?",
    "phone": "Which phone number has {who}?",
    "place": "Where is {who}?",
    "preferred": "What does {who} prefer?",
    "price": "Which price is right?",
    "reading": "What does {who} read?",
    "relationship": "Is {who} with somebody?",
    "rent": "Which rent is right?",
    "residence": "Where does {who} live?",
    "role": "Which role has {who}?",
    "school": "Where does {who} go to school?",
    "spouse": "Whom is {who} married to?",
    "tool": "What does {who} use?",
    "weight": "What does {who} weigh?",
    "wish": "How does {who} want to be answered?",
}
OF_ORDERS = {
    "forget": "{who} asks to forget something: shall it go?",
    "never": "{who} asks never to mention something: shall that hold?",
    "retract": "{who} takes something back: shall it go?",
    "correct": "{who} corrects something: is that right?",
    "remember": "{who} asks to remember something: shall it be kept?",
}
# Of all others by kind, of somebody and of nobody in particular.
OF_KINDS = {
    "quarantine": ("Is this true of {who}?", "Is this true?"),
    "uncertain": ("Is this still true of {who}?", "Is this still true?"),
    "": ("Which of these is true of {who}?", "Which of these is true?"),
}
MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_day = rf"(?:\d{{1,2}}(?:st|nd|rd|th)?\.? )?(?:{MONTHS})[a-z]*\.?(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?"
_amount = r"[$€£]?\d[\d.,]*\d?(?: ?(?:[€£$%]|[A-Z]{3}\b|[a-z]+))?"
_value = re.compile(rf"{_day}|{_amount}")
_token = re.compile(r"[\w'’-]+")


def question_of(kind: str, attribute: str, who: str, statements: Sequence[str]) -> str:
    """Return the question, like "Where does Ann live?"; `who` is "" if it is about nobody in
    particular, `statements` are what was said."""
    asked = OF_ATTRIBUTES.get(attribute, "")
    is_of_them = all(predicate_of(each, who) for each in statements)
    if kind not in OF_KINDS and asked and (("{who}" not in asked) or (who and is_of_them)):
        return asked.format(who=who)
    of_somebody, of_nobody = OF_KINDS.get(kind, OF_KINDS[""])
    return of_somebody.format(who=who) if who else of_nobody


def question_of_order(order: str, who: str) -> str:
    return OF_ORDERS[order].format(who=who or "Somebody")


def predicate_of(statement: str, who: str) -> str:
    """Return "swims at the pool" for "User swims at the pool because it is near"; "" if the
    statement does not speak so plainly of `who`."""
    match = aside(statement)
    main = statement[: match.start()] if match and match["why"] else statement
    words = main.split()
    names = {"user", *who.casefold().split()}
    while words and words[0].casefold() in names:
        words = words[1:]
    is_told = len(words) < len(main.split()) and words[:1] and words[0].isalpha()
    if not is_told or not words[0].islower() or words[0] in ("and", "or"):
        return ""
    told = " ".join(words).rstrip(".")
    return told if len(told) <= LONGEST else ""


def holds_still(statement: str, who: str) -> str:
    """Return the label of the button for a statement that still holds."""
    told = predicate_of(statement, who)
    return f"Still {told}" if told else "Still true"


def holds_no_more(statement: str, who: str) -> str:
    """Return the label of the button for a statement that no longer holds."""
    told = predicate_of(statement, who)
    if not told or re.search(r"\bnot\b|n't\b|\bnever\b|\bno\b", told):
        return "Not true any more"
    return f"{told[0].upper()}{told[1:]} no more"


def short_names(statements: Sequence[str]) -> list[str]:
    """Return names that distinguish the statements: "Lille" and "Ghent", if they give one attribute
    different values; else the statements, shortened."""
    readings = [read(each) for each in statements]
    keys = [{(slot.name, slot.key) for slot in each.slots} for each in readings]
    for key in sorted(set.intersection(*keys)) if len(keys) > 1 else ():
        named = [_as_written(each, key) for each in readings]
        if all(named) and len(set(named)) == len(named):
            return named
    return [f"“{shortened(each)}”" for each in statements]


def shortened(statement: str) -> str:
    text = " ".join(statement.split()).rstrip(".")
    match = aside(text) if len(text) > LONGEST else None
    text = f"{text[: match.start()]}…" if match and match["why"] else text
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _as_written(reading: Reading, key: tuple[str, str]) -> str:
    """Return the attribute's value as the statement spells it; "" if it is not found."""
    text = reading.statement
    value = next(slot.value for slot in reading.slots if (slot.name, slot.key) == key)
    if value[:1].isdigit():
        match = _value.search(text)
        return match[0] if match else ""
    wanted, tokens = value.split(), list(_token.finditer(text))
    roots = [root(each[0].lower()) for each in tokens]
    for start in range(len(roots) - len(wanted) + 1):
        if wanted and roots[start : start + len(wanted)] == wanted:
            return text[tokens[start].start() : tokens[start + len(wanted) - 1].end()]
    return ""


def listed(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return "Lille, Ghent and Antwerp"; of a long list the first names, and how many more there
    are."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
