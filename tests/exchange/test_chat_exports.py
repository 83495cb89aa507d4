"""Exports of chats: messages, authors and times are those that are in the file."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memories.transcripts import BadLine, Transcript, TranscriptMessage, Unreadable, read
from tests.exchange.chat_exports import EXPORTS, Export, archive


def _read(folder: Path, name: str, content: bytes | str) -> tuple[list[Transcript], list[str]]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    parts = list(read(path))
    return [p for p in parts if isinstance(p, Transcript)], [p.reason for p in parts if isinstance(p, BadLine)]


def _messages(talks: list[Transcript]) -> list[TranscriptMessage]:
    return [message for talk in talks for message in talk.messages]


def _at(text: str) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def _id(export: Export) -> str:
    return f"{export.kind}-{export.name}"


@pytest.mark.parametrize("export", EXPORTS, ids=_id)
def test_each_message_has_its_author_time_and_words(tmp_path: Path, export: Export) -> None:
    talks, told = _read(tmp_path, export.name, export.content)
    seconds = [m.created_at.replace(microsecond=0) if m.created_at else None for m in _messages(talks)]
    assert [(m.name, at, m.content) for m, at in zip(_messages(talks), seconds, strict=True)] == [
        (name, _at(at), words) for name, at, words in export.lines
    ]
    for reason in export.left_out:
        assert any(reason in each for each in told), told


def test_there_are_forty_files_of_fifteen_kinds() -> None:
    assert len(EXPORTS) >= 40
    assert len({export.kind for export in EXPORTS}) >= 15


@pytest.mark.parametrize("export", EXPORTS, ids=_id)
def test_a_file_cut_anywhere_is_read_or_refused_and_breaks_nothing(tmp_path: Path, export: Export) -> None:
    for part in (3, 7, 9):
        content = export.content[: len(export.content) * part // 10]
        try:
            talks, _ = _read(tmp_path, export.name, content)
        except Unreadable:
            continue
        assert all(message.id for message in _messages(talks))


def test_the_same_export_again_has_the_same_ids(tmp_path: Path) -> None:
    for export in EXPORTS:
        first = [m.id for m in _messages(_read(tmp_path, export.name, export.content)[0])]
        assert [m.id for m in _messages(_read(tmp_path, export.name, export.content)[0])] == first


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-09 10:00:01 [INFO] Greta: I moved\n" * 4,
        "".join(f"<09.03.2026 10:0{n}> Greta> I moved to Oslo\n" for n in range(4)),
        "".join(f"Mon, 9 Mar 2026 10:0{n} | Greta | I moved\n" for n in range(4)),
    ],
)
def test_a_log_that_nobody_knows_is_refused_with_its_reason(tmp_path: Path, text: str) -> None:
    with pytest.raises(Unreadable, match="looks like a log"):
        _read(tmp_path, "log.txt", text)


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-09: I went running.\n\n2026-03-10: I rested.\n\n2026-03-11: I ran again.",
        "9:00 I get up\n10:00 I work\n12:00 I eat\n",
        "Notes of 9 March 2026, 10:00\n\nI want to learn Danish.\nI live in Aarhus.\nI work as a cook.\n",
    ],
)
def test_a_diary_is_no_log(tmp_path: Path, text: str) -> None:
    talks, _ = _read(tmp_path, "diary.txt", text)
    assert {m.kind for m in _messages(talks)} == {"text"}


def test_a_date_that_can_be_read_both_ways_is_told(tmp_path: Path) -> None:
    talks, told = _read(tmp_path, "w.txt", "03/04/2026, 10:00 - Ida: One\n03/04/2026, 10:01 - Bo: Two\n")
    assert [m.created_at for m in _messages(talks)][0] == datetime(2026, 4, 3, 10, tzinfo=UTC)
    assert told == ["no date tells day from month: read with the day first"]


def test_answers_and_threads_are_kept_beside_the_words(tmp_path: Path) -> None:
    slack = next(each for each in EXPORTS if each.kind == "slack")
    talks, _ = _read(tmp_path, slack.name, slack.content)
    assert {talk.thread for talk in talks} == {"slack-general"}
    root, answer, bot = _messages(talks)
    assert (root.metadata["thread"], answer.metadata["replyTo"]) == (root.id, root.id)
    assert (root.role, bot.role) == ("user", "assistant")
    mail = next(each for each in EXPORTS if each.name == "all.mbox")
    assert len({talk.thread for talk in _read(tmp_path, mail.name, mail.content)[0]}) == 1


def test_a_long_chat_is_read_in_parts_and_is_one_thread(tmp_path: Path) -> None:
    messages = [
        {"id": n, "type": "message", "date_unixtime": str(1783776971 + n), "from": "Ivana", "text": f"Line {n}"}
        for n in range(2_500)
    ]
    chat = {"name": "Ivana", "type": "personal_chat", "id": 71, "messages": messages}
    for data in (chat, {"about": "x", "chats": {"about": "", "list": [chat, chat | {"id": 72}]}}):
        talks, told = _read(tmp_path, "result.json", json.dumps(data))
        assert len(_messages(talks)) % 2_500 == 0
        assert told == []
        assert {talk.thread for talk in talks} <= {"telegram-71", "telegram-72"}


def test_hostile_files_are_refused_or_cut_within_bounds(tmp_path: Path) -> None:
    deep = '{"messages": ' + "[" * 200_000
    assert "not usable JSON" in _read(tmp_path, "deep.json", deep)[1][0]
    line = "3/14/26, 9:04 PM - Greta: " + "x" * (2 << 20)
    talks, told = _read(tmp_path, "long.txt", f"{line}\n3/14/26, 9:05 PM - Milo: Hi\n3/14/26, 9:06 PM - Milo: Ho\n")
    assert [m.content for m in _messages(talks)] == ["Hi", "Ho"]
    assert "longer than" in told[0]
    many = "3/14/26, 9:04 PM - Greta: Hi\n3/14/26, 9:04 PM - Greta: Hi\n" + "word " * 20 + "\n"
    many += ("word " * 20 + "\n") * 5_000
    talks, told = _read(tmp_path, "many.txt", many)
    assert max(len(m.content) for m in _messages(talks)) <= 100_000
    assert "beyond 100,000 characters" in "".join(told)
    bomb = archive(a_dot_txt="0" * (64 << 20), b_dot_txt="3/14/26, 9:04 PM - Greta: Hi\n")
    talks, told = _read(tmp_path, "bomb.zip", bomb)
    assert [m.content for m in _messages(talks)] == ["Hi"]
    assert "a.txt: it unpacks to more than" in told[0]


def test_an_archive_writes_nothing_outside_of_its_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    evil = archive(**{"..__..__evil_dot_txt": "3/14/26, 9:04 PM - Greta: Hi\n", "__abs_dot_txt": "x"})
    _read(out, "evil.zip", evil)
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    assert [each.name for each in out.iterdir()] == ["evil.zip"]
