"""What the code makes of a text may change only with the version of the rules: rows that keep what
an older version made are found by it and made anew.

Where a test here fails because you changed the rules: raise RULES_VERSION in
memories/index/row_marks.py (and PASSAGES_SINCE to the same, where passages are cut otherwise) and
add what the code makes now, as the failing test shows it, to tests/data/marks.json.
"""

import json
import uuid
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from memories import ranking
from memories.index import row_marks
from memories.index.row_marks import PASSAGES_SINCE, RULES_VERSION
from memories.language.english import lexical, statements
from memories.providers import message_pieces

KEPT = Path(__file__).parents[1] / "data" / "marks.json"
FIRST_RELEASED = 5
ABOUT = uuid.UUID("6f9b3c52-3f1c-4a56-9d5e-1f9a2f0e7a11")
SENTENCES = (KEPT.parent / "marks_texts.txt").read_text().splitlines()
LONG = [
    " ".join(f"In year {n} the press in barn {n % 7} squeezed pears; it ran well." for n in range(40)),
    "\n".join(f"{n}: the gate of field {n} is painted green" for n in range(60)),
    "endless " * 400,
]


def _of_each(make: Callable[[str], object]) -> Iterator[object]:
    return (make(text) for text in [*SENTENCES, *LONG])


def _weights(text: str) -> list[tuple[int, float]]:
    found = lexical.bm25_weights(lexical.counts(lexical.stems(text)))
    return sorted((term, round(weight, 5)) for term, weight in found.items())


def _lent(text: str) -> list[tuple[str, float]]:
    own, other = lexical.stems(text), lexical.stems(SENTENCES[0])
    return sorted(lexical.index_stems(own, other, other, other).items())


KINDS: dict[str, Callable[[str], object]] = {
    "slots": lambda text: row_marks.slot_keys_of(ABOUT, statements.read(text)),
    "terms": lambda text: lexical.term_keys(7, 1, lexical.stems(text)),
    "weights": _weights,
    "neighbours": _lent,
    "trigrams": lambda text: lexical.trigram_keys(7, 1, text),
    "marks": lambda text: [ranking.marks(text), ranking.marks(f"I prefer it so. {text}")],
    "passages": message_pieces.passages,
}


def made_now() -> dict[str, str]:
    """Of each kind of mark a digest of all that is made of the texts."""
    texts = {kind: json.dumps(list(_of_each(make))) for kind, make in KINDS.items()}
    return {kind: sha256(text.encode()).hexdigest()[:16] for kind, text in texts.items()}


def kept() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(KEPT.read_text())
    return found


def test_marks_change_only_with_the_version_of_the_rules() -> None:
    assert made_now() == kept()[str(RULES_VERSION)], __doc__


def test_every_version_made_other_marks_than_the_one_before() -> None:
    versions = sorted(kept(), key=int)
    assert [int(version) for version in versions] == list(range(1, RULES_VERSION + 1))
    for before, after in zip(versions, versions[1:], strict=False):
        assert kept()[before] != kept()[after]


def test_passages_are_cut_as_they_were_since_the_version_that_says_so() -> None:
    cuts = {version: marks["passages"] for version, marks in kept().items()}
    since = [cut for version, cut in cuts.items() if int(version) >= PASSAGES_SINCE]
    assert set(since) == {made_now()["passages"]}
    assert cuts.get(str(PASSAGES_SINCE - 1)) != made_now()["passages"]


def test_words_have_the_same_keys_in_every_release() -> None:
    """A search would not find rows that wait for their repair. Who has to change them lets it look
    at these by their text meanwhile. Versions before the fifth were in no release."""
    for version, marks in kept().items():
        if int(version) >= FIRST_RELEASED:
            assert {kind: marks[kind] for kind in ("terms", "trigrams")} == {
                "terms": "f1d2808122603cc6",
                "trigrams": "236460dc541cd2c8",
            }


def test_a_fingerprint_is_the_same_in_every_release() -> None:
    """Rejections and features keep it under a unique constraint: it cannot be made anew."""
    assert lexical.fingerprint("Mira lives in Porto.").hex() == "cabb75ceed9190da4cc63582bd8a627a"
    assert lexical.fingerprint("Köln").hex() == "3513d095a0a32db333c5ae9ef11824a5"
