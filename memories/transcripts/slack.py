"""Slack's export: a folder for each channel, in it a file for each day, beside them users.json."""

import html
import json
import re
from collections.abc import Iterator

from memories.transcripts.chat_message import SYSTEM, Chat, LogMessage
from memories.transcripts.json_values import clean, first, instant, items, mapping, string
from memories.transcripts.transcript import BadLine, Json, JsonValue, SourceFile, Transcript

MOST_USERS = 64 << 20  # bytes of users.json
MENTION = re.compile(r"<(?P<kind>[@#!])?(?P<id>[^<>|\n]{1,400})(?:\|(?P<shown>[^<>\n]{0,400}))?>")
# What is a message of a person in spite of its subtype; the others tell of joins, names, pins.
SPOKEN = frozenset(
    {"", "thread_broadcast", "reply_broadcast", "me_message", "file_share", "file_comment", "bot_message"}
)


def is_slack(data: Json) -> bool:
    return string(data, "type") == "message" and bool(re.fullmatch(r"\d{9,11}\.\d{3,6}", string(data, "ts")))


def read_slack(value: JsonValue, source: SourceFile) -> Iterator[Transcript | BadLine]:
    raw, folder = value.data, source.path.resolve().parent
    channel = folder.name if (folder.parent / "users.json").is_file() else source.name
    chat = Chat(source, value.line, f"slack-{channel}", f"#{channel}")
    if string(raw, "subtype") not in SPOKEN or first(raw, "hidden") is True:
        chat.leave_out(SYSTEM)
        return
    names = _names(source)
    own = mapping(raw, "user_profile")
    bot = string(raw, "username") or string(mapping(raw, "bot_profile"), "name")
    user = string(raw, "user")
    is_bot = bool(string(raw, "bot_id")) or string(raw, "subtype") == "bot_message"
    author = (bot if is_bot else "") or names.get(user) or string(own, "display_name", "real_name", "name") or user
    ts, thread = string(raw, "ts"), string(raw, "thread_ts")
    said = LogMessage(
        id=ts,
        author=author or "a bot",
        at=instant(ts),
        text=plain_text(string(raw, "text"), names),
        files=[string(file, "name", "title") for file in items(raw, "files")],
        reply_to=thread if thread != ts else "",
        thread=thread,
        is_bot=is_bot,
        metadata={"edited": string(mapping(raw, "edited"), "ts")},
    )
    yield from chat.hand_over(said)


def _names(source: SourceFile) -> dict[str, str]:
    """Return the shown names of users by id, read once for a file."""
    if source.known:
        return source.known
    source.known[""] = ""  # it was looked for
    path = source.path.resolve().parent.parent / "users.json"
    try:
        if path.stat().st_size > MOST_USERS:
            return source.known
        users = clean(json.loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError):
        return source.known
    for user in users if isinstance(users, list) else []:
        profile = mapping(user, "profile")
        name = string(profile, "display_name", "real_name") or string(user, "real_name", "name")
        source.known[string(user, "id")] = name
    return source.known


def plain_text(text: str, names: dict[str, str]) -> str:
    """Return Slack's text with names in place of ids, and links by what they show."""

    def shown(found: re.Match[str]) -> str:
        kind, name = found["kind"] or "", found["id"]
        if kind == "@":
            return f"@{found['shown'] or names.get(name) or name}"
        if kind == "!":
            return f"@{(found['shown'] or name.partition('^')[0]).lstrip('@')}"
        return f"#{found['shown'] or name}" if kind else found["shown"] or name

    return html.unescape(MENTION.sub(shown, text))
