"""`manage.py ingestfile`: what comes in, what a second run adds, what is told."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memories.exchange.import_without_repeats import ImportOptions, import_transcript
from memories.models import Conversation, Episode, Fact, Memory, MemorySession
from memories.transcripts import Transcript, read
from workspaces.models import Workspace
from workspaces.scope import worker_scope

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def orchard(db: None) -> Workspace:
    return Workspace.objects.create(slug="orchard", name="Orchard")


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    messages = [
        {"role": "user", "content": "I prefer cider to beer."},
        {"role": "assistant", "content": "Noted."},
        {"role": "user", "content": "My sister lives in Hereford."},
    ]
    return _write(tmp_path / "talk.jsonl", messages)


def _write(path: Path, messages: list[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(message) for message in messages))
    return path


def _ingest(*paths: Path, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("ingestfile", *paths, json=True, stdout=out, stderr=StringIO(), **options)
    return json.loads(out.getvalue())


def _counts() -> list[int]:
    return [model.objects.count() for model in (Episode, Fact, Memory, MemorySession)]


def test_a_file_becomes_a_conversation_with_its_messages(orchard: Workspace, talk: Path) -> None:
    told = _ingest(talk, user="ada", agent="helper")
    conversation = Conversation.objects.get()
    assert (conversation.external_id, conversation.title) == ("talk", "talk")
    assert conversation.subject is not None
    assert conversation.subject.external_id == "ada"
    said = conversation.episodes.order_by("position").values_list("role", "content")
    assert list(said)[0] == ("user", "I prefer cider to beer.")
    assert (told["stored"], told["known"]) == (3, 0)
    assert MemorySession.objects.get().state == "done"


def test_the_same_file_again_adds_nothing(orchard: Workspace, talk: Path) -> None:
    _ingest(talk)
    before = _counts()
    told = _ingest(talk)
    assert _counts() == before
    assert (told["stored"], told["known"]) == (0, 3)


def test_a_file_that_grew_adds_what_is_new(orchard: Workspace, talk: Path) -> None:
    _ingest(talk)
    with talk.open("a") as file:
        file.write('\n{"role": "user", "content": "I moved to Ludlow."}')
    assert (_ingest(talk)["stored"], Episode.objects.count()) == (1, 4)


def test_an_interrupted_import_goes_on_where_it_was(orchard: Workspace, talk: Path) -> None:
    transcript = next(part for part in read(talk) if isinstance(part, Transcript))
    batches = import_transcript(worker_scope(orchard.pk), transcript, ImportOptions(batch=1))
    next(batches)
    batches.close()
    told = _ingest(talk)
    assert (told["stored"], told["known"], Episode.objects.count()) == (2, 1, 3)


def test_a_session_that_was_left_unfinished_is_finished(orchard: Workspace, talk: Path) -> None:
    _ingest(talk, mode="async")
    assert MemorySession.objects.get().state == "received"
    _ingest(talk)
    assert MemorySession.objects.get().state == "done"


def test_a_message_that_changed_stays_as_it_was_said_first(orchard: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    _ingest(_write(path, [{"role": "user", "content": "I keep hens.", "id": "1"}]))
    told = _ingest(_write(path, [{"role": "user", "content": "I keep ducks.", "id": "1"}]))
    assert told["changed"] == ["talk: 1"]
    assert Episode.objects.get().content == "I keep hens."


def test_batches_are_as_large_as_asked(orchard: Workspace, talk: Path) -> None:
    _ingest(talk, batch=2)
    assert sorted(s.counts["messages"] for s in MemorySession.objects.all()) == [1, 2]


def test_bad_lines_are_told_with_their_number_and_the_rest_is_stored(orchard: Workspace, talk: Path) -> None:
    talk.write_text("{oops\n" + talk.read_text())
    out, err = StringIO(), StringIO()
    call_command("ingestfile", talk, stdout=out, stderr=err)
    assert f"{talk}:1: not JSON" in err.getvalue()
    assert "3 messages stored, 0 were there already." in out.getvalue()


def test_tool_calls_keep_their_payload_and_can_be_found_by_words(orchard: Workspace, tmp_path: Path) -> None:
    block = {"type": "tool_use", "id": "t1", "name": "weather", "input": {"town": "Ludlow"}}
    _ingest(_write(tmp_path / "t.jsonl", [{"role": "assistant", "content": [block]}]))
    episode = Episode.objects.get()
    assert (episode.kind, episode.content) == ("tool_use", 'weather: {"town": "Ludlow"}')
    assert episode.payload == {
        "toolName": "weather",
        "toolUseId": "t1",
        "input": {"town": "Ludlow"},
        "isError": False,
    }


def test_a_dry_run_stores_nothing(orchard: Workspace, talk: Path) -> None:
    told = _ingest(talk, dry_run=True)
    assert told["files"][0]["messages"] == 3
    assert Episode.objects.count() == 0


def test_a_folder_is_walked_without_what_is_hidden(orchard: Workspace, talk: Path, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "note.md").write_text("# Cellar\n\nThe cellar is dry.")
    (tmp_path / ".hidden.txt").write_text("Nobody reads this.")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\x00")
    told = _ingest(tmp_path)
    assert [Path(file["file"]).name for file in told["files"]] == ["note.md", "talk.jsonl"]
    assert Episode.objects.count() == 4


def test_one_unreadable_file_does_not_keep_the_others_out(orchard: Workspace, talk: Path, tmp_path: Path) -> None:
    binary = tmp_path / "thing.bin"
    binary.write_bytes(bytes(range(256)))
    told = _ingest(binary, talk)
    assert told["files"][0]["refused"] == "it is a binary file"
    assert told["stored"] == 3


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02\x03", b'[{"nothing": "known"}]'])
def test_it_fails_where_nothing_can_be_read(orchard: Workspace, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "thing.json"
    path.write_bytes(content)
    with pytest.raises(CommandError, match="nothing that could be read"):
        _ingest(path)


def test_a_thread_that_is_about_somebody_else_is_refused(orchard: Workspace, talk: Path) -> None:
    _ingest(talk, user="ada")
    with pytest.raises(CommandError, match="1 conversations were not stored"):
        _ingest(talk, user="bert")
    assert Episode.objects.exclude(subject__external_id="ada").count() == 0


def test_a_thread_is_given_for_one_conversation_only(orchard: Workspace, tmp_path: Path) -> None:
    rows = [{"role": "user", "content": "Hello.", "thread_id": name} for name in ("a", "b")]
    path = _write(tmp_path / "two.jsonl", rows)
    with pytest.raises(CommandError, match="one conversation, and here are 2"):
        _ingest(path, thread="mine")


def test_the_workspace_must_be_named_where_there_are_several(orchard: Workspace, talk: Path) -> None:
    Workspace.objects.create(slug="meadow", name="Meadow")
    with pytest.raises(CommandError, match="several workspaces"):
        _ingest(talk)
    _ingest(talk, workspace="meadow")
    assert {e.workspace.slug for e in Episode.objects.select_related("workspace")} == {"meadow"}


def test_an_unknown_workspace_is_told(orchard: Workspace, talk: Path) -> None:
    with pytest.raises(CommandError, match="no workspace 'moor'"):
        _ingest(talk, workspace="moor")


LOG = (
    "3/14/26, 9:04 PM - Greta: I moved to Umeå last week\n"
    "3/14/26, 9:05 PM - Milo: I work as a baker\n"
    "3/14/26, 9:06 PM - Ida P.: I play the oboe\n"
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "family.txt"
    path.write_text(LOG)
    return path


def _believed() -> dict[str, list[str]]:
    told: dict[str, list[str]] = {}
    for memory in Memory.objects.select_related("subject"):
        told.setdefault(memory.subject.external_id if memory.subject else "", []).append(memory.content)
    return told


def test_a_dry_run_lists_the_authors_of_a_log(orchard: Workspace, log: Path) -> None:
    told = _ingest(log, dry_run=True)["files"][0]["authors"]
    assert [(author["name"], author["messages"]) for author in told] == [("Greta", 1), ("Ida P.", 1), ("Milo", 1)]
    assert told[0]["first"] == "2026-03-14T21:04:00+00:00"
    assert Episode.objects.count() == 0


def test_nobodys_words_in_a_log_become_the_users(orchard: Workspace, log: Path) -> None:
    _ingest(log, user="ada")
    assert sorted(_believed()["ada"]) == [
        "Greta moved to Umeå in the week of 2 March 2026",
        "Ida P. plays the oboe",
        "Milo works as a baker",
    ]


def test_authors_become_the_users_that_they_are(orchard: Workspace, log: Path) -> None:
    _ingest(log, user="ada", me=["greta"], authors=[("Milo", "milo")])
    believed = _believed()
    assert believed["milo"] == ["User works as a baker"]
    assert sorted(believed["ada"]) == ["Ida P. plays the oboe", "User moved to Umeå in the week of 2 March 2026"]
    assert Conversation.objects.count() == 1
    assert _ingest(log, user="ada", me=["greta"], authors=[("Milo", "milo")])["stored"] == 0


def test_an_author_that_nobody_is_stores_nothing(orchard: Workspace, log: Path) -> None:
    with pytest.raises(CommandError, match="No author is called 'Gretel'"):
        _ingest(log, user="ada", me=["Gretel"])
    with pytest.raises(CommandError, match="give both"):
        _ingest(log, me=["Greta"])
    assert Episode.objects.count() == 0
