"""Work grows with a text and no faster, whatever the text; and what is too long to be believed is
kept and found."""

import gc
import resource
import time
from collections.abc import Callable

import pytest

from memories import ingest
from memories.index import check, workspace_index
from memories.ingest import IngestRequest, NewMessage
from memories.language import bounds
from memories.language.bounds import Budget
from memories.language.english import find_claims
from memories.models import Citation, Episode, Memory, MemorySession, Vector
from tests.api_fixtures import Caller, caller
from tests.long_texts import (
    AT,
    OTHERS,
    PIECES,
    PROSE,
    READERS,
    WITHIN,
    deep,
    reading_a_text,
    text_of,
)
from tests.people import Person

SIZE = 12_000  # characters; what is quadratic takes thousands of times what it should
TRIFLE = 0.004  # seconds for twice as many: too little to be compared, and enough for no harm
DOUBLE = 3.0  # twice the work, and what a busy machine's caches add; a square would be four times
TRIES = 9
INGEST = "/memories/ingest"
JUNK = "Orchard gate ladder press. "
KINDS: dict[str, Callable[[int], str]] = {
    "deep quotations": deep,
    **{kind: (lambda size, kind=kind: text_of(kind, size)) for kind in PIECES},
}


@pytest.fixture
def http(alice: Person) -> Caller:
    return caller(alice)


def work(read: Callable[[str], object], text: str, runs: int = 1) -> float:
    """Seconds of processor time of this thread, the least of some runs; each text is new to the
    caches."""
    least = float("inf")
    for run in range(runs):
        fresh = f"{run}{time.perf_counter_ns()} {text}"
        gc.disable()
        started = time.thread_time()
        read(fresh)
        least = min(least, time.thread_time() - started)
        gc.enable()
    return least


def grows_faster(read: Callable[[str], object], make: Callable[[int], str], size: int) -> float:
    """By how much more than DOUBLE the work grows with twice the text; 0 where it does not, or not
    again from there to four times the text."""
    once, twice, four = make(size), make(2 * size), make(4 * size)
    ratio = 0.0
    for runs in range(1, TRIES):
        most = work(read, twice, runs)
        ratio = most / work(read, once, runs) if most > TRIFLE else 0.0
        if ratio <= DOUBLE:
            return 0.0
    again = work(read, four, TRIES) / work(read, once, TRIES)
    return ratio if again > DOUBLE**2 else 0.0


def test_every_function_that_reads_a_text_is_tried() -> None:
    found = set(reading_a_text())
    assert found - OTHERS - READERS.keys() == set()
    assert (READERS.keys() | OTHERS) - found == set()


@pytest.mark.parametrize("name", [*READERS, *WITHIN])
def test_twice_the_text_is_at_most_twice_the_work(name: str) -> None:
    read = {**READERS, **WITHIN}[name]
    worse = {kind: grows_faster(read, make, SIZE) for kind, make in KINDS.items()}
    assert {kind: round(ratio, 1) for kind, ratio in worse.items() if ratio} == {}


MAIN = ("deep quotations", "x", "prose", "a sentence without end", "short lines", "marks")


@pytest.mark.parametrize("kind", MAIN)
def test_an_ingest_of_twice_the_text_is_at_most_twice_the_work(alice: Person, kind: str) -> None:
    def tell(text: str) -> None:
        assert alice.tell(text, extract="auto").state == "done"

    alice.tell("What is made on first use is made.")
    assert grows_faster(tell, KINDS[kind], 120_000) == 0.0


def test_a_text_of_megabytes_takes_a_bounded_memory(alice: Person) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    session = alice.tell(text_of("x", 2_000_000), extract="auto")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert (session.state, Episode.objects.get().content[-2:]) == ("done", "x ")
    assert grown < 300_000  # kilobytes


# ---- what is believed of a long text, and how it is found


@pytest.mark.parametrize("extract", ["auto", "none"])
def test_a_text_longer_than_a_memory_is_kept_as_it_was_and_nothing_is_believed(http: Caller, extract: str) -> None:
    text = (JUNK * 80)[: bounds.WHOLE + 1]
    answer = http.post(INGEST, {"content": text, "extract": extract})
    assert (answer.status, answer.body.keys()) == (202, {"sessionId", "status"})
    session = http.get(f"/sessions/{answer.body['sessionId']}").body
    assert (session["status"], session["memoriesCreated"]) == ("done", 0)
    assert "more than 2000 characters" in session["reason"]
    assert (Memory.objects.count(), Episode.objects.get().content) == (0, text)


def test_a_long_text_that_is_not_read_at_all_is_answered_likewise(http: Caller) -> None:
    answer = http.post(INGEST, {"content": '{"a": [1, 2, 3], "b": {"c": "d"}}\n' * 100})
    session = http.get(f"/sessions/{answer.body['sessionId']}").body
    assert (answer.status, session["status"], session["reason"]) == (202, "done", "skipped: dump")


def test_a_text_as_long_as_a_memory_may_be_is_one(http: Caller) -> None:
    text = (JUNK * 80)[: bounds.WHOLE - 1] + "."
    answer = http.post(INGEST, {"content": f"  {text}\n"})
    assert (answer.status, Memory.objects.get().content) == (201, text)


def test_of_messages_kept_whole_only_the_long_one_is_no_memory(alice: Person) -> None:
    session = alice.say("First things first.", JUNK * 100, extract="none")
    assert (alice.live(), session.state) == (["First things first."], "done")
    assert "nothing is believed of 1" in session.reason


def test_by_hand_a_memory_is_at_most_as_long(http: Caller) -> None:
    long, short = "x" * (bounds.WHOLE + 1), "x" * bounds.WHOLE
    made = http.post("/memories", {"content": short})
    assert made.status == 201
    for answer in (
        http.post("/memories", {"content": long}),
        http.patch(f"/memories/{made.body['id']}", {"content": long}),
    ):
        assert (answer.status, answer.fields) == (400, ["content"])


def test_a_statement_that_goes_on_and_on_is_not_believed(alice: Person) -> None:
    session = alice.say(f"I love my {'very ' * 70}old cat.", "I love my blue bird.")
    assert alice.live() == ["User loves their blue bird"]
    assert "more than 300 characters" in session.reason


def test_of_a_long_message_the_beginning_is_believed_and_the_rest_is_said_to_wait(
    alice: Person,
) -> None:
    said = f"I live in Lisbon. {'It rained. ' * bounds.READ_WORDS} I work in Porto."
    session = alice.say(said)
    assert alice.live() == ["User lives in Lisbon"]
    assert "the beginning was read" in session.reason
    assert Citation.objects.get().quote == "I live in Lisbon."


def test_reading_ends_when_its_time_is_spent() -> None:
    spent = Budget(seconds=0.0)
    assert find_claims.extract(PROSE, "Anna", AT, budget=spent) == []
    assert spent.is_spent
    assert find_claims.extract(PROSE, "Anna", AT, budget=Budget())


def test_every_word_of_a_long_text_is_found(alice: Person) -> None:
    words = " ".join(f"w{number:x}q" for number in range(40_000))  # more than one entry weighs
    alice.tell(f"{words} zanzibar")
    alice.tell("Something else altogether.")
    for word in ("zanzibar", "w9c3fq", "w1388q"):
        assert [hit.layer for hit in alice.ask(word, layers=("episodes",))][:1] == ["episodes"]
        for ranking in ("hybrid", "keyword"):
            assert alice.finds(word, layers=("episodes",), ranking=ranking)[0].startswith("w0q")


def test_each_passage_of_a_long_text_has_a_vector(alice: Person) -> None:
    alice.tell(f"{JUNK * 6_000} The zeppelin museum opens at nine.")
    parts = Vector.objects.order_by("part").values_list("part", flat=True)
    assert list(parts) == list(range(len(parts)))
    assert len(parts) > 300


def test_what_is_long_waits_for_the_worker_and_is_whole_then(alice: Person) -> None:
    request = IngestRequest(content=PROSE * 400, user_id="anna")
    session = ingest.ingest(alice.scope, request)
    assert (session.state, Vector.objects.count()) == ("received", 0)
    ingest.run(session.pk)
    assert MemorySession.objects.get().state == "done"
    assert agrees(alice)


def test_the_index_agrees_with_long_messages_among_short_ones(alice: Person) -> None:
    long = NewMessage(PROSE * 400)
    alice.say("I like tea.", long, "I like jam.", thread_id="t")
    alice.say("We like rain.", thread_id="t")
    assert agrees(alice)


def agrees(person: Person) -> bool:
    space = workspace_index.index_of(person.workspace.pk)
    return check.check_index(space, lambda _: None).holds
