"""What somebody likes, prefers, and cannot stand."""

from memories.patterns.morphology import ADVERB
from memories.patterns.pattern import Pattern

PATTERNS = (
    Pattern(
        name="prefers",
        category="preference",
        regex=rf"\bI {ADVERB}(?:prefer|would rather|['’]d rather)\b",
        confidence=0.9,
        examples=(
            ("I prefer tea", "Alex prefers tea"),
            ("I prefer tabs over spaces", "Alex prefers tabs over spaces"),
        ),
        counter_examples=("I referred him",),
    ),
    Pattern(
        name="likes",
        category="preference",
        regex=rf"^I (?:(?:don['’]t|do not|can['’]t|do) )?{ADVERB}(?:like|love|enjoy|hate|dislike|adore|stand|loathe|detest)\b",
        confidence=0.85,
        examples=(
            ("I really love dark mode", "Alex really loves dark mode"),
            ("I don't like mushrooms", "Alex doesn't like mushrooms"),
        ),
        counter_examples=("I look like my mother",),
    ),
)
