"""What was said before a message is read with it."""

import uuid
from datetime import UTC, datetime

import pytest

from memories.language.english import find_claims, gatekeeper
from memories.language.english.referents import Talk

AT = datetime(2026, 2, 6, 12, 30, tzinfo=UTC)


def said(*lines: tuple[str, str]) -> list[str]:
    """The statements of the last of the lines (speaker, text)."""
    talk = Talk()
    for speaker, text in lines[:-1]:
        talk.hear(text, speaker, uuid.uuid4(), is_assistant=speaker == "Assistant")
    speaker, text = lines[-1]
    return [claim.statement for claim in find_claims.extract(text, speaker, AT, talk)]


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Where do you live now?", "Lisbon.", "Alex lives in Lisbon"),
        ("And where do you work?", "At a hospital", "Alex works at a hospital"),
        ("How old are you?", "34", "Alex is 34 years old"),
        ("What do you do for a living?", "Nurse", "Alex works as a nurse"),
        ("How many dogs do you have?", "Three", "Alex has three dogs"),
        ("What is your favourite colour?", "Green!", "Alex's favourite colour is Green"),
        (
            "How long have you played chess?",
            "For ten years",
            "Alex has played chess for ten years",
        ),
        ("Do you have any pets?", "Yes, I do!", "Alex has pets"),
        ("Do you eat meat?", "No.", "Alex doesn't eat meat"),
        ("Are you a vegetarian?", "Yep", "Alex is a vegetarian"),
        ("Did you finish your thesis?", "Not yet.", "Alex didn't finish their thesis"),
        ("Any health issues?", "Asthmatic.", "Alex is asthmatic"),
        ("Do you have any food allergies?", "Walnuts", "Alex's food allergies include Walnuts"),
        ("Any pets?", "A goat and two hens", "Alex has a goat and two hens"),
        ("Do you play golf?", "Rarely.", "Alex rarely plays golf"),
        ("Do you swim?", "Every Tuesday", "Alex swims every Tuesday"),
        (
            "Where did you meet your wife?",
            "At a bakery in Pau",
            "Alex met their wife at a bakery in Pau",
        ),
        ("What did you study?", "Botany", "Alex studied Botany"),
        ("How old is your sister?", "Twelve", "Alex's sister is Twelve years old"),
        ("When is the exam?", "On 7 March", "The exam is on 7 March"),
        ("Who owns the style guide?", "Nora", "Nora owns the style guide"),
    ],
)
def test_an_answer_takes_the_frame_of_its_question(question: str, answer: str, statement: str) -> None:
    assert said(("Bob", question), ("Alex", answer)) == [statement]
    assert said(("Assistant", question), ("Alex", answer)) == [statement]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you want me to go on?", "Yes"),
        ("Do you have any questions?", "No"),
        ("Do you like tea or coffee?", "Yes"),
        ("Are you ready?", "Yes!"),
        ("Where do you live?", "Not sure"),
        ("Can you help me?", "Yes"),
    ],
)
def test_an_answer_that_says_nothing_of_its_speaker_is_no_claim(question: str, answer: str) -> None:
    assert said(("Bob", question), ("Alex", answer)) == []


def test_nobody_answers_their_own_question() -> None:
    assert said(("Alex", "Where do you live?"), ("Alex", "Lisbon.")) == []


def test_a_question_is_answered_by_the_next_message_only() -> None:
    asked = ("Bob", "Do you have any pets?")
    assert said(asked, ("Bob", "My train is late."), ("Alex", "Yes, I do!")) == []


def test_a_short_answer_is_not_passed_over() -> None:
    assert gatekeeper.verdict("Yes.", "user", "user").skip
    assert not gatekeeper.verdict("Yes.", "user", "user", "Do you have any pets?").skip
    assert not gatekeeper.verdict("Oslo. And you?", "user", "user", "Where do you live?").skip


@pytest.mark.parametrize(
    "told",
    [
        (("Alex", "My sister moved to Oslo."), ("Bob", "Wow, how is she?")),
        (("Alex", "My sister moved to Oslo."),),
        (("Bob", "My aunt opened a bakery in Ghent."),),
    ],
)
def test_a_pronoun_stands_for_nobody_of_an_earlier_message(told: tuple[tuple[str, str], ...]) -> None:
    assert not any(
        "sister" in each or "aunt" in each for each in said(*told, ("Alex", "She works as a nurse in Bern."))
    )


def test_a_pronoun_behind_somebody_else_stands_for_nobody() -> None:
    text = "My brother lives in York. Tom next door lost his job. He works at Fazer."
    claims = [claim.statement for claim in find_claims.extract(text, "Alex", AT)]
    assert "Alex's brother lives in York" in claims
    assert not any("Fazer" in claim for claim in claims)


@pytest.mark.parametrize(
    "text",
    [
        "Bulleted list of the ten tools, please.",
        "Now show me the plan for the second week.",
        "Find the leak in the pool and get me the fix.",
        "Stop asking about the budget and just deliver the second chapter.",
        "Time to tackle the second chapter of the guide.",
        "Good job on structuring the second chapter.",
        "I already told you all of this about the guide.",
        "Hope and love really make the world go round.",
    ],
)
def test_what_is_asked_for_or_remarked_of_the_talk_is_no_claim(text: str) -> None:
    assert said(("User", text)) == []


@pytest.mark.parametrize("before", ["I met Jonas yesterday.", "I had lunch with Jonas on Monday."])
def test_a_pronoun_stands_for_the_one_who_was_met(before: str) -> None:
    assert "Jonas works for Airbus" in said(("Alex", f"{before} He works for Airbus."))


@pytest.mark.parametrize(
    "before",
    [
        "I met Jonas and Peter yesterday.",
        "I met Jonas, and then I talked to Peter.",
        "I met Jonas, who knows Peter.",
        "I met Jonas and my uncle.",
        "I met Jonas' wife.",
        "My brother is here. I met Jonas.",
    ],
)
def test_where_another_may_be_meant_a_pronoun_stays(before: str) -> None:
    assert not any("Jonas works" in each for each in said(("Alex", f"{before} He works for Airbus.")))


def test_you_is_the_only_other_person_there() -> None:
    told = ("Alex", "I finished the boat.")
    assert said(told, ("Bob", "I borrowed your drill for the fence in May.")) == [
        "Bob borrowed Alex's drill for the fence in May"
    ]


def test_you_is_nobody_where_it_may_be_an_assistant() -> None:
    told = ("Assistant", "Here is the plan.")
    assert said(told, ("Bob", "I lost your plan for the fence in May.")) == ["Bob lost your plan for the fence in May"]


def test_items_of_a_list_are_claims_of_their_own() -> None:
    text = "My hobbies:\n- tennis with Ida\n2. old boats"
    claims = find_claims.extract(text, "Alex", AT)
    assert [claim.statement for claim in claims] == [
        "Alex's hobbies include tennis with Ida",
        "Alex's hobbies include old boats",
    ]
    assert [text[claim.start : claim.end] for claim in claims] == ["tennis with Ida", "old boats"]


def test_a_list_in_one_line_is_one_claim() -> None:
    assert said(("Alex", "My hobbies: sailing and chess")) == ["Alex's hobbies are sailing and chess"]


def test_cheer_among_people_is_no_claim() -> None:
    told = ("Bob", "I won the regatta with my crew on Sunday!")
    assert said(told, ("Alex", "Wow, that is so cool! I love it! You must be so happy!")) == []


@pytest.mark.parametrize(
    ("heading", "statement"),
    [
        ("Things we need for the party:", "Alex and others need a long table for the party"),
        ("Shopping list:", "Alex needs to buy a long table"),
    ],
)
def test_a_list_is_read_by_what_stands_over_it(heading: str, statement: str) -> None:
    claims = find_claims.extract(f"{heading}\n- a long table", "Alex", AT)
    assert [claim.statement for claim in claims] == [statement]


def test_a_pronoun_stands_for_whom_a_question_named() -> None:
    assert said(("Bob", "How is your sister, Nora?"), ("Alex", "She lives in Pau now.")) == [
        "Alex's sister Nora lives in Pau now"
    ]


@pytest.mark.parametrize(
    "text",
    ["We adopted an axolotl in June. She is called Mop.", "I have a pug. She is called Mop."],
)
def test_a_pronoun_stands_for_the_animal_just_named(text: str) -> None:
    kind = "axolotl" if "axolotl" in text else "pug"
    assert f"Alex's {kind} is called Mop" in [claim.statement for claim in find_claims.extract(text, "Alex", AT)]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I hardly know the way", "Alex hardly knows the way"),
        ("I scarcely eat in the morning", "Alex scarcely eats in the morning"),
        ("I gladly lend out my tools", "Alex gladly lends out their tools"),
        ("Nora and I live in Pau", "Alex and Nora live in Pau"),
    ],
)
def test_the_verb_agrees_behind_adverbs_and_companions(text: str, statement: str) -> None:
    assert [claim.statement for claim in find_claims.extract(text, "Alex", AT)] == [statement]


@pytest.mark.parametrize("before", ["Nice.", "Got it.", "What can I do for you?"])
@pytest.mark.parametrize(
    ("text", "statements"),
    [
        (
            "I love hiking and I have a dog called Rex.",
            ["Alex loves hiking", "Alex has a dog called Rex"],
        ),
        ("I work at Fuchsia. I have two kids.", ["Alex works at Fuchsia", "Alex has two kids"]),
        (
            "My sister lives in Graz. What should I bring her?",
            ["Alex's sister lives in Graz"],
        ),
    ],
)
def test_what_an_assistant_said_before_costs_no_claim(before: str, text: str, statements: list[str]) -> None:
    assert said(("Assistant", before), ("Alex", text)) == statements


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("I live in the US.", "Alex lives in the US"),
        ("I bank with US Bank", "Alex banks with US Bank"),
        ("My email is m.keller@proton.me", "Alex's email is m.keller@proton.me"),
        ("My site is https://about.me/mine", "Alex's site is https://about.me/mine"),
        (r"My notes are in C:\Users\me\text", r"Alex's notes are in C:\Users\me\text"),
        ("I edit my.cnf in /home/me by hand", "Alex edits my.cnf in /home/me by hand"),
        ("I use We Transfer for files", "Alex uses We Transfer for files"),
        ("I work at Mine Labs", "Alex works at Mine Labs"),
        ("I have Type I diabetes", "Alex has Type I diabetes"),
        ("I Love My Dog Rex", "Alex Loves their Dog Rex"),
        (
            "They gave us a house in Porto",
            "They gave Alex and others a house in Porto",
        ),
    ],
)
def test_pronouns_in_names_and_addresses_stay(text: str, statement: str) -> None:
    assert said(("Alex", text)) == [statement]


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("Are you vegetarian?", "Yes, since college.", "Alex is vegetarian since college"),
        ("So you moved to Graz?", "Yes, in July.", "Alex moved to Graz in July"),
        (
            "You play cello in a quartet, right?",
            "Yeah, every Monday.",
            "Alex plays cello in a quartet every Monday",
        ),
        ("Where do you live now?", "Still in Pau.", "Alex lives in Pau"),
        ("What's your favourite month?", "June, hands down.", "Alex's favourite month is June"),
        ("Do you have children?", "Yes, two. Pia is 8.", "Pia is 8"),
    ],
)
def test_an_answer_says_more_than_yes(question: str, answer: str, statement: str) -> None:
    assert statement in said(("Assistant", question), ("Alex", answer))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Did you see the film?", "Yes, on Friday."),
        ("Is it raining?", "Yes, since noon."),
        ("Are you ready?", "Yes, in a minute."),
        ("Tea or coffee, do you drink tea or coffee?", "Yes, every day."),
    ],
)
def test_a_yes_to_what_tells_nothing_is_no_claim(question: str, answer: str) -> None:
    assert said(("Assistant", question), ("Alex", answer)) == []


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Given that I have asthma, can I dive?", "Alex has asthma"),
        ("You know I don't eat pork, right?", "Alex doesn't eat pork"),
        ("Since I'm vegan, which cakes can I order?", "Alex is vegan"),
        ("Why does my cat Luna hiss at guests?", "Alex's cat is called Luna"),
    ],
)
def test_what_a_question_takes_for_granted_is_a_claim(text: str, statement: str) -> None:
    assert statement in said(("Alex", text))


@pytest.mark.parametrize(
    "text",
    [
        "How do I know I'm pregnant?",
        "How do I tell if I'm diabetic?",
        "Do you think I am allergic to nuts?",
        "Since you're here, what should we eat?",
    ],
)
def test_what_a_question_leaves_open_is_no_claim(text: str) -> None:
    assert said(("Alex", text)) == []


def test_who_is_called_is_not_who_is_meant() -> None:
    lines = (("Ana", "How is your mother, Ben?"), ("Ben", "She broke her hip on Monday."))
    assert said(*lines) == ["Ben's mother broke her hip on Monday"]


def test_a_title_says_nothing_and_its_list_is_read_line_by_line() -> None:
    text = "About me:\n* Name: Alexandra Berg\n* Job: welder\n* Diet: pescatarian"
    assert said(("Alex", text)) == [
        "Alex's name is Alexandra Berg",
        "Alex's job is welder",
        "Alex's diet is pescatarian",
    ]
    assert said(("Alex", "My goals for 2027:\n- learn Greek\n- save 900 euros")) == [
        "Alex's goals for 2027 include learn Greek",
        "Alex's goals for 2027 include save 900 euros",
    ]


@pytest.mark.parametrize(
    "text",
    ["I almost bought a canoe", "I never said I like figs", "I'm so tired I could sleep for days"],
)
def test_what_is_not_so_is_no_claim(text: str) -> None:
    assert said(("Alex", text)) == []


def test_two_things_of_ones_own_are_one_clause() -> None:
    assert said(("Alex", "I got my BA and my MA at Leeds")) == ["Alex got their BA and their MA at Leeds"]
