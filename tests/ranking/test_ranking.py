import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memories.ranking import (
    Candidate,
    EventSide,
    Mark,
    Participant,
    Ranked,
    RecencyBoost,
    Weights,
    analyse,
    by_keyword,
    by_passage,
    by_vector,
    hybrid,
    linea,
    marks,
)
from memories.settings_objects import faults

FRIENDS = [Participant("Alice", False, 50), Participant("Bob", False, 50)]
CHAT = [Participant("User", False, 50), Participant("Assistant", True, 50)]
TURN = "Great, that draft reads well and I have sent it to the printer this morning. What is next?"


def ids(ranked: list[Ranked]) -> list[int]:
    return [hit.id for hit in ranked]


def candidate(number: int, **given: object) -> Candidate:
    return Candidate(number, 1, **({"cosine": 0.5, "bm25": 1.0} | given))  # type: ignore[arg-type]


def at(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, tzinfo=UTC).timestamp()


# linea


def test_linea_scores_as_the_merge_says() -> None:
    assert linea([(1, 0.9), (2, 0.75)], [2, 3]) == [(2, 0.95), (1, 0.9), (3, 0.3)]


def test_linea_breaks_ties_by_age_then_by_id() -> None:
    born = {n: datetime(2024, 1, day, tzinfo=UTC) for n, day in ((1, 1), (2, 3), (3, 3))}
    assert [n for n, _ in linea([], [1, 3, 2], born)] == [2, 3, 1]


def test_linea_without_hits_is_empty() -> None:
    assert linea([], []) == []


# one side alone


def test_vector_ranking_leaves_out_what_has_no_vector() -> None:
    hits = by_vector([candidate(1, cosine=0.2), candidate(2, cosine=None), candidate(3, cosine=0.7)])
    assert [(hit.id, hit.score) for hit in hits] == [(3, 0.7), (1, 0.2)]


def test_keyword_ranking_leaves_out_what_has_no_term() -> None:
    hits = by_keyword([candidate(1, bm25=2.0), candidate(2, bm25=0.0), candidate(3, bm25=4.0)])
    assert [(hit.id, hit.score) for hit in hits] == [(3, 1.0), (1, 0.5)]


# reading the query


def test_names_of_people_who_speak_leave_the_query() -> None:
    view = analyse("When did Alice's sister move to Oslo?", FRIENDS)
    assert view.meaning == "When did sister move to Oslo?"
    assert view.terms == ("sister", "move", "oslo")
    assert view.named == "Alice"
    assert view.names == ("alic",)


def test_query_that_names_two_names_nobody_in_particular() -> None:
    assert analyse("What did Alice give Bob?", FRIENDS).named is None


@pytest.mark.parametrize(
    ("query", "people", "far"),
    [
        ("Which tea did she buy?", FRIENDS, True),
        ("Which tea did I buy?", CHAT, False),
        ("Which tea did I buy on 3 May?", CHAT, True),
        ("tea", [], False),
    ],
)
def test_who_spoke_and_a_date_bring_up_what_words_alone_leave_far_down(
    query: str, people: list[Participant], far: bool
) -> None:
    assert analyse(query, people).looks_far is far


def test_query_of_nothing_but_a_name_keeps_it() -> None:
    assert analyse("Alice", FRIENDS).terms == ("alic",)


def test_name_that_is_also_a_word_needs_its_capital() -> None:
    speakers = [Participant("Will", False, 5), Participant("Bob", False, 5)]
    assert analyse("Will they marry?", speakers).named is None
    assert analyse("what will he do", speakers).named is None
    assert analyse("Where does Will live?", speakers).named == "Will"


def test_roles_are_no_names() -> None:
    assert analyse("What does the user like?", CHAT).named is None


@pytest.mark.parametrize(("speakers", "people"), [(FRIENDS, True), (CHAT, False), ([], False)])
def test_talk_among_people_is_known_by_who_speaks(speakers: list[Participant], people: bool) -> None:
    assert analyse("tea?", speakers).among_people is people


def test_question_and_keywords_are_no_turn_of_a_conversation() -> None:
    assert analyse("What did I say about the printer in my last message?").turn == 0
    assert analyse("printer colour").turn == 0
    assert analyse(TURN).turn > 0.5


def test_when_is_noticed() -> None:
    assert analyse("When did we meet?").kind == Mark.TIME
    assert not analyse("Do it when you can").kind


def test_question_for_the_assistants_words_is_noticed() -> None:
    assert analyse("What did you recommend for the logo?").asks_assistant
    assert not analyse("What would you recommend?").asks_assistant


# marks


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("Do you like tea?", Mark.QUESTION),
        ("We met two weeks ago.", Mark.TIME | Mark.NUMBER),
        ("Always answer in French.", Mark.RULE | Mark.PLACE),
        ("Thanks. Please never use tabs", Mark.RULE),
        ("We may like tea; I always do", Mark(0)),
        ("For bread I'd prefer rye over wheat.", Mark.PREFERENCE),
    ],
)
def test_marks_tell_the_shape_of_a_message(text: str, mark: Mark) -> None:
    assert marks(text) == mark


# hybrid


def test_words_and_meaning_count() -> None:
    rows = [candidate(1, bm25=0.1), candidate(2, bm25=3.0), candidate(3, bm25=0.1, cosine=0.9)]
    assert set(ids(hybrid(analyse("tea"), rows))[:2]) == {2, 3}


def test_nothing_comes_of_nothing() -> None:
    assert hybrid(analyse("tea"), []) == []


def test_limit_cuts_and_ties_go_to_the_newest() -> None:
    rows = [candidate(n) for n in (4, 9, 2)]
    assert ids(hybrid(analyse("tea"), rows, limit=2)) == [9, 4]


@pytest.mark.parametrize("query", ["When did Alice move in May 2023?", TURN, "", "?"])
@pytest.mark.parametrize("speakers", [FRIENDS, CHAT, []])
def test_scores_lie_between_zero_and_one_and_are_the_sum_of_their_parts(
    query: str, speakers: list[Participant]
) -> None:
    rows = [
        candidate(
            n,
            cosine=n / 9,
            bm25=n % 4,
            conversation=n % 2,
            position=n,
            at=at(2023, 5, n),
            author="Alice",
            length=20,
            marks=n % 8,
            assistant=n % 3 == 0,
        )
        for n in range(1, 9)
    ]
    for hit in hybrid(analyse(query, speakers), rows):
        assert 0 <= hit.score <= 1
        assert hit.score == pytest.approx(max(0.0, sum(hit.parts.values())))


def test_candidates_without_any_vector_are_ranked_by_words() -> None:
    rows = [candidate(n, cosine=None, bm25=float(n)) for n in (1, 3, 2)]
    assert ids(hybrid(analyse("tea"), rows)) == [3, 2, 1]


def test_one_who_is_named_is_preferred() -> None:
    rows = [candidate(1, author="Alice"), candidate(2, author="Bob")]
    assert ids(hybrid(analyse("What does Alice drink?", FRIENDS), rows)) == [1, 2]


def test_date_in_the_query_prefers_its_messages() -> None:
    rows = [candidate(1, at=at(2023, 5, 4)), candidate(2, at=at(2023, 8, 4)), candidate(3)]
    assert ids(hybrid(analyse("What happened on 3 May 2023?"), rows))[0] == 1


def test_question_to_an_assistant_chat_is_answered_by_the_user() -> None:
    rows = [candidate(1), candidate(2, assistant=True)]
    assert ids(hybrid(analyse("Which bread do I like?", CHAT), rows))[0] == 1
    asked = hybrid(analyse("Which bread did you recommend?", CHAT), rows)
    assert asked[0].score == asked[1].score


def test_memory_stands_back_behind_the_users_message_but_before_the_assistants() -> None:
    rows = [candidate(3, assistant=True), candidate(2, assistant=None), candidate(1)]
    assert ids(hybrid(analyse("Which bread do I like?", CHAT), rows)) == [1, 2, 3]


def test_neighbours_are_messages_of_one_layer() -> None:
    rows = [
        Candidate(1, 0, 0.5, 9.0, conversation=1, position=0),
        Candidate(2, 1, 0.5, 1.0, conversation=1, position=1),
    ]
    assert all("neighbours" not in hit.parts for hit in hybrid(analyse("tea"), rows))


def test_standing_instruction_is_preferred_among_equals() -> None:
    rows = [candidate(1, marks=int(Mark.RULE)), candidate(2)]
    assert ids(hybrid(analyse("How do I format this?", CHAT), rows))[0] == 1


def test_what_the_assistant_was_told_to_do_always_comes_first_where_its_help_is_asked_for() -> None:
    rows = [
        candidate(1, bm25=0.5, marks=int(Mark.RULE)),
        candidate(2, bm25=0.6, marks=int(Mark.PREFERENCE)),
        *(candidate(n) for n in range(3, 6)),
        candidate(6, bm25=0.5, marks=int(Mark.RULE), assistant=True),
    ]
    help_of = "I am planning a long trip by train to the coast in spring. Can you help me to pack?"
    for query in ("How do I bake rye bread?", help_of):
        assert ids(hybrid(analyse(query, CHAT), rows))[:2] == [1, 2]
    assert ids(hybrid(analyse("How did I bake rye bread?", CHAT), rows))[0] == 5
    assert "rule" not in hybrid(analyse("How do I bake rye bread?", FRIENDS), rows)[0].parts


@pytest.mark.parametrize(
    ("query", "asks_help"),
    [
        ("Could you show me how to tie a bowline?", True),
        ("What are some ways to store apples?", True),
        ("I need a name for my boat. Which one would you suggest?", True),
        ("When do I move?", False),
        ("Can you tell me which knots I like?", False),
        ("Can you list what we discussed in our sessions?", False),
        ("Can you summarize how to tie knots?", False),
        ("What did you recommend for the knots?", False),
    ],
)
def test_who_wants_something_done_is_told_from_who_asks_what_was_said(query: str, asks_help: bool) -> None:
    assert analyse(query, CHAT).asks_help is asks_help


def test_next_turn_of_a_conversation_wants_recent_talk() -> None:
    rows = [candidate(n, conversation=n, at=at(2024, 5, 10 - n)) for n in (1, 9)]
    turn, question = analyse(TURN, CHAT), analyse("What did I print?", CHAT)
    assert "recency" in hybrid(turn, rows)[0].parts
    assert ids(hybrid(turn, rows))[0] == 1
    assert "recency" not in hybrid(question, rows)[0].parts


def test_pause_within_one_conversation_begins_a_new_sitting() -> None:
    rows = [candidate(n, conversation=1, at=at(2024, 5, n)) for n in (1, 9)]
    assert ids(hybrid(analyse(TURN, CHAT), rows))[0] == 9
    assert hybrid(analyse(TURN, CHAT), rows)[1].parts["recency"] > 0


def test_company_of_good_matches_helps() -> None:
    rows = [
        candidate(1, bm25=1.0, conversation=1, position=1),
        candidate(2, bm25=9.0, conversation=2, position=1),
        candidate(3, bm25=1.0, conversation=2, position=2),
    ]
    assert ids(hybrid(analyse("tea"), rows)) == [2, 3, 1]


def test_answer_to_a_matching_question_is_found_among_friends() -> None:
    rows = [
        candidate(1, bm25=5.0, conversation=1, position=4, marks=int(Mark.QUESTION)),
        candidate(2, bm25=0.0, conversation=1, position=5),
        candidate(3, bm25=0.0, conversation=1, position=7),
    ]
    hits = {hit.id: hit for hit in hybrid(analyse("Which tea?", FRIENDS), rows)}
    assert "answer" in hits[2].parts
    assert hits[2].score > hits[3].score


def test_answer_to_a_question_in_other_words_is_found_among_friends() -> None:
    rows = [
        candidate(1, bm25=0.0, cosine=0.9, conversation=1, position=4, marks=int(Mark.QUESTION)),
        candidate(2, bm25=0.0, cosine=0.1, conversation=1, position=5),
        candidate(3, bm25=0.0, cosine=0.1, conversation=1, position=7),
    ]
    assert ids(hybrid(analyse("Which tea?", FRIENDS), rows)) == [2, 1, 3]
    assert ids(hybrid(analyse("Which tea?", CHAT), rows)) == [1, 3, 2]


def test_recency_is_a_choice_with_a_half_life() -> None:
    now = datetime(2024, 5, 9, tzinfo=UTC)
    rows = [candidate(2, at=at(2024, 4, 9)), candidate(1, at=at(2024, 5, 9))]
    assert ids(hybrid(analyse("tea", CHAT), rows)) == [2, 1]
    young = hybrid(analyse("tea", CHAT), rows, recency=RecencyBoost(1.0, 30, now))
    assert ids(young) == [1, 2]
    assert young[0].parts["recency"] == pytest.approx(2 * young[1].parts["recency"])


def test_weights_can_be_chosen() -> None:
    rows = [candidate(1, bm25=2.0, cosine=0.1), candidate(2, bm25=1.9, cosine=0.9)]
    assert ids(hybrid(analyse("tea"), rows)) == [2, 1]
    assert ids(hybrid(analyse("tea"), rows, weights=Weights(vector=0, session_vector=0))) == [1, 2]


def test_an_answer_in_several_places_is_looked_for_in_several_sittings() -> None:
    told = [candidate(n, bm25=2.0 - n / 100, conversation=n // 3, position=5 * n) for n in range(6)]
    one = ids(hybrid(analyse("Which tea?", CHAT), told))[:2]
    many = hybrid(analyse("How many different teas did I buy?", CHAT), told)
    assert one == [0, 1]
    assert ids(many)[:2] == [0, 3]
    assert [hit.score for hit in many] == sorted((hit.score for hit in many), reverse=True)


def test_diversity_counts_for_every_query() -> None:
    told = [candidate(n, bm25=2.0 - n / 100, conversation=n // 3, position=5 * n) for n in range(6)]
    apart = hybrid(analyse("Which tea?", CHAT), told, weights=Weights(diversity=0.3))
    assert ids(apart)[:2] == [0, 3]
    assert "spread" in apart[-1].parts


def test_an_overview_is_about_the_matter_and_takes_the_replies() -> None:
    view = analyse("Can you give me a summary of our discussions about the tea garden?", CHAT)
    assert view.terms == ("tea", "garden")
    rows = [
        candidate(1, bm25=3.0, conversation=1, position=1),
        candidate(2, bm25=0.5, conversation=1, position=2, assistant=True),
        candidate(3, bm25=0.5, conversation=1, position=7, assistant=True),
    ]
    found = {hit.id: hit for hit in hybrid(view, rows)}
    assert found[2].score > found[3].score
    assert found[2].parts["reply"] > 0


def test_what_a_query_asks_for_is_looked_for() -> None:
    rows = [candidate(1, marks=int(Mark.PLACE)), candidate(2)]
    assert ids(hybrid(analyse("Where is the tea?", CHAT), rows)) == [1, 2]
    assert ids(hybrid(analyse("Is the tea good?", CHAT), rows)) == [2, 1]


@pytest.mark.parametrize(
    ("own", "faulty"),
    [
        ({"keyword": 2, "sessionBest": 0.0}, []),
        ({"keywords": 2}, ["keywords"]),
        ({"vector": -1}, ["vector"]),
        ({"vector": True}, ["vector"]),
        ({"vector": float("nan"), "question": -1}, ["vector"]),
        ([], [""]),
    ],
)
def test_weights_of_a_workspace_have_names_and_ranges(own: object, faulty: list[str]) -> None:
    assert [fault.field for fault in faults(Weights, own)] == faulty


def test_a_faulty_weight_counts_as_not_said() -> None:
    assert Weights.of({"vector": -1, "keyword": 2}) == Weights(keyword=2.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_order_does_not_hang_on_the_order_of_the_candidates(seed: int) -> None:
    rows = [candidate(n, bm25=n % 3, conversation=n % 2, position=n) for n in range(40)]
    shuffled = random.Random(seed).sample(rows, len(rows))
    for query in ("tea", "How many different teas are there?", TURN):
        view = analyse(query, CHAT)
        assert hybrid(view, shuffled) == hybrid(view, rows)
    assert by_keyword(shuffled) == by_keyword(rows)
    assert by_vector(shuffled) == by_vector(rows)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("What are the names of her cousins?", ("name", "cousin")),
        ("What is the name of the street where her cousins live?", ("street", "cousin", "live")),
        ("Which kind?", ("kind",)),
    ],
)
def test_words_that_ask_for_a_form_are_looked_up_where_hardly_another_is(query: str, terms: tuple[str, ...]) -> None:
    assert analyse(query).terms == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("Who had the projector on 14 November?", ("projector", "novemb")),
        ("Who had the projector in room 14?", ("projector", "room", "14")),
        ("What was on 2026-11-14?", ("2026",)),
        ("What was said on 09/08/2026?", ("2026",)),
        ("03.07.2026", ("2026",)),
        ("Which bus is number 17?", ("bus", "number", "17")),
    ],
)
def test_a_number_in_a_date_is_none_of_a_room(query: str, terms: tuple[str, ...]) -> None:
    assert analyse(query).terms == terms


# passages of documents


def test_passage_beside_a_good_one_goes_before_its_equal_elsewhere() -> None:
    text = {"conversation": 7, "cosine": None}
    pool = [
        candidate(1, **text, position=3, bm25=4.0),
        candidate(2, **text, position=4, bm25=1.0),
        candidate(3, **text, position=9, bm25=1.0),
    ]
    assert ids(by_passage(pool)) == [1, 2, 3]
    assert by_passage(pool)[1].parts["neighbours"] > 0


def test_passage_of_another_text_is_no_neighbour() -> None:
    pool = [
        candidate(1, conversation=7, position=3, bm25=4.0, cosine=None),
        candidate(2, conversation=8, position=4, bm25=1.0, cosine=None),
    ]
    assert "neighbours" not in by_passage(pool)[1].parts


def test_text_of_one_passage_loses_nothing_by_having_no_neighbour() -> None:
    alone = candidate(1, conversation=7, position=0, bm25=4.0)
    others = [candidate(n, conversation=8, position=n, bm25=1.0) for n in range(2, 6)]
    before = [candidate(n, bm25=4.0 if n == 1 else 1.0) for n in range(1, 6)]
    assert by_passage([alone, *others])[0].score == pytest.approx(by_passage(before)[0].score)


@pytest.mark.parametrize(
    ("query", "side"),
    [
        ("What happened before 2020?", ("2020-01-01", True, False)),
        ("Where did I live after May 2019?", ("2019-06-01", False, False)),
        ("What did I do right after 3 May 2024?", ("2024-05-04", False, True)),
        ("What did I do the day after 3 May 2024?", None),
        ("What happened the day before yesterday?", None),
        ("What happened in 2020?", None),
        ("What did I plan before the trip of 3 May 2024?", None),
    ],
)
def test_before_and_after_a_date_lies_what_is_asked_for(query: str, side: tuple[str, bool, bool] | None) -> None:
    view = analyse(query, now=datetime(2026, 11, 18, 12, tzinfo=UTC))
    found = view.side and (
        f"{datetime.fromtimestamp(view.side.at, UTC):%Y-%m-%d}",
        view.side.is_before,
        view.side.is_near,
    )
    assert found == side
    assert side is None or not view.dates


@pytest.mark.parametrize(("of_event", "part"), [(True, "side"), (False, "date")])
def test_to_lie_after_an_event_is_told_apart_from_a_date_that_is_named(of_event: bool, part: str) -> None:
    side = EventSide(at(2026, 3, 9), is_before=False, is_near=False, of_event=of_event)
    view = replace(analyse("Which tram was late?", CHAT), side=side)
    ranked = hybrid(view, [candidate(1, at=at(2026, 3, 2)), candidate(2, at=at(2026, 3, 16))])
    assert [(hit.id, {"side", "date"} & hit.parts.keys()) for hit in ranked] == [
        (2, {part}),
        (1, set()),
    ]
