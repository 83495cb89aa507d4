"""Words that are said of a plan, a song, a file or a mood make nothing forgotten; an order that
says what it means is done, and one that may mean more than one thing is asked about."""

import pytest

from memories.ingest import NewMessage
from memories.language.english.order_evidence import evidence_of
from memories.language.english.spoken_intents import find_intents
from memories.models import Case, Episode, Intent, MaskedSpan, Memory
from tests.people import Person

LIFE = (
    "My troubles with the bank began in May.",
    "I take the ring road to work.",
    "My old life in Hull was lonely.",
    "I keep the config files of my boat in a repository.",
    "I work as a carpenter.",
    "My name is Ottilie.",
)
ABOUT = {"user_id": "u1", "thread_id": "t1"}


@pytest.fixture
def telling(alice: Person) -> Person:
    for text in LIFE:
        alice.say(text, **ABOUT)
    return alice


def untouched(person: Person) -> bool:
    """Every memory is believed, and each word stands."""
    rows = Episode.objects.filter(workspace=person.workspace)
    words = " ".join(rows.values_list("content", flat=True))
    ended = Memory.objects.filter(forgotten_at__isnull=False)
    return not (ended.exists() or MaskedSpan.objects.exists()) and all(t in words for t in LIFE)


@pytest.mark.parametrize(
    "text",
    [
        "Forget my troubles!",
        "Come on, forget my troubles and dance with me.",
        "Forget my old life and start over.",
        "Forget my old life.",
        "Delete them, git remembers.",
        "Please delete them, git remembers everything.",
        "Delete those files, please.",
        "Forget the ring road today.",
        "Please forget about the ring road today.",
        "Forget my name, forget my face, forget my warm embrace.",
        "Forget my job, let's sail away.",
        "Forget me.",
        "Forget everything!",
        "Stop talking about work.",
        "Don't just discuss it.",
        "Don't talk about my job until Monday.",
        "Forget all this 'ring road' grammar.",
        "Can you remove the boat?",
        "Drop the ring road.",
        "Scrap my old life.",
        "Get rid of the repository.",
        "Deleted troubles are not part of your memory.",
        "Don't remember when I took the ring road.",
        "Don't really remember where I keep the config files.",
    ],
)
def test_nothing_is_forgotten_by_accident(telling: Person, text: str) -> None:
    telling.say(text, **ABOUT)
    assert not Intent.objects.filter(state="done").exists()
    assert untouched(telling)


@pytest.mark.parametrize(
    "text",
    [
        "Forget what I told you about my job.",
        "Please forget my job.",
        "Forget my job.",
        "Remove my job from your memory.",
        "Never mention my job again.",
        "I'd rather you didn't store my job.",
        "Please forget my troubles.",
    ],
)
def test_an_order_that_says_what_it_means_is_done(telling: Person, text: str) -> None:
    telling.say(text, **ABOUT)
    assert Intent.objects.get().state == "done"
    assert Memory.objects.filter(forgotten_at__isnull=False).count() == 1


def test_much_that_has_the_same_name_is_not_kept_back_on_a_guess(alice: Person) -> None:
    for text in ("led", "won", "left", "praised", "sold", "joined", "saved", "named"):
        alice.say(f"I {text} the Orion team with Ruth in May.", **ABOUT)
    alice.say("Please forget what I told you about the Orion hangar lease.", **ABOUT)
    assert Intent.objects.get().state == "case"
    assert not MaskedSpan.objects.exists()


def test_words_that_may_mean_more_than_one_thing_are_asked_about(alice: Person) -> None:
    for text in ("I work as a carpenter.", "My sister works as a diver.", "I like tea."):
        alice.say(text, **ABOUT)
    alice.say("Please forget about work.", **ABOUT)
    intent = Intent.objects.get()
    assert (intent.state, len(intent.memory_ids)) == ("case", 2)
    assert not MaskedSpan.objects.exists()


@pytest.mark.parametrize("part", ["Mount Elbrus", "the hotel at Elbrus"])
def test_a_text_that_was_written_for_somebody_is_not_the_memory(alice: Person, part: str) -> None:
    alice.say("I climbed Mount Elbrus in May.", **ABOUT)
    alice.say("Write me a passage about Mount Elbrus and its glaciers.", **ABOUT)
    passage = "Mount Elbrus is the highest peak of the Caucasus. Its glaciers are old."
    alice.say(NewMessage(passage, role="assistant"), **ABOUT)
    alice.say(f"Good, just remove the part about {part}.", **ABOUT)
    assert not Intent.objects.filter(state="done").exists()
    assert any("Elbrus" in text for text in alice.live())
    assert not MaskedSpan.objects.exists()


def test_a_request_tells_nothing_that_could_be_forgotten(alice: Person) -> None:
    alice.say("Can you describe the lighthouse of Skagen?", **ABOUT)
    alice.say("Please forget the lighthouse.", **ABOUT)
    assert Intent.objects.get().state == "nothing_found"
    assert not MaskedSpan.objects.exists()


def test_what_is_near_in_meaning_alone_is_asked_about(alice: Person) -> None:
    alice.say("I converted to Buddhism.", **ABOUT)
    alice.say("Please forget the monastery.", **ABOUT)
    assert not Intent.objects.filter(state="done").exists()
    assert Case.objects.count() <= 1


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("Forget what I said about Ben.", {"names_told", "is_alone"}),
        ("Please erase my rent from your notes.", {"names_memory", "names_told", "is_asked"}),
        ("Nobody needs to know that. Erase it.", {"is_private", "is_deleting", "is_alone"}),
        ("Forget my salary.", {"is_of_himself", "is_alone"}),
        ("Forget the road today.", {"is_alone", "is_passing"}),
        ("Delete them, git remembers.", {"is_deleting"}),
    ],
)
def test_signs_of_an_order_are_seen(text: str, signs: set[str]) -> None:
    found = evidence_of(text, find_intents(text)[-1])
    assert signs <= {name for name in found.__slots__ if getattr(found, name)}
