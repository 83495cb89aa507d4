"""F1 of the words of two answers, as LoCoMo's own evaluation has it."""

import re
import string
from collections import Counter
from collections.abc import Sequence

import Stemmer

from memories.evaluation.labelled_conversations import CATEGORIES, Question

_porter = Stemmer.Stemmer("porter")
_articles = re.compile(r"\b(a|an|the|and)\b")
_punctuation = str.maketrans("", "", string.punctuation)


def answer_f1(question: Question, answer: str) -> float:
    """F1 of words as LoCoMo's own evaluation has it: of a multi-hop answer part by part, of an open one's first
    reading."""
    gold = question.answer
    if question.category == CATEGORIES[1]:
        parts = [[words(part) for part in text.split(",")] for text in (gold, answer)]
        return sum(max(f1(one, other) for other in parts[1]) for one in parts[0]) / len(parts[0])
    if question.category == CATEGORIES[3]:
        gold = gold.partition(";")[0]
    return f1(words(gold), words(answer))


def words(text: str) -> list[str]:
    bare = text.replace(",", "").lower().translate(_punctuation)
    return [str(stem) for stem in _porter.stemWords(_articles.sub(" ", bare).split())]


def f1(one: Sequence[str], other: Sequence[str]) -> float:
    common = (Counter(one) & Counter(other)).total()
    return 2 * common / (len(one) + len(other)) if common else 0.0
