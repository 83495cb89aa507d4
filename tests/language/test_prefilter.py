"""A quick look spares the reading of most neighbours, and changes no decision."""

import json
import random
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path

import pytest

from bench.speed.corpus import Corpus
from memories.belief.resolve.decide import Decision, Judge, KnownMemory, Neighbour
from memories.language.english import statements
from memories.language.english.lexical import fingerprint
from memories.language.english.statements import are_strangers, is_still, prefilter, prefilter_of, read, relation
from workspaces.models.workspace import uuid7

THRESHOLD = 0.88
AT = datetime(2026, 5, 1, tzinfo=UTC)


def pairs() -> list[tuple[str, str]]:
    files = sorted((Path(__file__).parents[1] / "data").glob("conflict_pairs_*.jsonl"))
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [(row["old"], row["new"]) for row in rows]


PAIRS = pairs()
SAID = sorted({text for pair in PAIRS for text in pair})


def drawn(number: int) -> list[tuple[str, str]]:
    """Any two statements of the sets."""
    chance = random.Random(7)
    return [(chance.choice(SAID), chance.choice(SAID)) for _ in range(number)]


def are_told_apart(old: str, new: str) -> bool:
    told = read(new)
    return is_still(told) and are_strangers(prefilter(old), prefilter_of(told))


@pytest.mark.parametrize("text", [SAID[n :: len(SAID) // 20] for n in range(20)], ids=str)
def test_what_is_seen_of_the_words_holds_what_reading_finds(text: list[str]) -> None:
    seen = [(prefilter(each), prefilter_of(read(each))) for each in text]
    assert all(quick.sure <= full.sure for quick, full in seen)
    assert all(full.possible <= quick.possible for quick, full in seen)


@pytest.mark.parametrize("cosine", [None, 0.5, 0.7, 0.83, 0.879])
def test_what_is_told_apart_at_a_glance_is_different(cosine: float | None) -> None:
    both = [*PAIRS, *((new, old) for old, new in PAIRS), *drawn(4_000)]
    apart = [(read(old), read(new)) for old, new in both if are_told_apart(old, new)]
    found = {relation(*pair, cosine=cosine, threshold=THRESHOLD).kind for pair in apart}
    assert found == {"different"}


def test_most_of_what_has_nothing_to_do_with_a_statement_is_told_apart_at_a_glance() -> None:
    quick = [are_told_apart(old, new) for old, new in drawn(4_000) if is_still(read(new))]
    assert sum(quick) > 0.8 * len(quick)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ann likes olives", "Ann adores olives"),  # a synonym
        ("Ann plays the guitar in a band", "Ann is the guitarist of a band"),  # a form of a word
        ("Ann hates loud parties", "Ann likes loud parties"),  # the opposite
        ("Ann's rent rose from 700 to 900 euros", "Ann's rent is 950 euros"),  # left out
    ],
)
def test_what_other_words_may_stand_for_is_no_stranger(old: str, new: str) -> None:
    assert not are_strangers(prefilter(old), prefilter_of(read(new)))


def decisions(memories: Sequence[KnownMemory], cosines: Sequence[float | None]) -> list[Decision]:
    """Of each memory, as if it came now, beside twelve others."""
    chance, judge = random.Random(3), Judge("guarded", THRESHOLD)
    found = []
    for new in memories:
        near = [Neighbour(each, chance.choice(cosines)) for each in chance.sample(memories, 12)]
        found.append(judge.decide(new, AT, [each for each in near if each.memory.id != new.id]))
    return found


def memory(text: str, days: int) -> KnownMemory:
    since = AT + timedelta(days=days)
    return KnownMemory(uuid7(), text, fingerprint(text), "private", False, 1, since)


@pytest.mark.parametrize("source", ["people", "benchmark"])
def test_a_batch_is_decided_as_without_the_quick_look(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    block = Corpus(8).block(0, 0, 250).texts
    varied = [(text, text.replace(text.split()[-1], "kemizu.")) for text in block]
    texts = SAID[::4] if source == "people" else [each for pair in varied for each in pair]
    memories = [memory(text, n % 3 - 1) for n, text in enumerate(texts)]
    cosines = (None, 0.6, 0.7, 0.8, 0.87, 0.9)
    quick = decisions(memories, cosines)
    monkeypatch.setattr(import_module("memories.language.english.statements.compare"), "UNSHARED", 1_000)
    assert quick == decisions(memories, cosines)
    assert len({decision.act for decision in quick}) > 1


def test_a_change_or_a_value_is_never_told_apart_at_a_glance() -> None:
    changes = ("Ann sold her car", "Ann no longer runs", "Ann lives in Oslo", "Ann left the choir")
    assert not any(is_still(statements.read(text)) for text in changes)
