"""Messages as the clients of OpenAI, Anthropic and our own API write them."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memories.transcripts import BadLine, Transcript, TranscriptMessage, read


def _read(folder: Path, value: object, name: str = "talk.json") -> list[Transcript | BadLine]:
    path = folder / name
    path.write_text(json.dumps(value))
    return list(read(path))


def _transcripts(folder: Path, value: object) -> list[Transcript]:
    return [part for part in _read(folder, value) if isinstance(part, Transcript)]


def _messages(folder: Path, *values: object) -> list[TranscriptMessage]:
    return [m for part in _transcripts(folder, list(values)) for m in part.messages]


def _shape(message: TranscriptMessage) -> tuple[str, str, str]:
    return message.role, message.kind, message.content


def test_openai_content_parts_are_joined_and_pictures_become_placeholders(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": "What bird is this?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    [message] = _messages(tmp_path, {"role": "user", "content": parts})
    assert message.content == "What bird is this?\n[image]"


def test_openai_tool_calls_and_their_results_belong_together(tmp_path: Path) -> None:
    call = {"id": "call_7", "function": {"name": "tide_table", "arguments": '{"harbour": "Looe"}'}}
    asked, used, answered = _messages(
        tmp_path,
        {"role": "assistant", "content": "Let me look.", "tool_calls": [call], "id": "m1"},
        {"role": "tool", "tool_call_id": "call_7", "content": "High water at 06:40"},
    )
    assert _shape(asked) == ("assistant", "assistant", "Let me look.")
    assert (used.id, used.kind, used.input) == ("m1#2", "tool_use", {"harbour": "Looe"})
    assert _shape(answered) == ("tool", "tool_result", "High water at 06:40")
    assert (answered.tool_name, answered.tool_use_id) == ("tide_table", "call_7")


def test_arguments_that_are_no_json_stay_text(tmp_path: Path) -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": "{harbour:"}}
    [used] = _messages(tmp_path, {"role": "assistant", "content": None, "tool_calls": [call]})
    assert used.input == "{harbour:"


def test_items_of_the_responses_api_are_read(tmp_path: Path) -> None:
    said, used, answered = _messages(
        tmp_path,
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Tides?"}]},
        {"type": "function_call", "call_id": "c1", "name": "tide_table", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "06:40"},
    )
    assert _shape(said) == ("user", "user", "Tides?")
    assert (used.role, used.kind, used.tool_name) == ("assistant", "tool_use", "tide_table")
    assert (answered.kind, answered.content, answered.tool_name) == (
        "tool_result",
        "06:40",
        "tide_table",
    )


def test_anthropic_blocks_become_messages_in_their_order(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "They want the tides."},
        {"type": "text", "text": "Looking it up."},
        {"type": "tool_use", "id": "t1", "name": "tide_table", "input": {"harbour": "Fowey"}},
        {"type": "text", "text": "One moment."},
    ]
    messages = _messages(tmp_path, {"role": "assistant", "content": blocks, "id": "msg_1"})
    assert [message.kind for message in messages] == ["assistant", "tool_use", "assistant"]
    assert [message.id for message in messages] == ["msg_1", "msg_1#2", "msg_1#3"]
    assert [message.content for message in messages] == ["Looking it up.", "", "One moment."]


def test_anthropic_tool_results_lose_their_pictures_and_keep_their_error(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "No such harbour"}, {"type": "image", "source": {}}]
    block = {"type": "tool_result", "tool_use_id": "t1", "content": content, "is_error": True}
    [result] = _messages(tmp_path, {"role": "user", "content": [block]})
    assert _shape(result) == ("tool", "tool_result", "No such harbour\n[image]")
    assert result.is_error


def test_a_request_body_is_a_conversation_with_its_system_prompt(tmp_path: Path) -> None:
    body = {
        "system": [{"type": "text", "text": "Speak plainly."}],
        "metadata": {"user_id": "orla"},
        "messages": [{"role": "user", "content": "Good morning."}],
    }
    [talk] = _transcripts(tmp_path, body)
    assert [m.role for m in talk.messages] == ["system", "user"]
    assert talk.subject == "orla"


def test_a_list_of_conversations_gives_each_its_thread(tmp_path: Path) -> None:
    talks = [
        {"id": "boat", "title": "The boat", "messages": [{"role": "user", "content": "Ahoy."}]},
        {"messages": [{"role": "human", "content": "Hello."}, {"role": "ai", "content": "Hi."}]},
        [{"from": "gpt", "value": "And a third."}],
    ]
    found = _transcripts(tmp_path, talks)
    assert [talk.thread for talk in found] == ["boat", "talk-2", "talk-3"]
    assert [talk.title for talk in found] == ["The boat", "talk-2", "talk-3"]
    assert [m.role for talk in found for m in talk.messages] == [
        "user",
        "user",
        "assistant",
        "assistant",
    ]


def test_a_bad_message_of_a_conversation_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Kept."}, {"role": "user"}, "words"]
    found = _read(tmp_path, {"messages": messages})
    bad = [part.reason for part in found if isinstance(part, BadLine)]
    assert bad == ["message 2 has no content", "message 3 is no JSON object"]
    assert [len(part.messages) for part in found if isinstance(part, Transcript)] == [1]


def test_alternating_threads_are_put_together(tmp_path: Path) -> None:
    rows = [{"role": "user", "content": f"{n}", "thread_id": ("odd" if n % 2 else "even")} for n in range(6)]
    found = _transcripts(tmp_path, rows)
    assert {talk.thread: [m.content for m in talk.messages] for talk in found} == {
        "even": ["0", "2", "4"],
        "odd": ["1", "3", "5"],
    }


def test_our_own_fields_are_read_back(tmp_path: Path) -> None:
    row = {
        "id": "e-1",
        "role": "tool",
        "content": "06:40",
        "toolName": "tide_table",
        "toolUseId": "t1",
        "isError": False,
        "createdAt": "2031-02-03T04:05:06+02:00",
        "metadata": {"harbour": "Looe"},
    }
    [message] = _messages(tmp_path, row)
    assert (message.id, message.kind, message.tool_name) == ("e-1", "tool_result", "tide_table")
    assert message.created_at == datetime(2031, 2, 3, 2, 5, 6, tzinfo=UTC)
    assert message.metadata == {"harbour": "Looe"}


def test_an_agents_log_with_envelopes_is_read(tmp_path: Path) -> None:
    row = {
        "type": "user",
        "uuid": "u-1",
        "sessionId": "s-1",
        "timestamp": "2031-02-03T04:05:06Z",
        "message": {"role": "user", "content": "Mend the pump."},
    }
    [talk] = _transcripts(tmp_path, [row])
    assert (talk.thread, talk.messages[0].id) == ("claude-code-s-1", "u-1")
    assert talk.messages[0].content == "Mend the pump."


def test_an_unknown_role_is_a_speakers_name(tmp_path: Path) -> None:
    [message] = _messages(tmp_path, {"role": "Orla", "content": "I keep bees."})
    assert (message.role, message.name) == ("user", "Orla")


@pytest.mark.parametrize(
    "written",
    ["2031-02-03T04:05:06Z", "2031-02-03 04:05:06", 1927857906, 1927857906000, "1927857906"],
)
def test_times_are_read_as_utc(tmp_path: Path, written: object) -> None:
    [message] = _messages(tmp_path, {"role": "user", "content": "Now.", "created_at": written})
    assert message.created_at == datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize("written", ["yesterday", 1e300, "nan", True, [], "9999-12-31T23:59-14:00"])
def test_a_time_that_is_none_leaves_the_message(tmp_path: Path, written: object) -> None:
    [message] = _messages(tmp_path, {"role": "user", "content": "Now.", "created_at": written})
    assert message.created_at is None


def test_names_longer_than_a_column_are_shortened(tmp_path: Path) -> None:
    row = {"role": "user", "content": "Hi.", "thread_id": "t" * 999, "name": "n" * 999}
    [talk] = _transcripts(tmp_path, [{**row, "id": "i" * 999, "userId": "u" * 999}])
    [message] = talk.messages
    names = (talk.thread, talk.subject or "", message.name, message.id)
    assert all(0 < len(name) <= 255 for name in names)
