"""Exports of ChatGPT and Claude, and the data sets' own formats."""

import json
from datetime import UTC, datetime
from pathlib import Path

from memories.transcripts import BadLine, Transcript, TranscriptMessage, read

Node = dict[str, object]


def _transcripts(folder: Path, value: object, name: str = "conversations.json") -> list[Transcript]:
    path = folder / name
    path.write_text(json.dumps(value))
    return [part for part in read(path) if isinstance(part, Transcript)]


def _node(name: str, parent: str | None, role: str, text: str, **more: object) -> Node:
    message = {
        "id": f"m-{name}",
        "author": {"role": role},
        "create_time": 1927857906.0,
        "content": {"content_type": "text", "parts": [text]},
        **more,
    }
    return {"id": name, "parent": parent, "children": [], "message": message}


def _chatgpt(*nodes: Node, current: str | None) -> Node:
    mapping = {str(node["id"]): node for node in nodes}
    mapping["root"] = {"id": "root", "parent": None, "children": ["a"], "message": None}
    return {
        "title": "Bees",
        "conversation_id": "talk-1",
        "mapping": mapping,
        "current_node": current,
    }


def test_chatgpt_conversations_follow_the_branch_that_was_kept(tmp_path: Path) -> None:
    nodes = (
        _node("a", "root", "user", "How many hives should I keep?"),
        _node("b1", "a", "assistant", "Ten."),
        _node("b2", "a", "assistant", "Two to begin with."),
    )
    [talk] = _transcripts(tmp_path, [_chatgpt(*nodes, current="b2")])
    assert (talk.thread, talk.title) == ("talk-1", "Bees")
    assert [(m.id, m.content) for m in talk.messages] == [
        ("m-a", "How many hives should I keep?"),
        ("m-b2", "Two to begin with."),
    ]
    assert talk.messages[0].created_at == datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_chatgpt_without_a_current_node_takes_the_newest_leaf(tmp_path: Path) -> None:
    nodes = (
        _node("a", "root", "user", "Question", create_time=1.0),
        _node("b", "a", "assistant", "Old answer", create_time=2.0),
        _node("c", "a", "assistant", "New answer", create_time=3.0),
    )
    nodes[0]["children"] = ["b", "c"]
    [talk] = _transcripts(tmp_path, [_chatgpt(*nodes, current=None)])
    assert [m.content for m in talk.messages] == ["Question", "New answer"]


def test_chatgpt_trees_that_bite_their_tail_end(tmp_path: Path) -> None:
    nodes = (_node("a", "b", "user", "One"), _node("b", "a", "assistant", "Two"))
    [talk] = _transcripts(tmp_path, [_chatgpt(*nodes, current="b")])
    assert [m.content for m in talk.messages] == ["One", "Two"]


def _only(folder: Path, node: Node) -> TranscriptMessage:
    [talk] = _transcripts(folder, [_chatgpt(node, current=str(node["id"]))])
    [message] = talk.messages
    return message


def test_chatgpt_pictures_and_speech_are_read(tmp_path: Path) -> None:
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        {"content_type": "audio_transcription", "text": "What plant is this?"},
    ]
    content = {"content_type": "multimodal_text", "parts": parts}
    message = _only(tmp_path, _node("a", "root", "user", "", content=content))
    assert message.content == "[image]\nWhat plant is this?"


def test_chatgpt_tool_calls_and_results_keep_their_kind(tmp_path: Path) -> None:
    code = {"content_type": "code", "language": "python", "text": "1 + 1"}
    output = {"content_type": "execution_output", "text": "2"}
    nodes = (
        _node("a", "root", "assistant", "", content=code, recipient="python"),
        _node("b", "a", "tool", "", content=output, author={"role": "tool", "name": "python"}),
    )
    [talk] = _transcripts(tmp_path, [_chatgpt(*nodes, current="b")])
    used, result = talk.messages
    assert (used.kind, used.tool_name, used.input) == ("tool_use", "python", "1 + 1")
    assert (result.kind, result.tool_name, result.content) == ("tool_result", "python", "2")


def test_chatgpt_instructions_are_kept_and_hidden_or_unsaid_words_are_not(tmp_path: Path) -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    about = {"content_type": "user_editable_context", "user_profile": "A beekeeper."}
    thoughts = {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]}
    nodes = (
        _node("a", "root", "system", "Internal note", metadata=hidden),
        _node("b", "a", "user", "", content=about, metadata=hidden),
        _node("c", "b", "assistant", "", content=thoughts),
        _node("d", "c", "user", "Hello"),
    )
    [talk] = _transcripts(tmp_path, [_chatgpt(*nodes, current="d")])
    assert [(m.role, m.content) for m in talk.messages] == [
        ("system", "A beekeeper."),
        ("user", "Hello"),
    ]


def test_an_export_without_messages_is_reported_and_the_rest_kept(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    full = _chatgpt(_node("a", "root", "user", "Hello"), current="a")
    path.write_text(json.dumps([_chatgpt(current="root"), full]))
    empty, talk = sorted(read(path), key=lambda part: isinstance(part, Transcript))
    assert isinstance(empty, BadLine)
    assert empty.reason == "conversation 'Bees' has no messages"
    assert isinstance(talk, Transcript)


def _claude(*messages: Node) -> list[Node]:
    return [
        {
            "uuid": "c-1",
            "name": "Sourdough",
            "account": {"uuid": "acc"},
            "chat_messages": list(messages),
        }
    ]


def test_claude_conversations_are_read(tmp_path: Path) -> None:
    human = {
        "uuid": "h-1",
        "sender": "human",
        "text": "Why does my loaf sink?",
        "content": [{"type": "text", "text": "Why does my loaf sink?"}],
        "created_at": "2031-02-03T04:05:06.000000Z",
        "attachments": [{"file_name": "loaf.txt", "extracted_content": "..."}],
    }
    old = {"uuid": "a-1", "sender": "assistant", "text": "It may be overproved."}
    [talk] = _transcripts(tmp_path, _claude(human, old))
    assert (talk.thread, talk.title) == ("c-1", "Sourdough")
    assert [(m.id, m.role, m.content) for m in talk.messages] == [
        ("h-1", "user", "Why does my loaf sink?\n\n[loaf.txt]\n```\n...\n```"),
        ("a-1", "assistant", "It may be overproved."),
    ]
    assert talk.messages[0].metadata == {"attachments": ["loaf.txt"]}
    assert talk.messages[0].created_at == datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_claude_tools_keep_their_kind(tmp_path: Path) -> None:
    blocks = [
        {"type": "text", "text": "I will check."},
        {"type": "tool_use", "id": "t", "name": "web_search", "input": {"query": "crumb"}},
        {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "Found"}]},
        {"type": "text", "text": "Give it less time."},
    ]
    message = {"uuid": "a-1", "sender": "assistant", "text": "", "content": blocks}
    [talk] = _transcripts(tmp_path, _claude(message))
    assert [m.kind for m in talk.messages] == [
        "assistant",
        "tool_use",
        "tool_result",
        "assistant",
    ]
    assert talk.messages[2].tool_name == "web_search"


def _locomo() -> Node:
    first = {"dia_id": "D1:1", "speaker": "Wren", "text": "I bought a kayak."}
    photo = {"dia_id": "D1:2", "speaker": "Teo", "text": "See!", "blip_caption": "a red kayak"}
    conversation = {
        "speaker_a": "Wren",
        "session_10": [{"dia_id": "D10:1", "speaker": "Teo", "text": "Back again."}],
        "session_10_date_time": "not known",
        "session_1": [first, photo],
        "session_1_date_time": "9:05 pm on 3 February, 2031",
    }
    return {"sample_id": "pair-9", "conversation": conversation, "qa": []}


def test_locomo_gives_one_subject_and_a_thread_for_each_session(tmp_path: Path) -> None:
    one, ten = _transcripts(tmp_path, [_locomo()])
    assert (one.thread, ten.thread, one.subject) == ("pair-9-1", "pair-9-10", "pair-9")
    assert [(m.id, m.name, m.content) for m in one.messages] == [
        ("D1:1", "Wren", "I bought a kayak."),
        ("D1:2", "Teo", "See! [shared a photo: a red kayak]"),
    ]
    assert one.messages[0].created_at == datetime(2031, 2, 3, 21, 5, tzinfo=UTC)


def test_a_locomo_date_that_is_none_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    path.write_text(json.dumps([_locomo()]))
    bad = [part for part in read(path) if isinstance(part, BadLine)]
    assert [part.reason for part in bad] == ["session_10_date_time is no time: 'not known'"]


def test_beam_gives_a_thread_for_each_batch(tmp_path: Path) -> None:
    turns = [
        [
            {"id": 0, "role": "user", "content": "Plan my garden. ->-> 1,2", "time_anchor": "x"},
            {"id": 1, "role": "assistant", "content": "Gladly."},
        ],
        [{"id": 2, "role": "user", "content": "Beans?", "time_anchor": "February-03-2031"}],
    ]
    folder = tmp_path / "garden"
    folder.mkdir()
    [talk] = _transcripts(folder, [{"batch_number": 1, "turns": turns}], "chat.json")
    assert (talk.subject or "").endswith("garden")
    assert talk.thread == f"{talk.subject}-1"
    assert [(m.id, m.role, m.content) for m in talk.messages] == [
        ("0", "user", "Plan my garden."),
        ("1", "assistant", "Gladly."),
        ("2", "user", "Beans?"),
    ]
    assert talk.messages[2].created_at == datetime(2031, 2, 3, tzinfo=UTC)


def test_realmem_gives_a_thread_for_each_dialogue(tmp_path: Path) -> None:
    turns = [
        {"speaker": "User", "content": "Book the ferry."},
        {"speaker": "Assistant", "content": "Which day?"},
    ]
    dialogue = {"current_time": "2031-02-03 (Monday)", "dialogue_turns": turns}
    data = {"_metadata": {"person_name": "Ines"}, "dialogues": [dialogue, dialogue]}
    first, second = _transcripts(tmp_path, data, "ines.json")
    assert (first.thread, second.thread, first.subject) == ("Ines-0", "Ines-1", "Ines")
    assert [(m.id, m.role) for m in second.messages] == [("1:1", "user"), ("1:2", "assistant")]
    assert first.messages[0].created_at == datetime(2031, 2, 3, tzinfo=UTC)
