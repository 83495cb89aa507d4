"""What a person asks to forget after long talks goes in each of its wordings, an assistant's echoes
and other talks too; where something is left that may tell of it, a person is asked, and it is not
said to be done."""

from typing import Any

import pytest

from memories.belief import cases
from memories.belief.cases import CaseDecision
from memories.ingest import NewMessage
from memories.models import Case, Episode, Intent, MaskedSpan
from memories.profiles.summaries import talk_summaries
from memories.reading import intents
from memories.search import SearchRequest
from memories.search.context import context
from tests.people import Person

CHAT = (
    "I am repainting the hallway this week.",
    "The bus was late again.",
    "I cooked lentil soup for four.",
    "A neighbour lent me a ladder.",
)


def machine(text: str) -> NewMessage:
    return NewMessage(text, role="assistant")


def talk(person: Person, number: int, *told: str | NewMessage) -> None:
    """One talk of several, with other things between."""
    said: list[str | NewMessage] = []
    for place, each in enumerate(told):
        said += [CHAT[(number + place) % len(CHAT)], machine("I see."), each]
    person.say(*said, user_id="u1", thread_id=f"t{number}", extract="patterns")


def order(person: Person, text: str, **options: Any) -> Intent:
    wish = NewMessage(text, **options)
    person.say("Thanks for the tips.", machine("Welcome."), wish, user_id="u1", thread_id="t9")
    return Intent.objects.latest("pk")


def told(person: Person, query: str) -> str:
    """What a context, the messages, the memories and the summaries hold."""
    for row in [*talk_summaries.due_rows()]:
        talk_summaries.make(row)
    rows = Episode.objects.filter(workspace=person.workspace)
    found = [context(person.scope, SearchRequest(query, user_id="u1"), floor=0).text]
    found += [*rows.values_list("content", flat=True), *person.live()]
    for layer in ("summaries", "features"):
        found += [str(hit.row.content) for hit in person.ask(query, layers=(layer,))]
    return " ".join(found)


def names(person: Person, query: str, *words: str) -> list[str]:
    text = told(person, query)
    return [word for word in words if word in text]


def decide(person: Person, intent: Intent, what: str) -> None:
    assert intent.case_id is not None
    cases.decide_case(person.scope, intent.case_id, CaseDecision(intent=what))


def test_a_person_who_is_never_to_be_mentioned_is_in_no_talk(alice: Person) -> None:
    talk(alice, 1, "I broke up with Ilse in May.", machine("I'm sorry about you and Ilse."))
    talk(alice, 2, "Ilse took the sofa.", machine("That must hurt, after Ilse."))
    talk(alice, 3, "Since the split from Ilse I live in a small flat.")
    intent = order(alice, "Never mention Ilse again, please.")
    assert intent.state == "done"
    assert names(alice, "Who is Ilse?", "Ilse") == []
    intents.undo(alice.scope, intent.pk)
    assert "Ilse" in told(alice, "Who is Ilse?")


def test_what_a_name_in_the_order_leaves_open_is_kept_back_and_asked_about(alice: Person) -> None:
    talk(alice, 1, "I was let go from Brantwood in March.", machine("So Brantwood let you go."))
    talk(alice, 2, "Since Brantwood fired me I sleep badly.")
    talk(alice, 3, "Brantwood still owes me my last pay.", machine("Write to Brantwood."))
    intent = order(alice, "Please forget what I told you about losing my job at Brantwood.")
    assert (intent.state, intent.reason) == ("case", "not surely meant")
    assert not any("Brantwood" in text for text in alice.live())
    decide(alice, intent, "do")
    own = Episode.objects.filter(kind="user").values_list("content", flat=True)
    assert not any("Brantwood" in text for text in own)
    assert not any("Brantwood" in text for text in alice.live())


def test_other_wordings_with_its_name_and_figures_are_asked_about(alice: Person) -> None:
    talk(alice, 1, "I owe my cousin Teodor 7,400 euros.", machine("You owe Teodor 7,400 euros."))
    talk(alice, 2, "I paid Teodor 400 back, 7,000 are left.")
    intent = order(alice, "Delete everything about the money I owe Teodor from your memory.")
    assert (intent.state, intent.reason) == ("case", "another message may tell of it")
    query = "How much do I owe Teodor?"
    assert names(alice, query, "7,400", "7,000", "Teodor") == []  # until somebody decides
    decide(alice, intent, "do")
    assert Intent.objects.get(pk=intent.pk).state == "done"
    assert names(alice, query, "7,400", "7,000", "Teodor") == []


def test_what_is_left_as_it_is_comes_back(alice: Person) -> None:
    talk(alice, 1, "I owe my cousin Teodor 7,400 euros.", machine("You owe Teodor 7,400 euros."))
    talk(alice, 2, "I paid Teodor 400 back, 7,000 are left.")
    intent = order(alice, "Delete everything about the money I owe Teodor from your memory.")
    decide(alice, intent, "leave")
    assert not MaskedSpan.objects.exists()
    assert names(alice, "Teodor", "7,400", "7,000") == ["7,400", "7,000"]


def test_an_assistants_echo_in_another_talk_goes_with_it(alice: Person) -> None:
    talk(alice, 1, "I live at 14 Quarry Lane in Hexham.", machine("14 Quarry Lane, noted."))
    talk(alice, 2, "My bike is green.", machine("I can send it to Quarry Lane in Hexham."))
    intent = order(alice, "Please forget where I live.")
    assert intent.state == "done"
    assert names(alice, "Where do I live?", "Quarry", "Hexham") == []
    assert "My bike is green." in told(alice, "bike")


def test_where_the_person_says_it_again_in_other_words_it_is_not_done(alice: Person) -> None:
    talk(alice, 1, "I live at 14 Quarry Lane in Hexham.", machine("14 Quarry Lane, noted."))
    talk(alice, 2, "The parcel went to Quarry Lane, but I was out.")
    intent = order(alice, "Please forget where I live.")
    assert (intent.state, intent.reason) == ("case", "another message may tell of it")
    decide(alice, intent, "do")
    assert names(alice, "Where do I live?", "Quarry", "Hexham") == []


@pytest.mark.parametrize(
    ("said", "echo", "wish", "word"),
    [
        (
            "I have a dog named Rufusko.",
            "Rufusko is such a name!",
            "Please forget that I have a dog named Rufusko.",
            "Rufusko",
        ),
        (
            "I am allergic to quinoabeans.",
            "Thanks, noted: quinoabeans!",
            "Please delete from your memory that I am allergic to quinoabeans.",
            "quinoabeans",
        ),
    ],
)
def test_an_echo_of_the_name_alone_goes_with_it(alice: Person, said: str, echo: str, wish: str, word: str) -> None:
    talk(alice, 1, said, machine(echo))
    talk(alice, 2, "My bike is green.", machine("A green bike suits you."))
    alice.say(wish, user_id="u1", thread_id="t1", extract="patterns")
    intent = Intent.objects.get()
    assert intent.state == "done"
    assert names(alice, word, word) == []
    assert "A green bike suits you." in told(alice, "bike")
    intents.undo(alice.scope, intent.pk)
    assert echo in told(alice, word)


def test_an_echo_of_the_name_goes_with_what_was_called_private(alice: Person) -> None:
    wish = "That was private. Please forget it."
    said = ("I have a tattoo of a Wolpertinger.", machine("Noted: Wolpertinger!"), wish)
    alice.say(*said, user_id="u1", thread_id="t1", extract="patterns")
    assert Intent.objects.get().state == "done"
    assert names(alice, "Which tattoo?", "Wolpertinger") == []


def test_an_answer_that_names_it_later_tells_it_no_more(alice: Person) -> None:
    talk(alice, 1, "I have a dog named Rufusko.", "I met Ines in Oslo.")
    assert order(alice, "Please forget that I have a dog named Rufusko.").state == "done"
    answer = machine("Sure, I won't mention Rufusko again. You met Ines in Oslo.")
    alice.say(answer, user_id="u1", thread_id="t9")
    assert names(alice, "Who is Rufusko?", "Rufusko") == []
    assert "You met Ines in Oslo." in told(alice, "Ines")


@pytest.mark.parametrize("what", ["do", "leave"])
def test_what_one_told_first_and_others_repeat_is_kept_back_until_decided(alice: Person, what: str) -> None:
    def by(name: str, text: str) -> NewMessage:
        return NewMessage(text, name=name)

    talk(alice, 1, by("Ada", "I am pregnant, the baby comes in October."))
    talk(alice, 1, by("Bram", "Wow, Ada is pregnant!"), machine("Ada is pregnant, noted."))
    talk(alice, 2, by("Cleo", "Ada is pregnant, so who covers the autumn?"))
    intent = order(alice, "Please forget that I am pregnant. Nobody is to know.", name="Ada")
    assert (intent.state, intent.reason) == ("case", "somebody else's words")
    assert Case.objects.get(pk=intent.case_id).kind == Case.Kind.INTENT
    others = Episode.objects.filter(author__in=["Ada", "Bram"]).exclude(pk=intent.episode_id)
    shown = " ".join(others.values_list("content", flat=True))
    assert "baby comes" not in shown
    assert "Ada is pregnant!" not in shown
    decide(alice, intent, what)
    assert ("baby comes" in told(alice, "Is Ada pregnant?")) is (what == "leave")
