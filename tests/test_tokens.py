"""How many tokens a text is told to have: never fewer than a vocabulary makes, and not many more."""

import importlib.util
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from memories.providers.local_embedder import TOKENIZER
from memories.tokens import start_of, tokens_of

ROOT = Path(__file__).parent.parent
GERMAN = (
    "Ich wohne seit drei Jahren in München und arbeite als Krankenschwester.",
    "Meine Schwester heißt Käthe, sie wohnt in Düsseldorf und hat zwei Katzen.",
    "Der Geburtstag meiner Mutter ist am 12. März, bitte erinnere mich daran.",
)
MANY = (
    "我住在上海，喜欢喝绿茶。",
    "Я живу в Москве.",
    "🎉🎂 Happy birthday!! 😂",
    "أعيش في القاهرة",
)


@pytest.fixture(scope="module")
def vocabulary() -> Tokenizer:
    """32,000 pieces: that of the embedded model."""
    found = importlib.util.find_spec("wordllama")
    assert found is not None
    assert found.origin is not None
    return Tokenizer.from_file(str(Path(found.origin).parent / TOKENIZER))


def paragraphs(kind: str) -> list[str]:
    if kind == "statements":
        files = (ROOT / "tests/data").glob("conflict_pairs_*.jsonl")
        lines = [line for path in sorted(files) for line in path.read_text().splitlines()]
        return [json.loads(line)["new"] for line in lines]
    if kind in ("german", "many"):
        return list({"german": GERMAN, "many": MANY}[kind]) * 20
    pattern = {"prose": "*.md", "code": "memories/*/*.py"}[kind]
    texts = (path.read_text() for path in sorted(ROOT.glob(pattern)))
    return [" ".join(part.split()) for text in texts for part in text.split("\n\n") if part]


def blocks(kind: str) -> Iterator[str]:
    """Forty prompts of 3 to 40 lines."""
    chance, known = random.Random(kind), paragraphs(kind)
    for _ in range(40):
        some = chance.choices(known, k=chance.randint(3, 40))
        yield "".join(f"[m{n}] 2026-05-01: {text[:600]}\n" for n, text in enumerate(some, 1))


@pytest.mark.parametrize("kind", ["statements", "prose", "code", "german", "many"])
def test_no_prompt_has_more_tokens_than_are_told(vocabulary: Tokenizer, kind: str) -> None:
    for block in blocks(kind):
        assert tokens_of(block) >= len(vocabulary.encode(block, add_special_tokens=False).ids)


@pytest.mark.parametrize("kind", ["statements", "prose", "code"])
def test_little_of_a_budget_is_wasted(vocabulary: Tokenizer, kind: str) -> None:
    told = made = 0
    for block in blocks(kind):
        told += tokens_of(block)
        made += len(vocabulary.encode(block, add_special_tokens=False).ids)
    assert told <= 1.15 * made


def test_lines_together_have_no_more_than_the_sum_of_each() -> None:
    lines = ["[m1] Ada: tea\n", "[m2] THE END ---\n", "-- 12 %\n", "Zoë 🎉\n"]
    assert tokens_of("".join(lines)) <= sum(map(tokens_of, lines))


@pytest.mark.parametrize("most", [0, 1, 3, 7, 100])
def test_the_start_of_a_text_is_as_long_as_allowed(most: int) -> None:
    text = "Ada prefers green tea, at 4 o'clock, in Lisbon"
    start = start_of(text, most)
    assert text.startswith(start)
    assert tokens_of(start) <= most or start == ""
    assert start == text or tokens_of(text[: len(start) + 12]) > most
