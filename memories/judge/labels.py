"""The answers that the judge can give, in the order of its outputs."""

CHANGE = ("replaces", "ends", "restates", "exception", "compatible")
WORTH = ("fact", "moment", "chatter", "question", "others", "fiction", "order")
CATEGORY = (
    "decision",
    "habit",
    "health",
    "identity",
    "instruction",
    "other",
    "place",
    "plan",
    "policy",
    "possession",
    "preference",
    "relationship",
    "skill",
    "technology",
    "work",
)
ORDER = ("none", "forget", "correct", "retract", "remember", "never")
HEADS = {"change": CHANGE, "worth": WORTH, "category": CATEGORY, "order": ORDER}
