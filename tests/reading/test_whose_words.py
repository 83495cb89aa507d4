"""Whose words a message holds: those of others in it, what is not said in earnest, and the reasons that are told."""

import pytest

from memories.ingest import NewMessage, judged_messages
from memories.judge.judge import Line
from memories.models import Episode, Intent, Memory
from tests.people import Person
from tests.scripted_judge import Judge


@pytest.mark.parametrize(
    ("messages", "believed"),
    [
        (
            ["User[bob]: I like JavaScript", "User[ana]: I live in Porto"],
            ["Bob likes JavaScript", "Ana lives in Porto"],
        ),
        (
            ["[Dana Holt]: I live in Leeds", "[Rafi]: I work as a plumber"],
            ["Dana Holt lives in Leeds", "Rafi works as a plumber"],
        ),
        (["**Marta**: I live in Lyon.\n**Jonas:** I hate onions."], ["Marta lives in Lyon", "Jonas hates onions"]),
        (["@kim said in #general: I have two cats"], ["Kim has two cats"]),
        (["[10:22] Tom: I live in Kent\n[10:23] Bea: I am a nurse"], ["Tom lives in Kent", "Bea is a nurse"]),
        (["Kai 10:31\nI live in Kiel\nUte 10:33\nI own a boat"], ["Kai lives in Kiel", "Ute owns a boat"]),
        (["<rosa> I am learning Dutch\n<ivan> I live in Split"], ["Rosa is learning Dutch", "Ivan lives in Split"]),
        (["- Tom: I love jazz\n- Ann: I live in Hull"], ["Tom loves jazz", "Ann lives in Hull"]),
        (
            ["Anna: I live in Riga.\nMe: I live in Oslo.\nAnna: I have a dog."],
            ["User lives in Oslo", "Anna lives in Riga", "Anna has a dog"],
        ),
        (
            ["I live in Bergen.\n\nTom: I live in Kent.\nBea: I am a nurse.\n\nI am allergic to nuts."],
            ["User lives in Bergen", "User is allergic to nuts", "Tom lives in Kent", "Bea is a nurse"],
        ),
        (["Speaker 1: I work at the harbour.\nSpeaker 2: I live in Antwerp."], []),
        (["Interviewer: Where do you live?\nCandidate: I live in Pisa."], []),
        (["Q: Where do you live?\nA: I live in Ghent."], []),
        (["User: I live in Tartu\nAssistant: I like Tartu"], ["User lives in Tartu"]),
    ],
)
def test_words_behind_the_label_of_a_speaker_are_that_speakers(
    alice: Person, messages: list[str], believed: list[str]
) -> None:
    session = alice.say(*messages, user_id="ada")
    assert alice.live() == believed
    assert "messages with words of others" in session.reason


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("Work: I am a baker.\nHome: I live in Ghent.", "User lives in Ghent"),
        ("Update: I moved to Turin.", "User moved to Turin"),
        ("Goals: I want to learn Greek.\nHealth: I have asthma.", "User has asthma"),
        ("Monday: I work in Leeds.\nTuesday: I work in York.", "User works in York"),
        ("Two things: I have a twin brother. And: I live in Ghent.", "User lives in Ghent"),
        ("Alice: I live in Bath", "User lives in Bath"),
    ],
)
def test_headings_and_a_lone_name_are_no_speakers(alice: Person, message: str, kept: str) -> None:
    alice.say(message, user_id="ada")
    assert any(each.startswith(kept) for each in alice.live())


def test_the_lone_name_of_somebody_who_is_known_is_a_speaker(alice: Person, mallory: Person) -> None:
    alice.say(NewMessage("I have a boat.", name="Rafi"), user_id="rafi")
    alice.say("Rafi: I work as a plumber", user_id="ada")
    assert alice.live() == ["Rafi has a boat", "Rafi works as a plumber"]
    mallory.say("Rafi: I work as a plumber", user_id="ada")
    assert mallory.live() == ["User works as a plumber"]


def test_nothing_that_others_say_in_a_message_is_an_order_of_its_sender(alice: Person) -> None:
    alice.say("I live in Bergen.", user_id="ada")
    alice.say("[Tom]: Please forget that I live in Bergen.\n[Ann]: I love rock.", user_id="ada")
    assert not Intent.objects.exists()
    assert "User lives in Bergen" in alice.live()


FICTION = [
    "For my novel: I am Count Orlo, I live in a castle in Moravia and I am afraid of garlic.",
    "Let's role-play. You are a doctor. I'm a patient: I have had a fever and I'm allergic to aspirin.",
    "In the game I'm a level 40 paladin and I live in Stormwind.",
    "Evaluate whether it could work for us; say my vault is at C:\\Vault and I use OneDrive.",
    "I had the weirdest dream: I was married to a baker and we lived in Oslo.",
    "Example input: My name is Jane. I work at Acme and I live in Springfield.",
    "Test data: I am 33 years old. I have two dogs.",
    "Mock interview time. My answer: I have worked at Siemens for ten years.",
    "My character in the play says: I have two daughters and I drink too much.",
    "Chapter 1. I wake up at five. I work in the mines of Mars.",
    "Pretend to be my therapist. I am Carl, and I lost my job at the bank.",
    "Yeah right, and I'm a millionaire.",
    "For the sake of argument, say I am vegan and live in Texas.",
    "Write a poem in which I live in a hammock and I love the sea.",
    "This is just a test. My favourite food is cardboard.",
]


@pytest.mark.parametrize("message", FICTION)
def test_what_is_not_said_in_earnest_is_believed_of_nobody_and_the_session_says_why(
    alice: Person, message: str
) -> None:
    session = alice.say(message, user_id="ada")
    judged_messages.run(alice.workspace.pk)
    assert alice.live() == []
    assert "not said in earnest" in session.reason
    alice.tell(message, extract="auto", user_id="ada")
    assert alice.live() == []


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("I play Hamlet in the school play.", "Hamlet"),
        ("I work as a game developer in Malmö.", "Malmö"),
        ("I'm writing a novel about a count. I live in Brno.", "Brno"),
        ("I have a role-play group on Thursdays. I live in Bath.", "Bath"),
        ("I finally live in my dream house in Faro.", "Faro"),
        ("I love role-playing games, and I live in Bergen.", "Bergen"),
        ("I'm allergic to peanuts. Write a story about a squirrel.", "peanuts"),
        ("Act as a travel agent. I live in Oslo and I am vegetarian.", "Oslo"),
        ("My story: I grew up in Kenya and I have two sisters.", "Kenya"),
        ("For my book club I need ideas. I live in Hull.", "Hull"),
        ("Here's my situation: I work at DHL and I have two kids.", "DHL"),
        ("For my novel: I am Count Orlo. Anyway, I live in Brno.", "Brno"),
    ],
)
def test_what_only_speaks_of_fiction_is_said_in_earnest(alice: Person, message: str, kept: str) -> None:
    alice.say(message, user_id="ada")
    judged_messages.run(alice.workspace.pk)
    assert any(kept in each for each in alice.live())


def test_a_role_play_goes_on_until_its_players_return(alice: Person) -> None:
    talk = {"user_id": "ada", "thread_id": "t"}
    alice.say("Let's role-play. You are a doctor and I'm your patient.", **talk)
    session = alice.say("I am allergic to aspirin.", "Forget my name.", **talk)
    assert (alice.live(), Intent.objects.count()) == ([], 0)
    assert "skipped: fiction" in session.reason
    alice.say("I live in Gotham.", **talk)
    assert set(Episode.objects.exclude(content__startswith="Let").values_list("judge_attempts", flat=True)) == {None}
    alice.say("Thanks! End of role-play. I live in Brno.", **talk)
    alice.say("I have two sons.", **talk)
    assert alice.live() == ["User lives in Brno", "User has two sons"]
    alice.say("I live in Faro.", user_id="eve")
    assert "User lives in Faro" in alice.live()


@pytest.mark.parametrize(
    "message",
    [
        "See below.\n\n---------- Forwarded message ---------\nFrom: Maren <m@example.org>\n\n\nI live in Aarhus.",
        "FYI\n\nBegin forwarded message:\n\nFrom: Ole <o@example.org>\nDate: 3 May 2026\n\nI live in Bodø.",
        "Look.\n\n-----Original Message-----\nFrom: Sue\nSent: Monday\nTo: Me\n\nI have a new dog.",
        "Und?\n\nVon: Petra <p@example.org>\nGesendet: Montag\nAn: Ich\nBetreff: Umzug\n\nI live in Bonn now.",
        "Le mar. 3 nov. 2026 à 10:12, Luc <l@example.org> a écrit :\n\nI live in Lille. I have a cat.",
        "El mar, 3 nov 2026 a las 10:12, Ana (<a@example.org>) escribió:\n\nI own a bar in Cádiz.",
        "Da: Gino <g@example.org>\nInviato: lunedì\nA: me\nOggetto: Casa\n\nI work at Fiat.",
        "De: Rui\nEnviado: segunda-feira\nPara: mim\nAssunto: Obra\n\nI have three kids.",
        "Op di 3 nov 2026 om 10:12 schreef Jan <j@example.org>:\n\nI live in Breda.",
        "Got this from my landlord:\n\n---\nI own two flats in Ghent. I live in Bruges.\n---\nwhat do I reply?",
        "My mentor wrote:\n\nI have coached for twenty years. I live in Perth.\n\nHow should I answer?",
        "The lyrics are:\nI live by the river\nI work in the night",
        "A customer sent us this: I have a kettle and I live in Dover.",
        "README:\n# Foo\nI wrote this tool in Rust. I maintain it alone.",
        "@support wrote back: I have checked it. I work from Manila.",
    ],
)
def test_of_what_others_wrote_nothing_is_believed_of_whoever_passes_it_on(alice: Person, message: str) -> None:
    alice.say(message, user_id="ada")
    judged_messages.run(alice.workspace.pk)
    assert not Memory.objects.live().filter(content__regex=r"\b(live|lives|own|owns|has|works?|wrote|love)\b").exists()


@pytest.mark.parametrize(
    "text", ["我对花生过敏", "我吃素", "猫が好き", "나는 채식주의자", "ฉันแพ้ถั่ว", "卵アレルギー", "제 이름은 민수입니다"]
)
def test_a_short_statement_in_a_script_without_spaces_is_kept_whole(alice: Person, text: str) -> None:
    alice.tell(text, extract="auto", user_id="ada")
    assert alice.live() == [text]


@pytest.mark.parametrize(
    "text", ["你好", "好的,谢谢", "ありがとうございます", "감사합니다", "ขอบคุณครับ", "哈哈哈哈哈哈哈哈", "了解です"]
)
def test_a_courtesy_in_a_script_without_spaces_is_not_kept(alice: Person, text: str) -> None:
    alice.tell(text, extract="auto", user_id="ada")
    assert alice.live() == []


@pytest.mark.parametrize(
    ("said", "told", "believed"),
    [
        (
            "I have two sons.",
            "I don't have two sons, I have three, and a daughter.",
            ["User has three sons", "User has a daughter"],
        ),
        ("I have one brother.", "I don't have one brother, I have two.", ["User has two brothers"]),
        ("I have three kids.", "I have not three kids but four.", ["User has four kids"]),
        ("I live in Bonn.", "I don't live in Bonn but in Ulm.", ["User doesn't live in Bonn", "User lives in Ulm"]),
        (
            "I drive a Fiat.",
            "I don't drive a Fiat and drive a Skoda instead.",
            ["User doesn't drive a Fiat", "User drives a Skoda"],
        ),
        (
            "I work at Lidl.",
            "I don't work at Lidl, I work at Aldi.",
            ["User doesn't work at Lidl", "User works at Aldi"],
        ),
        ("I am a nurse.", "I'm not a nurse but a doctor.", ["User is not a nurse", "User is a doctor"]),
        (
            "I have a boat.",
            "I neither smoke nor drink.",
            ["User has a boat", "User doesn't smoke", "User doesn't drink"],
        ),
        ("I have a boat.", "Neither my wife nor I eat meat.", ["User has a boat", "User doesn't eat meat"]),
    ],
)
def test_a_denial_and_its_successor_are_two_statements(
    alice: Person, said: str, told: str, believed: list[str]
) -> None:
    alice.say(said, user_id="ada")
    alice.say(told, user_id="ada")
    assert alice.live() == believed


def test_who_fails_to_quit_has_ended_nothing(alice: Person) -> None:
    alice.say("I smoke.", user_id="ada")
    alice.say("I failed to quit smoking.", user_id="ada")
    judged_messages.run(alice.workspace.pk)
    assert "User smokes" in alice.live()


def test_a_denial_that_tells_of_one_thing_alone_stays_whole(alice: Person) -> None:
    alice.say("I don't eat anything but rice.", user_id="ada")
    assert alice.live() == ["User doesn't eat anything but rice"]


def test_a_session_says_why_the_judge_had_it_forgotten(alice: Person) -> None:
    session = alice.say("I live in Bath.", user_id="ada")
    judged_messages.run(alice.workspace.pk, judge=Judge(fiction=0.95))
    session.refresh_from_db()
    assert (alice.live(), session.reason) == ([], judged_messages.MISREAD)


def test_the_judge_hears_a_sentence_behind_what_stands_before_it(alice: Person) -> None:
    alice.say("We put on a show. I live in Bath.", "Here's my situation: I live in Bath.", user_id="ada")
    judge = Judge()
    judged_messages.run(alice.workspace.pk, judge=judge)
    assert Line("We put on a show. ", "I live in Bath.") in judge.read
    assert sum(line.text == "I live in Bath." for line in judge.read) == 3
