"""Names of rules and attributes for people: the one table of words for pages and answers."""

# Names of single-valued attributes, by slot.
ATTRIBUTES = {
    "age": "age",
    "assignee": "is assigned to",
    "birthday": "birthday",
    "boyfriend": "partner",
    "car": "drives",
    "color": "colour",
    "commute": "way to work",
    "count": "how many",
    "deadline": "deadline",
    "diet": "diet",
    "email": "email address",
    "employer": "works for",
    "favorite": "favourite",
    "fiance": "is engaged to",
    "hair": "hair",
    "height": "height",
    "hours": "hours",
    "household": "lives with",
    "income": "income",
    "job": "works as",
    "language": "is written in",
    "level": "level",
    "manager": "manager",
    "name": "name",
    "owner": "owner",
    "phone": "phone number",
    "place": "is at",
    "plan": "plan",
    "preferred": "prefers",
    "price": "price",
    "reading": "is reading",
    "relationship": "relationship",
    "residence": "lives in",
    "role": "role",
    "school": "goes to school at",
    "spouse": "is married to",
    "status": "status",
    "timezon": "time zone",
    "timezone": "time zone",
    "tool": "uses",
    "version": "version",
    "weight": "weight",
    "wish": "how to be answered",
}
# Where no single-valued attribute is told: by the category of the memory.
CATEGORIES = {
    "preference": "preference",
    "identity": "who they are",
    "relationship": "relationship",
    "possession": "possession",
    "plan": "plan",
    "temporal": "event",
    "policy": "policy",
    "technology": "technology",
    "decision": "decision",
    "instruction": "instruction",
    "other": "statement",
    "intent": "asked of the memory",
}
# Reasons why a machine replaces, or asks, by rule.
RULES = {
    "edit": "corrected by hand",
    "case": "decided in a case",
    "richer": "says the same with more words",
    "older": "was true before",
    "denied": "one says the opposite of the other",
    "replaced": "names what it replaces",
    "number": "the same with another number",
    "numbered": "the same with another number, which may tell two apart",
    "instead": "one instead of the other",
    "now": "says that it is so now",
    "turned": "the same words, who did it turned round",
    "opposite": "the same thing, told the other way round",
    "values": "they conflict: two values of what has only one",
    "near": "nearly the same words, and not clearly the same",
    "nearest": "the nearest memory",
    "contained": "one contains the other",
    "quarantine": "not believed without a person's word",
    "ground": "what it rests on has ended",
    "ended": "ended under what rests on it",
    "unsaid": "its document does not say it any more",
    "questioned": "something that was said later speaks against it",
    "drawn": "drawn at random, to learn whether the judge was right to ask nobody",
    "over": "says that it is over",
    "earlier": "told later, of a day before the other was said",
    "overlap": "both are told to have been true at one time",
    "intent": "asked for in a message",
    "asked": "somebody asks whether it holds",
}
# Reasons why policy holds something back; they stand before the rule: "pinned: slot:residence".
REASONS = {
    "pinned": "the old one is pinned",
    "protected": "a protected category",
    "untrusted": "written by an agent that is not trusted",
    "unsure": "low confidence",
    "bystander": "somebody else says it of a person",
    "document": "a document says it, and a person said otherwise",
    "grey": "as similar as policy lets no machine decide",
}
SLOT, ENDED, IMPLIED, OWN = "slot:", "ended:", "implied:", "own:"


def attribute_words(attribute: str) -> str:
    """Return "lives in" for "residence"; a workspace's own attributes have plain names already."""
    return ATTRIBUTES.get(attribute) or CATEGORIES.get(attribute) or attribute.replace("_", " ")


def rule_words(rule: str) -> str:
    """Return "the old one is pinned · lives in: one at a time" for "pinned: slot:residence"."""
    reason, _, rest = rule.partition(": ")
    if rest and reason in REASONS:
        return f"{REASONS[reason]} · {rule_words(rest)}"
    if rule.startswith(SLOT):
        return f"{attribute_words(rule.removeprefix(SLOT).removeprefix(OWN))}: one at a time"
    if rule.startswith(ENDED):
        return f"ended: {rule.removeprefix(ENDED)}"
    if rule.startswith(IMPLIED):
        return f"implied by an event: {rule.removeprefix(IMPLIED)}"
    return RULES.get(rule) or REASONS.get(rule) or f"rule {rule}"
