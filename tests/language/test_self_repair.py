"""Who slips and mends it in the same breath has said the second thing; who says that something was
told wrong corrects it."""

import pytest

from memories.language.english.self_repair import mended
from memories.language.english.spoken_intents import find_intents
from tests.people import Person


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("The recital is on Monday, no wait, Thursday.", "The recital is on Thursday."),
        ("my parcel number is 4411, typo, 4471", "my parcel number is 4471"),
        ("We fly out of Bergen. I tell a lie, Stavanger.", "We fly out of Stavanger."),
        ("The kennel has nine dogs, correction, ten dogs now", "The kennel has ten dogs now"),
        (
            "The talk is on the 3rd, no no, one moment, it is the 5th, the 3rd is taken",
            "The talk is on the 5th, the 3rd is taken",
        ),
        ("practice starts at half six no half seven sorry", "practice starts at half seven sorry"),
        ("The fuse box is in the hall, tell a lie, in the pantry.", "The fuse box is in the pantry."),
        ("My aunt keeps bees in Kells, Navan I mean, by the river", "My aunt keeps bees in Navan, by the river"),
        ("I play the oboe, I mean bassoon", "I play the bassoon"),
        ("My locker is 12. Not 12! 21.", "My locker is 21."),
    ],
)
def test_what_is_mended_at_once_was_meant(said: str, meant: str) -> None:
    told = mended(said)
    assert len(told) == len(said)
    assert " ".join(told.split()).replace(" .", ".").replace(" ,", ",") == meant


@pytest.mark.parametrize(
    "text",
    [
        "I live in Oslo. No, I never lived in Rome.",
        "I have two sons. Well, three cats, too.",
        "No, Monday is fine, and Tuesday is not.",
        "Hold on, my train leaves at 9. See you at 10.",
        "I mean it: Anna and Ben are lovely.",
        "Is it on Monday? No idea, Tuesday?",
        "There is no registration hold on the file of Petra.",
        "We had 3 meetings, and even 4 of us were late.",
        "Wait, Lisbon? I thought of Porto.",
    ],
)
def test_words_that_mend_nothing_stay(text: str) -> None:
    assert mended(text) == text


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        ("I misspoke about the plumber, his van says Oakley.", "", "Oakley"),
        ("brain fart about the retry limit, the docs say 7 tries, not what I told you", "", "7 tries"),
        ("I told you wrong on Friday. It is nine kilos.", "", "nine kilos"),
        ("I wrote that the hearing is in May; it is in June.", "May", "June"),
    ],
)
def test_what_was_told_wrong_is_corrected(text: str, old: str, new: str) -> None:
    (order,) = find_intents(text)
    assert (order.kind, order.old, order.new) == ("correct", old, new)


def test_a_mended_slip_is_believed_and_corrects_nothing_else(alice: Person) -> None:
    about = {"user_id": "u1", "thread_id": "t1"}
    alice.say("My yoga class is on Monday.", **about)
    alice.say("My dentist appointment is on Tuesday, no wait, Wednesday.", **about)
    live = " ".join(alice.live())
    assert "Monday" in live
    assert "Wednesday" in live
    assert "Tuesday" not in live
