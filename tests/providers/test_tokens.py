"""How many tokens a text is told to have: never fewer than a vocabulary makes, and not many
more."""

import importlib.util
import json
import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from memories.providers.count_tokens import bound_of, bounded_start_of, start_of, tokens_of
from memories.providers.local_embedder import TOKENIZER

ROOT = Path(__file__).parents[2]
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


@pytest.mark.parametrize(
    "text",
    [
        "[m1] 2026-05-01: metoprolol, ibuprofeeni, amoksisilliini, levotyroksiini\n" * 20,
        "Rwy'n byw yng Nghaerdydd ac yn gweithio mewn ysbyty.\n" * 20,
        "xkqzwvbnmtrplkjh" * 30,
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "አማርኛ እናገራለሁ። 🎉",
    ],
)
def test_tokens_of_any_language_are_counted(vocabulary: Tokenizer, text: str) -> None:
    made = len(vocabulary.encode(text, add_special_tokens=False).ids)
    assert made <= tokens_of(text) <= made + 2


@pytest.mark.parametrize(
    "text",
    [
        *("\n".join(some) for some in (GERMAN, MANY)),
        "  two  spaces\n\n\tand a tab ▁ \r\n ",
        "a word " + "longwinded" * 8 + " and a word",
        "signs <s> of the </s> tokenizer <unk> it",
        *(block for kind in ("code", "prose") for block in islice(blocks(kind), 5)),
    ],
)
def test_a_text_is_counted_word_by_word_as_if_it_were_read_whole(vocabulary: Tokenizer, text: str) -> None:
    parts = [text[at : at + 8_000] for at in range(0, len(text), 8_000)]
    whole = [len(vocabulary.encode(f"\n{part}", add_special_tokens=False).ids) for part in parts]
    assert tokens_of(text) == tokens_of(text) == sum(whole) - len(whole)


def test_a_long_text_is_counted_in_parts(vocabulary: Tokenizer) -> None:
    text = "Ada prefers green tea. " * 2_000
    whole = len(vocabulary.encode(text, add_special_tokens=False).ids)
    assert whole <= tokens_of(text) <= whole + 20


@pytest.mark.parametrize("kind", ["statements", "prose", "code", "german", "many"])
def test_no_prompt_has_more_tokens_than_its_bound(vocabulary: Tokenizer, kind: str) -> None:
    for block in blocks(kind):
        assert bound_of(block) >= len(vocabulary.encode(block, add_special_tokens=False).ids)


@pytest.mark.parametrize("kind", ["statements", "prose", "code"])
def test_little_of_a_budget_is_wasted(vocabulary: Tokenizer, kind: str) -> None:
    told = made = 0
    for block in blocks(kind):
        told += bound_of(block)
        made += len(vocabulary.encode(block, add_special_tokens=False).ids)
    assert told <= 1.15 * made


@pytest.mark.parametrize("count", [tokens_of, bound_of])
def test_lines_together_have_no_more_than_the_sum_of_each(count: Callable[[str], int]) -> None:
    lines = ["[m1] Ada: tea\n", "[m2] THE END ---\n", "-- 12 %\n", "Zoë 🎉\n"]
    assert count("".join(lines)) <= sum(map(count, lines))


@pytest.mark.parametrize(("start", "count"), [(start_of, tokens_of), (bounded_start_of, bound_of)])
@pytest.mark.parametrize("most", [0, 1, 3, 7, 100])
def test_the_start_of_a_text_is_as_long_as_allowed(
    start: Callable[[str, int], str], count: Callable[[str], int], most: int
) -> None:
    text = "Ada prefers green tea, at 4 o'clock, in Lisbon"
    held = start(text, most)
    assert text.startswith(held)
    assert count(held) <= most or held == ""
    assert held == text or count(text[: len(held) + 12]) > most


@pytest.mark.parametrize("most", range(12))
def test_a_letter_of_several_pieces_is_held_whole_or_not_at_all(most: int) -> None:
    held = start_of("🎉🎂 አማ", most)
    assert "🎉🎂 አማ".startswith(held)
    assert tokens_of(held) <= most
