"""Words that many entries hold: counted in the background, left to the score in a search."""

from collections.abc import Iterator

import pytest

from memories.index import common_terms, workspace_index
from memories.models import CommonTerm, LargeLayer, Layer
from memories.search import candidates
from memories.worker.sweep import sweep
from tests.people import Person

WORDS = ("lisbon", "porto", "faro", "braga", "evora", "tomar")


@pytest.fixture
def many(alice: Person, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    monkeypatch.setattr(common_terms, "FROM", 5)
    monkeypatch.setattr(candidates, "ENOUGH", 0)
    candidates.pool_text.cache_clear()
    for number, word in enumerate(WORDS):
        alice.note(f"The harbour of {word} is number {number}")
    yield alice
    candidates.pool_text.cache_clear()


def test_the_sweep_notes_the_share_of_common_words(many: Person) -> None:
    assert sweep().counted == 1
    space = workspace_index.index_of(many.scope.workspace_id)
    shares = CommonTerm.objects.filter(workspace=space, layer=Layer.MEMORIES)
    assert max(shares.values_list("share", flat=True)) == 1.0
    assert LargeLayer.objects.get().counted_live == len(WORDS)


def test_a_layer_is_counted_again_only_when_it_has_grown(many: Person) -> None:
    assert [sweep().counted, sweep().counted] == [1, 0]
    for text in ("Ada plays the cello", "Bread is baked at dawn", "Trains leave hourly"):
        many.note(text)
    assert sweep().counted == 1


def test_a_rare_word_is_found_among_common_ones(many: Person) -> None:
    before = many.finds("harbour of faro")[0]
    sweep()
    assert many.finds("harbour of faro")[0] == before
    assert "faro" in before


def test_a_common_word_alone_still_finds(many: Person) -> None:
    sweep()
    assert len(many.finds("harbour", ranking="keyword")) == len(WORDS)
