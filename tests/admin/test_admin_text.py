from memories.admin.memory_rows import CitedSpan, excerpt, segments
from workspaces.adminbase.word_diff import side, word_diff


def said(old: str, new: str) -> list[tuple[str, str]]:
    return [(piece.kind, piece.text) for piece in word_diff(old, new)]


def test_equal_texts_differ_in_nothing() -> None:
    assert said("prefers tea", "prefers tea") == [("same", "prefers tea")]


def test_changed_word_is_removed_and_added_in_its_place() -> None:
    assert said("prefers tea.", "prefers coffee.") == [
        ("same", "prefers "),
        ("removed", "tea"),
        ("added", "coffee"),
        ("same", "."),
    ]


def test_both_sides_of_a_difference_give_the_texts_back() -> None:
    old, new = "Ann lives in Lisbon,  near the sea", "Ann moved to Porto near the river"
    pieces = word_diff(old, new)

    assert "".join(p.text for p in side(pieces, "removed")).split() == old.split()
    assert "".join(p.text for p in side(pieces, "added")) == new


def test_very_long_texts_are_told_apart_as_wholes() -> None:
    old, new = "tea " * 3_000, "coffee " * 3_000

    assert said(old, new) == [("removed", old), ("added", new)]


def cut(text: str, *spans: tuple[int, int]) -> list[tuple[str, int]]:
    found = segments(text, [CitedSpan(start, end, n) for n, (start, end) in enumerate(spans)])
    return [(segment.text, len(segment.spans)) for segment in found]


def test_text_is_cut_at_a_citation() -> None:
    assert cut("I prefer tea.", (2, 12)) == [("I ", 0), ("prefer tea", 1), (".", 0)]


def test_overlapping_citations_share_their_words() -> None:
    assert cut("abcdef", (0, 4), (2, 6)) == [("ab", 1), ("cd", 2), ("ef", 1)]


def test_citation_outside_of_the_text_marks_nothing() -> None:
    assert cut("abc", (1, 9)) == [("abc", 0)]


def test_empty_text_has_no_segments() -> None:
    assert cut("") == []


def test_excerpt_tells_that_it_is_cut() -> None:
    assert excerpt("a" * 10 + "QUOTE" + "b" * 10, 10, 15, around=3) == ("…aaa", "QUOTE", "bbb…")


def test_excerpt_of_a_short_text_is_whole() -> None:
    assert excerpt("I prefer tea.", 2, 12) == ("I ", "prefer tea", ".")
