"""What was forgotten stays so where an assistant, a tool or a document tells it again."""

from typing import Any

import pytest
from django.utils import timezone

from memories import ingest
from memories.belief import review
from memories.belief.review import taken_words
from memories.errors import Conflict
from memories.ingest import NewMessage
from memories.models import (
    Chunk,
    Document,
    DocumentPart,
    Episode,
    Intent,
    MaskedSpan,
    Memory,
    MemorySession,
    Revision,
)
from memories.privacy import masks
from memories.reading import intents
from tests.handed_in import hand_in, zipped
from tests.people import Person, with_key
from workspaces.keys import KeyOptions

SALARY, FORGET = "My salary is 73,500 euros.", "Please forget my salary."
AGAIN = "As you asked: your salary of 73,500 euros is forgotten."


def tell(person: Person, *messages: Any, **options: Any) -> None:
    for message in messages:
        person.say(message, **{"user_id": "u1", "thread_id": "t1", **options})


def assistant(text: str) -> NewMessage:
    return NewMessage(text, role="assistant")


def said(person: Person) -> str:
    rows = Episode.objects.filter(workspace=person.workspace)
    return " ".join(rows.values_list("content", flat=True))


def test_what_an_answer_quotes_is_masked(alice: Person) -> None:
    tell(alice, "I am allergic to penicillin.", "Please forget my allergy.")
    tell(alice, assistant("You told me: I am allergic to penicillin."))
    assert "penicillin" not in said(alice)


@pytest.mark.parametrize("role", ["assistant", "tool"])
@pytest.mark.parametrize("thread", ["t1", "t2"])
def test_what_others_tell_again_is_masked(alice: Person, role: str, thread: str) -> None:
    tell(alice, SALARY, FORGET)
    tell(alice, NewMessage(f"Very well. {AGAIN}", role=role), thread_id=thread)
    assert "73,500" not in said(alice)
    assert "Very well." in said(alice)
    assert not alice.finds("73,500", layers=("episodes",), ranking="keyword")
    intents.undo(alice.scope, Intent.objects.get().pk)
    assert AGAIN in said(alice)


def test_what_an_answer_in_the_same_request_repeats_is_masked(alice: Person) -> None:
    alice.say(SALARY, FORGET, assistant(AGAIN), user_id="u1", thread_id="t1")
    assert "73,500" not in said(alice)


def test_what_is_never_to_be_mentioned_is_masked_too(alice: Person) -> None:
    tell(alice, "My father died in a fire.", "Never bring up my father's death again.")
    tell(alice, assistant("I know that your father died in a fire, and won't say so."))
    assert "died in a fire" not in said(alice)


def test_what_a_person_tells_again_is_his_word(alice: Person) -> None:
    tell(alice, SALARY, FORGET, SALARY, assistant(AGAIN))
    assert f"{SALARY} {AGAIN}" in said(alice)
    assert any("73,500" in text for text in alice.live())


@pytest.mark.parametrize(
    "text",
    [
        "Salaries in Lisbon are 40,000 euros on average.",
        "Would you like to talk about your salary?",
        "The flat that you asked for costs 73,500 euros.",
        "Your dog needs a walk.",
    ],
)
def test_what_is_not_the_same_stays(alice: Person, text: str) -> None:
    tell(alice, SALARY, FORGET, assistant(text))
    assert text in said(alice)


def test_nobody_elses_assistant_is_screened(alice: Person) -> None:
    tell(alice, SALARY, FORGET)
    tell(alice, assistant(AGAIN), user_id="u2", thread_id="t9")
    assert AGAIN in said(alice)


NOTES = "# Notes\n\nI keep bees. My salary is 73,500 euros a year. The hive is green."


def written() -> dict[str, str]:
    rows = Revision.objects.select_related("document__subject")
    return {row.document.subject.external_id if row.document.subject else "": row.text for row in rows}


def test_documents_of_the_same_person_are_masked_that_no_memory_cites(alice: Person) -> None:
    tell(alice, SALARY)
    for user in ("u1", "u2", ""):
        hand_in(alice, NOTES, user_id=user, extract="none")
    tell(alice, FORGET)
    texts = written()
    assert "73,500" not in texts["u1"]
    assert "I keep bees." in texts["u1"]
    assert "The hive is green." in texts["u1"]
    assert "73,500" in texts["u2"]
    assert "73,500" in texts[""]
    found = alice.finds("73,500", layers=("chunks",), ranking="keyword", user_id="u1")
    assert len(found) == 1  # nobody's
    intents.undo(alice.scope, Intent.objects.get().pk)
    assert "73,500" in written()["u1"]


def test_a_document_that_comes_later_is_masked(alice: Person) -> None:
    tell(alice, SALARY, FORGET)
    for user in ("u1", "u2"):
        hand_in(alice, NOTES, user_id=user, extract="none")
    texts = written()
    assert "73,500" not in texts["u1"]
    assert "I keep bees." in texts["u1"]
    assert "73,500" in texts["u2"]


def names_of(person: Person) -> str:
    """All that its documents are called, and what stands over their passages."""
    rows = Document.objects.filter(workspace=person.workspace).order_by("pk")
    parts = DocumentPart.objects.values_list("label", flat=True)
    chunks = Chunk.objects.values_list("heading", flat=True)
    titles = [
        *rows.values_list("title", flat=True),
        *Revision.objects.values_list("title", flat=True),
    ]
    return " ".join([*titles, *parts, *chunks])


def test_headings_and_titles_of_a_document_that_comes_later_are_masked_and_come_back(
    alice: Person,
) -> None:
    tell(alice, SALARY, FORGET)
    words = f"# {SALARY}\n\nI keep bees.\n\n## Hives\n\nThe hive is green."
    document = hand_in(alice, words, user_id="u1", extract="none")
    assert "73,500" not in names_of(alice)
    assert "Hives" in names_of(alice)
    assert "73,500" not in str(alice.finds("hive", layers=("chunks",), user_id="u1"))
    intents.undo(alice.scope, Intent.objects.get().pk)
    assert names_of(alice).count("73,500") == 4  # document, revision, part, chunk
    assert Document.objects.get(pk=document.pk).title == SALARY


def test_names_that_the_text_of_a_document_does_not_tell_are_masked(alice: Person) -> None:
    tell(alice, SALARY, FORGET)
    archive = zipped({f"{SALARY}md": "# Bees\n\nI keep bees.", "hives.md": "Green ones."})
    hand_in(alice, archive, user_id="u1", extract="none", filename="notes.zip")
    hand_in(alice, "I keep bees.", user_id="u1", extract="none", title=SALARY)
    assert "73,500" not in names_of(alice)
    assert "hives.md" in names_of(alice)
    title = Document.objects.get(filename="").title
    assert title == "█" * len(SALARY)
    intents.undo(alice.scope, Intent.objects.get().pk)
    assert Document.objects.get(filename="").title == SALARY


def test_names_of_nobody_elses_document_are_masked(alice: Person) -> None:
    tell(alice, SALARY, FORGET)
    hand_in(alice, f"# {SALARY}\n\nI keep bees.", user_id="u2", extract="none", title=SALARY)
    assert names_of(alice).count("73,500") == 4


@pytest.mark.parametrize("last", [1, 2, 4])
def test_an_order_whose_process_ended_in_the_middle_is_done_whole_and_can_be_taken_back(
    alice: Person, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its words are taken out of many texts in several transactions."""
    monkeypatch.setattr(taken_words, "BATCH", 2)
    tell(alice, SALARY)
    for number in range(7):
        tell(alice, assistant(f"{number}: {AGAIN}"), thread_id=f"t{number}")
    before, mask, left = said(alice), masks.mask_episodes, [last]

    def dying(*given: Any) -> Any:
        made = mask(*given)
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return made

    monkeypatch.setattr(masks, "mask_episodes", dying)
    with pytest.raises(KeyboardInterrupt):
        tell(alice, FORGET)
    session = MemorySession.objects.latest("created_at")
    assert Intent.objects.get().state == Intent.State.HEARD
    MemorySession.objects.filter(pk=session.pk).update(lease_until=None, next_attempt_at=timezone.now())
    assert ingest.run(session.pk) is not None

    order = Intent.objects.get()
    assert (order.state, len(order.memory_ids)) == (Intent.State.DONE, 1)
    assert "73,500" not in said(alice)
    assert alice.live() == []
    left[0] = -1
    intents.undo(alice.scope, order.pk)
    assert said(alice) == f"{before} {FORGET}"
    assert not MaskedSpan.objects.exists()


def test_words_that_a_stopped_undo_left_return_when_it_is_asked_again(
    alice: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taken_words, "BATCH", 2)
    tell(alice, SALARY)
    for number in range(5):
        tell(alice, assistant(f"{number}: {AGAIN}"), thread_id=f"t{number}")
    tell(alice, FORGET)
    order, unmask, left = Intent.objects.get(), masks.unmask, [3]

    def dying(*given: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return unmask(*given)

    monkeypatch.setattr(masks, "unmask", dying)
    with pytest.raises(KeyboardInterrupt):
        intents.undo(alice.scope, order.pk)
    assert MaskedSpan.objects.exists()
    intents.undo(alice.scope, order.pk)
    assert said(alice).count("73,500") == 6
    assert not MaskedSpan.objects.exists()
    with pytest.raises(Conflict):
        intents.undo(alice.scope, order.pk)


DOG = "Ada has a dog named Behemoth."


def private(person: Person, text: str = "I have a dog named Behemoth.") -> Memory:
    pk = person.say(NewMessage(text, name="Ada"), user_id="ada").created_ids[0]
    review.forget(person.scope, pk, "private")
    return Memory.objects.get(pk=pk)


@pytest.mark.parametrize("told", [DOG, "Ada called. She has a dog named Behemoth.", f"# {DOG}\n\nThe hive is green."])
def test_a_document_about_nobody_tells_nothing_that_whom_it_names_had_forgotten_as_private(
    alice: Person, told: str
) -> None:
    memory = private(alice)
    hand_in(alice, f"{told}\n\nOskar keeps bees.", extract="none")
    assert "Behemoth" not in Revision.objects.get().text + names_of(alice)
    assert "Oskar keeps bees." in Revision.objects.get().text
    assert "Behemoth" not in str(alice.finds("dog named Behemoth", layers=("chunks",)))
    review.restore(alice.scope, memory.pk)
    assert told in Revision.objects.get().text


@pytest.mark.parametrize(
    "told",
    ["Oskar has a dog named Behemoth.", "Ada and Oskar met. Oskar has a dog named Behemoth."],
)
def test_a_document_about_nobody_tells_of_others_what_it_said(alice: Person, told: str) -> None:
    private(alice)
    hand_in(alice, told, extract="none")
    assert Revision.objects.get().text.strip() == told


def test_what_is_wrong_stays_in_a_document_about_nobody(alice: Person) -> None:
    [pk] = alice.say(NewMessage("I have a dog named Behemoth.", name="Ada"), user_id="ada").created_ids
    review.forget(alice.scope, pk, "wrong")
    hand_in(alice, DOG, extract="none")
    assert Revision.objects.get().text.strip() == DOG


def test_what_a_document_about_nobody_told_before_goes_with_what_is_private(alice: Person) -> None:
    for words in (DOG, "Oskar has a dog named Behemoth."):
        hand_in(alice, words, extract="none")
    memory = private(alice)
    texts = [row.text.strip() for row in Revision.objects.order_by("pk")]
    assert texts == ["█" * len(DOG), "Oskar has a dog named Behemoth."]
    review.restore(alice.scope, memory.pk)
    assert Revision.objects.order_by("pk")[0].text.strip() == DOG


def test_a_key_limited_to_spaces_learns_nothing_private_by_guessing(alice: Person) -> None:
    private(alice)
    limited = with_key(alice.workspace, KeyOptions("shelf", container_tags=("shelf",)))
    hand_in(limited, DOG, extract="none", container_tags=("shelf",))
    assert Revision.objects.get().text.strip() == DOG


def test_another_workspaces_document_about_nobody_is_its_own(alice: Person, mallory: Person) -> None:
    private(alice)
    hand_in(mallory, DOG, extract="none")
    assert Revision.objects.get().text.strip() == DOG
