"""What is worth keeping: the labelled stories, and the rules they are judged by."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memories.evaluation import evaluation_report, worth_stories
from memories.evaluation.worth_stories import WORTH
from memories.ingest import NewMessage
from memories.language.english import find_claims, referents
from memories.language.english.write_dates import end_of_state, with_dates
from memories.meters import skip_counts
from memories.models import Memory
from memories.transcripts import Unreadable
from tests.people import Person


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I've measured the sides to be six. I started counting. I am learning Greek.", ["User is learning Greek"]),
        ("Painting's a fun way to be creative.", []),
        ("Running a shop sounds like a great plan for winter.", []),
        ("I haven't talked with everyone in weeks.", []),
    ],
)
def test_the_work_at_hand_and_the_talk_itself_are_no_news(text: str, kept: list[str]) -> None:
    found = find_claims.extract(text, "", datetime(2026, 3, 1, tzinfo=UTC))
    assert [each.statement for each in found if not each.unworthy] == kept


@pytest.mark.parametrize(
    ("speaker", "text", "kept"),
    [
        ("", "I use Django 5.2 for the shop, here's my file", "User uses Django 5.2 for the shop"),
        ("", "I want to ensure the sidebar collapses on small screens", ""),
        ("", "I want you to teach me how to wire it", ""),
        ("", "I want you to be blunt with me", "User wants you to be blunt with them"),
        (
            "",
            "Always include a source when I ask about doses",
            "User asks the assistant to always include a source when User asks about doses",
        ),
        ("", "I want to open my own bakery by 2028", "User wants to open their own bakery by 2028"),
        ("Ravi", "Procurement note for Alder: the vendor is Brightlock", "The vendor is Brightlock"),
        ("Ravi", "A gift from my aunt in our old village", ""),
        ("", "The guilt, especially for my mother and her two sisters in Graz 2019", ""),
        ("Ravi", "Been a crazy few weeks", ""),
        ("Ravi", "I haven't been there yet", ""),
        ("Ravi", "Approved budget for Alder is now 228,000 USD", ""),
        ("Ravi", "It is my favourite and never gets old", ""),
        (
            "Ravi",
            "This lamp I carved last winter stands on my desk",
            "A lamp Ravi carved last winter stands on their desk",
        ),
        ("Ravi", "My youngest broke her arm on the slide", "Ravi's youngest broke her arm on the slide"),
        (
            "Ravi",
            "Last Monday I marched on a journey for clean water with two neighbours",
            "Last Monday Ravi marched on a journey for clean water with two neighbours",
        ),
        ("Ravi", "I am staying positive and looking for a solution", ""),
        ("", "I need results, not another plan", ""),
        ("", "We've got the route locked in", ""),
        ("", "Our next step is the colour of the hall", ""),
        ("", "I am thinking a flat fee of 40 euros", ""),
        ("", "I appreciate the structure of it", ""),
        ("", "I have a garden and what can I plant in it", ""),
        ("user", "I want to make sure the sums on each invoice are right", ""),
        ("Ravi", "We responded to a situation", ""),
        ("Ravi", "We raised 900 euros", "Ravi and others raised 900 euros"),
        ("Ravi", "My cousins are cute and adorable", ""),
        ("Ravi", "I won't quit, no matter what", ""),
        ("Ravi", "Cheering each other on through the last mile", ""),
        (
            "Ravi",
            "Organising a choir for my old school was hard work",
            "Organising a choir for Ravi's old school was hard work",
        ),
        ("Ravi", "I'm reading Euclid's Elements Book I", "Ravi is reading Euclid's Elements Book I"),
    ],
)
def test_by_class(speaker: str, text: str, kept: str) -> None:
    """What is shown, is at hand, has no verb, or points elsewhere is not kept; what has a day or
    something of one's own is."""
    found = find_claims.extract(text, speaker, datetime(2026, 3, 1, tzinfo=UTC))
    assert [each.statement for each in found if not each.unworthy] == ([kept] if kept else [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Harbour Lane Clinic stays open through the long winter", "says Harbour Lane"),
        ("June 26 still stands for the long kickoff of the harbour project", "says June 26"),
        ("Rain fell on broken tram lines and a flooded cellar near the harbour", "says rain fell"),
        ("Ravi keeps the harbour kiosk open through the rainy winter months", "Ravi keeps"),
    ],
)
def test_what_somebody_says_keeps_its_names(text: str, said: str) -> None:
    found = find_claims.extract(f"Thanks for asking, Bea! {text}.", "Ravi", datetime(2026, 3, 1, tzinfo=UTC))
    assert any(said in each.statement for each in found)


def test_every_story_says_what_is_to_be_kept_or_not() -> None:
    stories = worth_stories.worth_stories(WORTH)
    assert len(stories) >= 80
    assert len({story.name for story in stories}) == len(stories)
    assert all(story.keep or story.ended or story.unworthy for story in stories)


def test_a_line_that_is_no_story_is_named(tmp_path: Path) -> None:
    path = tmp_path / "stories.jsonl"
    path.write_text('{"id": "one", "kind": "worth", "messages": []}\n{"id": "two"}\n')
    with pytest.raises(Unreadable, match="line 2"):
        worth_stories.worth_stories(path)


def test_the_stories_come_out_as_they_are_labelled(db: None) -> None:
    measured = worth_stories.evaluate(worth_stories.worth_stories(WORTH), lambda n: None).measured()
    assert measured["right"] >= 0.9
    assert measured["worth keeping: kept"] >= 0.9
    assert measured["not worth it: kept"] <= 0.05


def test_what_was_kept_is_judged_by_the_labels(tmp_path: Path, db: None) -> None:
    path = tmp_path / "stories.jsonl"
    rows: list[dict[str, object]] = [
        {"id": "right", "keep": [["potter", "Delft"]], "not": ["glad"]},
        {"id": "wrong", "keep": [["Oslo"]], "not": ["*"]},
    ]
    said = {"role": "user", "content": "I am a potter in Delft. I am glad."}
    path.write_text("\n".join(json.dumps({"kind": "k", "messages": [said]} | row) for row in rows))
    judged = worth_stories.evaluate(worth_stories.worth_stories(path), lambda n: None)
    assert judged.measured()["worth keeping: kept"] == judged.measured()["right"] == 0.5
    assert [row["id"] for row in evaluation_report.worth_json(judged)["wrong"]] == ["wrong"]
    assert any(line.startswith("wrong: ") for line in evaluation_report.worth_lines(judged))


# ---- what a clause lacks, and what of it can be kept

AT = datetime(2026, 3, 11, 15, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("clause", "word"),
    [
        ("I love this one", "this one"),
        ("he lent it to me", "he"),
        ("I have lived there for years", "there"),
        ("I am a fan of this genre", "this"),
        ("My grandma gave it to me", "it"),
        ("I liked that", "that"),
    ],
)
def test_words_that_point_elsewhere_are_found(clause: str, word: str) -> None:
    assert referents.open_referent(clause) == word


@pytest.mark.parametrize(
    "clause",
    [
        "I bought a bike and painted it red",
        "my brother says that he moved out",
        "I moved to Rome and work there",
        "I know that trams are late this week",
        "the flat that I rent is damp",
        "there is a mill behind our house",
        "I help those who lost their home",
    ],
)
def test_words_that_stand_for_what_was_said_are_not(clause: str) -> None:
    assert referents.open_referent(clause) == ""


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I bought a loom last week, and it was such fun.", "in the week of 2 March 2026"),
        ("My son Emil is seven, what books would you recommend?", "Emil is seven"),
        ("Just so you know, I'm allergic to bees.", "User is allergic to bees"),
        ("I'm flying to Malta tomorrow.", "on 12 March 2026"),
        ("My exam is next Friday.", "on Friday 13 March 2026"),
    ],
)
def test_of_a_clause_the_part_that_stands_by_itself_is_kept(alice: Person, said: str, kept: str) -> None:
    alice.say(NewMessage(said, created_at=AT))
    texts = alice.live()
    assert any(kept in text for text in texts)
    assert not any(word in " ".join(texts) for word in (" fun", "recommend", "so you know"))


@pytest.mark.parametrize(
    ("statement", "dated"),
    [
        ("Ada can't wait for tomorrow's recital", "Ada can't wait for the recital on 2 March 2026"),
        ("Ada won last year's regatta in Kiel", "Ada won the regatta in 2025 in Kiel"),
        ("Tomorrow's exam is about bees", "The exam on 2 March 2026 is about bees"),
        (
            "Ada bakes for next Friday's big charity fair",
            "Ada bakes for the big charity fair on Friday 6 March 2026",
        ),
    ],
)
def test_what_belongs_to_a_day_stands_before_its_date(statement: str, dated: str) -> None:
    assert with_dates(statement, datetime(2026, 3, 1, tzinfo=UTC)) == dated


def test_a_state_of_the_moment_is_forgotten_after_it(alice: Person) -> None:
    alice.say(NewMessage("I'm out of the office until Friday.", created_at=AT))
    alice.say(NewMessage("I have a sister in Graz.", created_at=AT))
    brief, lasting = Memory.objects.order_by("pk")
    assert brief.forget_after == datetime(2026, 3, 16, tzinfo=UTC)
    assert lasting.forget_after is None


@pytest.mark.parametrize(
    ("statement", "passes"),
    [
        ("Ada is sick", True),
        ("Ada is exhausted these days", True),
        ("Ada is busy with work lately", True),
        ("Ada's brother is a bit better now", True),
        ("Ada is nervous about their sailing exam", True),
        ("Ada's mother is sick with leukaemia", False),
        ("Ada is waiting for a kidney transplant", False),
        ("Ada is nervous around dogs", False),
        ("Ada is scared of heights", False),
        ("Ada has been ill for ten years", False),
        ("Ada has been sick all her life", False),
        ("Ada is stuck with a wheelchair for life", False),
        ("Ada is well known in Oslo", False),
        ("Ada is excited to become a father in May", False),
        ("Ada is recovering from a stroke", False),
    ],
)
def test_a_state_passes_where_nothing_is_told_with_it(statement: str, passes: bool) -> None:
    assert (end_of_state(statement, AT) is not None) is passes


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("My son has to take insulin every day.", True),
        ("Our son must avoid peanuts.", True),
        ("My mother has to have surgery in March.", True),
        ("My husband is waiting for a heart operation.", True),
        ("Our cat needs to take thyroid pills twice a day.", True),
        ("I have the BRCA1 gene mutation.", True),
        ("I have the sickle cell trait.", True),
        ("We have the same birthday, May 3.", True),
        ("I am on the night shift now.", True),
        ("My next step is to marry Ben in June.", True),
        ("I want to run the Boston marathon.", True),
        ("I want to apply to Harvard.", True),
        ("I love the design of Braun radios.", True),
        ("We have the data for the report.", False),
        ("I have the file open.", False),
        ("I am on the settings page now.", False),
        ("My next step is to fix the login form.", False),
        ("I want to run the Python script on the server.", False),
        ("I want to apply to the filter.", False),
        ("I love the design of the second draft.", False),
        ("My team is still on the phone.", False),
        ("My website should load the invoices first.", False),
    ],
)
def test_to_a_machine_too_a_life_is_told(text: str, kept: bool) -> None:
    found = find_claims.extract(text, "", AT)
    assert any(not each.unworthy for each in found) is kept


OWN_DAY = "My day:\n9:30 Standup\n12:00 Lunch with Ann\n"
QUESTIONS = (
    "I am a nurse in Oslo.\nI have two sons.\nCould you tell me about schools?\n\n"
    "My wife is Kim.\nShe is a judge.\nDo you know a good gym?\nWe moved here in May.\n"
    "What would you cook for us?\nI play the cello.\nCan you suggest music?\n"
    "My car is a Volvo.\nI was born in Bergen.\nI am allergic to nuts."
)
INTERVIEW = "".join(
    f"How do you bake number {number}?\nOswin: I am a baker in Ghent.\nWe use rye.\n\n" for number in range(5)
)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"{OWN_DAY}I am allergic to nuts.", True),
        (f"{OWN_DAY}15:00 Gym\n17:30 Choir\nI am allergic to nuts.", True),
        (QUESTIONS, True),
        ("I have some feedback on your answer: I am a baker and I work nights in Ghent.", True),
        (INTERVIEW, False),
        ("0:01 I am a miller.\n0:09 I live in Graz.\n0:15 I have two sons.", False),
    ],
)
def test_one_s_own_words_are_no_pasted_text(text: str, kept: bool) -> None:
    found = find_claims.extract(text, "", AT)
    said = [each.statement for each in found if not each.unworthy]
    assert bool({"User is allergic to nuts", "User is a baker"}.intersection(said)) is kept
    assert bool(said) is kept


def test_a_session_says_why_nothing_of_a_message_is_kept(alice: Person) -> None:
    session = alice.say("I'm a big fan of this genre.", "I need a coffee.")
    assert not session.created_ids
    assert "not worth keeping: it points at what stands elsewhere, a mood" in session.reason
    assert session.counts["unworthy_referent"] == session.counts["unworthy_moment"] == 1
    labels = [label for label, _, _ in skip_counts.unworthy(alice.scope)]
    assert sorted(labels) == ["moment", "referent"]
    assert alice.live() == []


def test_a_text_that_is_understood_and_not_worth_it_is_not_kept_whole(alice: Person) -> None:
    alice.tell("I'm a big fan of this genre.", extract="auto")
    assert alice.live() == []
    alice.tell("Blue bins, odd weeks", extract="auto")
    [memory] = Memory.objects.all()
    assert (memory.content, memory.confidence) == ("Blue bins, odd weeks", 0.5)


def test_a_letter_that_is_handed_over_tells_nothing_of_its_bearer(alice: Person) -> None:
    letter = "Dear Ms Osei,\n\nI am a certified welder. I live in Accra.\n\nKind regards,\nKofi"
    alice.say(f"Can you shorten this?\n\n{letter}", "I am a beekeeper in Graz.")
    assert alice.live() == ["User is a beekeeper in Graz"]


@pytest.mark.parametrize(
    "text",
    [
        "Can you shorten this cover letter? Dear Mr Adeyemi, I am a tiler and I live in Lund.",
        "Please polish my application. I am a baker from Cork. I look forward to meeting you.",
        "Make this sound friendlier. I am a plumber in Turin and my rates are fair.",
        "Lesson 7: My name is Olga. I have four cats. Fill in the gaps with a verb.",
        "Is this job for me? We are looking for a welder. Our workshop is in Gdynia.",
        "Job posting:\nOur kitchen is in Porto. We use Toast. You bring a knife.",
        "Review on the map: I bought a rug here in May and my mother loves it.",
        "// I prefer tabs and my editor is Helix\nlet x = 1;",
        "/* My name is Ines and I live in Faro. */",
        "def walk(path):\n    # I live in Lyon\n    return path",
        "I just had lunch.",
        "I am getting an error when I run cargo build.",
    ],
)
def test_what_is_handed_over_or_of_a_moment_tells_nothing_of_its_bearer(text: str) -> None:
    found = find_claims.extract(text, "", datetime(2026, 3, 1, tzinfo=UTC))
    assert [each.statement for each in found if not each.unworthy] == []


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("I am a glazier in Split, thanks for asking!", "User is a glazier in Split"),
        ("I'm colour-blind, so avoid red and green in the plot please.", "User is colour-blind"),
        ("I live in Tartu, so keep that in mind please.", "User lives in Tartu"),
        ("I'm allergic to walnuts, so no pesto please.", "User is allergic to walnuts"),
        ("Can you check my cover letter? I am a roofer in Cork.", "User is a roofer in Cork"),
        ("I do one unit a day, and I am learning Basque.", "User is learning Basque"),
    ],
)
def test_what_is_told_beside_a_request_or_thanks_is_kept_without_it(text: str, kept: str) -> None:
    found = find_claims.extract(text, "", datetime(2026, 3, 1, tzinfo=UTC))
    assert [each.statement for each in found if not each.unworthy] == [kept]
