from zlib import crc32

import pytest

from memories.language.english import lexical
from memories.language.english.lexical import fingerprint, ilike_keys, index_stems, stems, term_keys, trigram_keys


def test_words_are_lowered_stemmed_and_rid_of_stop_words() -> None:
    assert stems("The sisters were Painting, and I've painted!") == ["sister", "paint", "paint"]


def test_stems_agree_with_those_of_postgres() -> None:
    # select tsvector_to_array(to_tsvector('english', ...)) on PostgreSQL 18
    assert stems("generously adopted kittens in Berlin since 2021") == (
        ["generous", "adopt", "kitten", "berlin", "sinc", "2021"]
    )


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("Die Fischer haben im See viele Fische gefangen.", "Wer fängt einen Fisch?"),
        ("Les jardiniers ont planté des arbres dans la cour.", "Qui est le jardinier ?"),
        ("Los niños cantaban canciones en la plaza.", "¿Qué canción era?"),
        ("I giardinieri hanno piantato gli alberi.", "Dove sono il giardiniere e i fiori?"),
        ("Os gatos dormem na cozinha.", "Onde está o gato?"),
        ("De boeken zijn in het huis van mijn tante.", "Welk boek is het?"),
        ("Pojkarna köper böcker och tidningar.", "Vilken tidning är det?"),
        ("Çocuklar bahçede kitaplarını bir arada okuyor ve gülüyor.", "Hangi kitap?"),
        ("В доме живут кошки.", "Где моя кошка?"),
        ("Οι γάτες κοιμούνται.", "Πού είναι η γάτα;"),
        ("اللاعبون في الملعب", "من هو اللاعب؟"),
        ("लड़कियों ने गाया", "लड़की कौन है?"),
    ],
)
def test_forms_of_a_word_meet_in_its_own_language(told: str, asked: str) -> None:
    assert set(stems(told)) & set(stems(asked))


def test_function_words_of_other_languages_are_left_out() -> None:
    assert stems("Wo ist denn nur der Schlüssel?") == ["schlussel"]
    assert stems("Где же он был?") == []


@pytest.mark.parametrize(("told", "asked"), [("café in Zürich", "cafe Zurich"), ("Łódź", "łodz")])
def test_a_word_is_found_with_its_accents_and_without(told: str, asked: str) -> None:
    assert set(stems(asked)) <= set(stems(told))


def test_a_name_in_an_english_sentence_keeps_the_sentence_english() -> None:
    assert stems("Pedro de la Cruz was running in Los Angeles") == (
        ["pedro", "de", "la", "cruz", "run", "los", "angel"]
    )


def test_a_short_text_that_may_be_of_another_language_is_read_in_both() -> None:
    assert set(stems("Welche Tänzerinnen?")) == {"welch", "tanz", "tanzerinnen"}


def test_scripts_without_spaces_are_found_by_pairs() -> None:
    assert set(stems("喝茶")) <= set(stems("我喜欢喝茶"))
    assert stems("茶") == ["茶"]


def test_latin_letters_inside_another_script_remain_a_word() -> None:
    assert "python" in stems("我用python写代码")


def test_identifiers_and_short_numbers_can_be_found() -> None:
    assert stems("user_id of node.js v4, 3 cats") == ["user", "id", "node", "js", "v4", "3", "cat"]


@pytest.mark.parametrize("text", ["", " ", "...", "the of and", "🎉🎉"])
def test_text_without_words_has_no_stems(text: str) -> None:
    assert stems(text) == []


def test_term_keys_carry_workspace_and_layer_and_are_distinct() -> None:
    assert term_keys(5, 2, ["tea", "tea"]) == [((5 * 8 + 2) << 32) | crc32(b"tea")]


def test_keys_of_two_workspaces_or_layers_never_meet() -> None:
    words = ["tea", "coffee", "milk"]
    keys = [key for n in (1, 2) for layer in (0, 1) for key in term_keys(n, layer, words)]
    assert len(set(keys)) == len(keys) == 12


def test_largest_workspace_still_fits_a_signed_bigint() -> None:
    assert max(term_keys((1 << 28) - 1, 7, ["tea"])) < 1 << 63


@pytest.mark.parametrize(("number", "layer"), [(1 << 28, 0), (-1, 0), (1, 8), (1, -1)])
def test_number_outside_of_the_key_is_refused(number: int, layer: int) -> None:
    with pytest.raises(ValueError, match="no key"):
        term_keys(number, layer, ["tea"])


@pytest.mark.parametrize("query", ["Dark Mode", "k m", "École", "ΟΔΟΣ Α", "İsta", "50%_\\"])
def test_text_holds_the_keys_of_each_of_its_parts(query: str) -> None:
    text = f"before {query} after"
    assert set(ilike_keys(3, 1, query)) <= set(trigram_keys(3, 1, text))


def test_case_of_the_query_does_not_matter() -> None:
    assert ilike_keys(3, 1, "DARK École") == ilike_keys(3, 1, "dark éCOLE")


def test_case_is_folded_one_character_at_a_time_as_postgres_does() -> None:
    assert trigram_keys(1, 0, "ΟΔΟΣ") == trigram_keys(1, 0, "οδοσ")
    assert trigram_keys(1, 0, "İST") == trigram_keys(1, 0, "ist")
    assert trigram_keys(1, 0, "ΟΔΟΣ") != trigram_keys(1, 0, "οδος")


def test_query_shorter_than_three_characters_has_no_keys() -> None:
    assert ilike_keys(1, 0, "ab") == []


def test_pattern_takes_wildcards_literally() -> None:
    assert lexical.ilike_pattern("50%_off\\") == "%50\\%\\_off\\\\%"


def test_neighbours_lend_a_share_of_their_words() -> None:
    document = index_stems(["tea"], ["tea", "green"], ["pot"], ["kettle"])
    assert document == {"tea": 1.5, "green": 0.5, "pot": 0.25, "kettle": 0.25}


def test_long_message_neither_borrows_nor_lends_words() -> None:
    long = ["word"] * 61
    assert index_stems(long, ["tea"], ["pot"]) == {"word": 61}
    assert index_stems(["tea"], long, ["pot"]) == {"tea": 1, "pot": 0.25}


def test_weight_grows_with_count_and_falls_with_length() -> None:
    tea = lexical.term_number("tea")
    once, twice = ({"tea": n, "pot": lexical.ORDINARY_LENGTH - n} for n in (1.0, 2.0))
    weight = lexical.bm25_weights(once)[tea]
    assert weight == pytest.approx(1.0)
    assert lexical.bm25_weights(twice)[tea] > weight
    assert lexical.bm25_weights(once | {"more": 20.0})[tea] < weight


def test_sparse_text_is_what_pgvector_reads() -> None:
    assert lexical.sparse_text({9: 0.5, 4: 1.25}) == "{4:1.25,9:0.5}/1000000000"
    assert lexical.sparse_text({}) == "{}/1000000000"


def test_sparse_text_keeps_the_heaviest_sixteen_thousand() -> None:
    text = lexical.sparse_text({i: float(i) for i in range(1, 16_101)})
    assert text.count(":") == 16_000
    assert text.startswith("{101:101,")


@pytest.mark.parametrize("same", ["i PREFER  tea", "I prefer tea.", "I prefer\ntea!! ", "Ｉ prefer tea"])
def test_fingerprint_ignores_case_spacing_and_end_stops(same: str) -> None:
    assert fingerprint(same) == fingerprint("I prefer tea")


@pytest.mark.parametrize(("one", "other"), [("C", "C#"), ("5", "5 %"), ("no tea", "not tea"), ("?", "!")])
def test_fingerprint_tells_different_texts_apart(one: str, other: str) -> None:
    assert fingerprint(one) != fingerprint(other)
    assert len(fingerprint(one)) == 16
