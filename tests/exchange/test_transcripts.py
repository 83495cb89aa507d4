"""Files as a whole: what is recognised, what is refused, what is reported, which ids come out."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memories.transcripts import FORMATS, BadLine, Transcript, TranscriptMessage, Unreadable, read


def _write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def _said(path: Path, form: str | None = None) -> list[str]:
    return [message.content for message in _messages(path, form)]


def _messages(path: Path, form: str | None = None) -> list[TranscriptMessage]:
    parts = [part for part in read(path, form) if isinstance(part, Transcript)]
    return [message for part in parts for message in part.messages]


def _bad(path: Path) -> list[BadLine]:
    return [part for part in read(path) if isinstance(part, BadLine)]


def _lines(*messages: object) -> str:
    return "\n".join(json.dumps(message) for message in messages)


HELLO = {"role": "user", "content": "My tortoise is called Agnes."}
REPLY = {"role": "assistant", "content": "A fine name for a tortoise."}


def test_a_bad_line_is_reported_with_its_number_and_the_rest_is_kept(tmp_path: Path) -> None:
    text = _lines(HELLO) + '\n{"role": "user", "content": \n\n' + _lines(REPLY)
    path = _write(tmp_path, "talk.jsonl", text)
    assert _said(path) == [HELLO["content"], REPLY["content"]]
    assert [bad.line for bad in _bad(path)] == [2]
    assert "not JSON" in _bad(path)[0].reason


def test_a_bad_first_line_does_not_hide_the_rest(tmp_path: Path) -> None:
    path = _write(tmp_path, "talk.jsonl", "{oops\n" + _lines(HELLO))
    assert _said(path) == [HELLO["content"]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"content": "Nobody said this."}', "not a message"),
        ('{"role": "user"}', "has no content"),
        ('{"role": "assistant", "content": null}', "has no content"),
        ("[1, 2", "not JSON"),
        ('"only words"', "not a message"),
        ("[" * 100_000, "not usable JSON"),
    ],
)
def test_a_line_that_is_no_message_says_why(tmp_path: Path, line: str, reason: str) -> None:
    path = _write(tmp_path, "talk.jsonl", _lines(HELLO) + "\n" + line)
    assert [(bad.line, reason in bad.reason) for bad in _bad(path)] == [(2, True)]


def test_a_line_that_is_not_utf8_is_reported(tmp_path: Path) -> None:
    latin = '{"role": "user", "content": "Caf\xe9 Mirabel"}'.encode("latin-1")
    path = _write(tmp_path, "talk.jsonl", _lines(HELLO).encode() + b"\n" + latin)
    assert _said(path) == [HELLO["content"]]
    assert "not UTF-8: byte 0xe9" in _bad(path)[0].reason


def test_nuls_and_lone_surrogates_are_cleaned(tmp_path: Path) -> None:
    line = r'{"role": "user", "content": "nul\u0000 half\ud83d", "metadata": {"a\u0000": NaN}}'
    [message] = _messages(_write(tmp_path, "talk.jsonl", line))
    assert message.content == "nul half\ufffd"
    assert message.metadata == {"a": None}


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    for name in ("talk.jsonl", "talk.json"):
        assert _said(_write(tmp_path, name, mark + _lines(HELLO).encode())) == [HELLO["content"]]
    assert _said(_write(tmp_path, "note.txt", mark + b"Plain words.")) == ["Plain words."]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "nothing in it"),
        (b" \n\n", "nothing in it"),
        (b"PK\x03\x04rest", "zip archive"),
        (b"%PDF-1.7", "PDF"),
        ("words".encode("utf-16"), "UTF-16"),
        (bytes(range(256)) * 8, "binary"),
    ],
)
def test_what_is_no_text_is_refused_clearly(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read(_write(tmp_path, "thing", content))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="No such file"):
        read(tmp_path / "absent.txt")


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown format 'csv'"):
        read(_write(tmp_path, "a.txt", "words"), "csv")


def test_the_given_format_overrules_the_content(tmp_path: Path) -> None:
    path = _write(tmp_path, "talk", _lines(HELLO))
    assert _said(path, "text") == [_lines(HELLO)]
    assert list(read(path, "locomo")) == [BadLine(1, "this is not in the format locomo")]


def test_prose_is_not_read_as_a_chat_format(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="it is text, not claude"):
        read(_write(tmp_path, "a.txt", "words"), "claude")


def test_a_cut_off_list_gives_what_came_before_the_cut(tmp_path: Path) -> None:
    whole = json.dumps([HELLO, REPLY], indent=1)
    path = _write(tmp_path, "talk.json", whole[:-20])
    assert _said(path) == [HELLO["content"]]
    assert "nothing after this was read" in _bad(path)[0].reason


def test_a_long_list_is_read_in_pieces_with_right_lines(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"{n} " + "x" * 5000} for n in range(1200)]
    rows = [json.dumps(message) for message in messages]
    path = _write(tmp_path, "talk.json", "[\n" + ",\n".join([*rows, '{"role": 1}']) + "\n]")
    parts = [part for part in read(path) if isinstance(part, Transcript)]
    assert [m.content for part in parts for m in part.messages] == [m["content"] for m in messages]
    assert {part.thread for part in parts} == {"talk"}
    assert len(parts) > 1
    assert _bad(path) == [BadLine(1202, "the message has no content")]


def test_the_same_file_gives_the_same_ids_again(tmp_path: Path) -> None:
    path = _write(tmp_path, "talk.jsonl", _lines(HELLO, REPLY, HELLO))
    first, second = _messages(path), _messages(path)
    assert first == second
    assert len({message.id for message in first}) == 3


def test_a_line_that_came_later_leaves_the_other_ids_alone(tmp_path: Path) -> None:
    before = _messages(_write(tmp_path, "talk.jsonl", _lines(HELLO, REPLY)))
    new = {"role": "user", "content": "She is ninety."}
    after = _messages(_write(tmp_path, "talk.jsonl", _lines(HELLO, new, REPLY)))
    assert {message.id for message in before} < {message.id for message in after}


def test_an_id_of_the_file_is_kept_and_made_unique(tmp_path: Path) -> None:
    path = _write(tmp_path, "t.jsonl", _lines({**HELLO, "id": "a"}, {**REPLY, "id": "a"}))
    first, second = _messages(path)
    assert first.id == "a"
    assert second.id.startswith("a~")


def test_the_same_id_in_two_threads_is_two_messages(tmp_path: Path) -> None:
    rows = ({**HELLO, "id": "a", "thread_id": "one"}, {**HELLO, "id": "a", "thread_id": "two"})
    parts = list(read(_write(tmp_path, "t.jsonl", _lines(*rows))))
    assert [(p.thread, p.messages[0].id) for p in parts if isinstance(p, Transcript)] == [
        ("one", "a"),
        ("two", "a"),
    ]


def test_a_message_with_id_that_stands_twice_is_kept_once_and_reported(tmp_path: Path) -> None:
    path = _write(tmp_path, "t.jsonl", _lines({**HELLO, "id": "a"}, {**HELLO, "id": "a"}))
    assert len(_messages(path)) == 1
    assert _bad(path) == [BadLine(2, "message 'a' stands here twice")]


def test_a_file_without_a_telling_name_is_named_after_its_folders(tmp_path: Path) -> None:
    folder = tmp_path / "greenhouse" / "7"
    folder.mkdir(parents=True)
    [part] = list(read(_write(folder, "chat.jsonl", _lines(HELLO))))
    assert isinstance(part, Transcript)
    assert part.thread == "greenhouse-7"


# The same examples each time, however slow the machine is.
STEADY = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "messages",
                    "mapping",
                    "current_node",
                    "message",
                    "author",
                    "parts",
                    "chat_messages",
                    "sender",
                    "session_1",
                    "session_1_date_time",
                    "conversation",
                    "turns",
                    "batch_number",
                    "dialogues",
                    "dialogue_turns",
                    "text",
                    "type",
                    "id",
                    "tool_calls",
                    "parent",
                    "blip_caption",
                    "create_time",
                    "content_type",
                    "metadata",
                    "function",
                    "input",
                ]
            ),
            inner,
        )
    ),
    max_leaves=25,
)


@settings(STEADY, max_examples=300)
@given(value=JSON, form=st.sampled_from([None, *FORMATS]))
def test_no_json_makes_a_reader_fail(tmp_path_factory: pytest.TempPathFactory, value: object, form: str | None) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(value))
    _read_all(path, form)


@settings(STEADY, max_examples=200)
@given(content=st.binary() | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_bytes_make_a_reader_fail(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.md"
    path.write_bytes(content)
    for form in (None, "jsonl", "json", "text", "markdown"):
        _read_all(path, form)


def _read_all(path: Path, form: str | None) -> None:
    try:
        parts = list(read(path, form))
    except Unreadable:
        return
    for part in parts:
        messages = part.messages if isinstance(part, Transcript) else ()
        assert all(m.id and m.role and "\x00" not in m.content for m in messages)
