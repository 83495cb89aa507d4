"""Reading a file: recognise its layout by its first bytes (text, a log, mail, JSON, an archive of
these), find out what is in it, and hand over its conversations.

A reader of a format is two functions: whether this is the format, and what it holds, as messages
(author, role, time, thread, words, kind) and as lines that tell what was left out.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from memories.transcripts import (
    beam,
    chat_archives,
    chatgpt,
    claude,
    coding_agents,
    discord,
    google_chat,
    json_files,
    locomo,
    mailboxes,
    markdown_files,
    memory_exports,
    message_lists,
    messenger,
    realmem,
    signal_chats,
    slack,
    teams,
    telegram,
    text_files,
    text_logs,
)
from memories.transcripts.text_files import BOM, LONGEST
from memories.transcripts.transcript import (
    BadLine,
    Json,
    JsonValue,
    LeftOut,
    Malformed,
    SourceFile,
    Transcript,
    Unreadable,
    finished,
)

HEAD = 64 * 1024
ZIP = b"PK\x03\x04"
LINE_ENDINGS = frozenset({".jsonl", ".ndjson"})
MARKDOWN_ENDINGS = frozenset({".md", ".markdown", ".mdown"})
MARKDOWN = re.compile(r"^(#{1,6} \S|```|~~~)", re.MULTILINE)
CONTROL = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
KNOWN_BINARIES = (
    (b"\x1f\x8b", "compressed with gzip: unpack it first"),
    (b"%PDF-", "a PDF"),
    (b"\xff\xfe", "UTF-16 text: save it as UTF-8"),
    (b"\xfe\xff", "UTF-16 text: save it as UTF-8"),
    (b"SQLite format 3\x00", "an SQLite database"),
)


SAME = {"openai": "messages", "anthropic": "messages"}
LAYOUTS = {
    "text": text_files.read_text,
    "markdown": markdown_files.read_markdown,
    "statements": memory_exports.read_statements,
    "mail": mailboxes.read_mail,
    **{name: log.read for name, log in text_logs.LOGS.items()},
}
VALUES = {"jsonl": json_files.values_of_lines, "json": json_files.values_of_json}


def layout(path: Path) -> str:
    """Return `zip`, `jsonl`, `json` or one of LAYOUTS. Raises Unreadable if the file is not text at
    all, or a log that nobody knows."""
    head = _head(path)
    if head.startswith(ZIP):
        return "zip"
    for magic, name in KNOWN_BINARIES:
        if head.startswith(magic):
            raise Unreadable(f"it is {name}")
    # A stray NUL is cleaned away later; in a binary file every tenth byte is a control character.
    if len(head) - len(head.translate(None, CONTROL)) > len(head) * 0.02:
        raise Unreadable("it is a binary file")
    words = head.removeprefix(BOM).lstrip()
    opening = words[:1]
    if not opening:
        raise Unreadable("there is nothing in it")
    if opening == b"{" and (path.suffix.lower() in LINE_ENDINGS or _first_line_is_json(path)):
        return "jsonl"
    # A `[` opens many a text too ([1] ...); a list of conversations opens an object or a list.
    second = words[1:].lstrip()[:1]
    is_list = second in (b"{", b"[", b"]") or path.suffix.lower() == ".json"
    if opening == b"{" or (opening == b"[" and is_list):
        return "json"
    if mailboxes.is_mail(head.removeprefix(BOM)):
        return "mail"
    return _text_layout(path, head.removeprefix(BOM).decode("utf-8", "replace"))


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from error
    return head


def _text_layout(path: Path, beginning: str) -> str:
    if found := text_logs.log_format(beginning):
        return found
    if path.suffix.lower() in MARKDOWN_ENDINGS:
        return "markdown"
    is_marked = path.suffix == "" and MARKDOWN.search(beginning)
    return "markdown" if is_marked else "text"


def _first_line_is_json(path: Path) -> bool:
    with path.open("rb") as file:
        line = file.readline(LONGEST).removeprefix(BOM)
        while not line.strip():
            line = file.readline(LONGEST)
    try:
        json.loads(line, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


class FormatReader(NamedTuple):
    recognises: Callable[[Json], bool]
    read: Callable[[JsonValue, SourceFile], Iterator[Transcript | BadLine]]


# In the order in which they are tried; the one that takes nearly everything comes last.
READERS = {
    "chatgpt": FormatReader(chatgpt.is_chatgpt_export, chatgpt.read_chatgpt),
    "claude": FormatReader(claude.is_claude_export, claude.read_claude),
    "claude-code": FormatReader(coding_agents.is_claude_code, coding_agents.read_claude_code),
    "codex": FormatReader(coding_agents.is_codex, coding_agents.read_codex),
    "gemini-cli": FormatReader(coding_agents.is_gemini_cli, coding_agents.read_gemini_cli),
    "telegram": FormatReader(telegram.is_telegram, telegram.read_telegram),
    "discord": FormatReader(discord.is_discord, discord.read_discord),
    "slack": FormatReader(slack.is_slack, slack.read_slack),
    "messenger": FormatReader(messenger.is_messenger, messenger.read_messenger),
    "signal": FormatReader(signal_chats.is_signal, signal_chats.read_signal),
    "google-chat": FormatReader(google_chat.is_google_chat, google_chat.read_google_chat),
    "teams": FormatReader(teams.is_teams, teams.read_teams),
    "locomo": FormatReader(locomo.is_locomo, locomo.read_locomo),
    "beam": FormatReader(beam.is_beam, beam.read_beam),
    "realmem": FormatReader(realmem.is_realmem, realmem.read_realmem),
    "claude-memory": FormatReader(memory_exports.is_claude_memory, memory_exports.read_claude_memory),
    "supermemory": FormatReader(memory_exports.is_supermemory, memory_exports.read_supermemory),
    "mem0": FormatReader(memory_exports.is_mem0, memory_exports.read_mem0),
    "messages": FormatReader(message_lists.is_messages, message_lists.read_messages),
}
FORMATS = (*LAYOUTS, *VALUES, *READERS, *SAME)


def read(path: Path, format: str | None = None) -> Iterator[Transcript | BadLine]:  # noqa: A002
    """Return the conversations of a file and what could not be read of it, in the file's order.

    `format` is one of FORMATS and overrules what the content looks like. The same file gives the
    same message ids each time. Raises Unreadable at once if the file is not text, is empty or
    cannot be opened; ValueError for an unknown format.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"unknown format {format!r}: one of {', '.join(FORMATS)}")
    if format in LAYOUTS:
        return finished(_told(LAYOUTS[format], SourceFile.of(path)))
    found = layout(path)
    if found == "zip":
        chat_archives.check(path)
        return finished(_of_archive(path, format))
    return finished(_of_file(path, SourceFile.of(path), found, format))


def _of_file(
    path: Path,
    source: SourceFile,
    found: str,
    format: str | None,  # noqa: A002
) -> Iterator[Transcript | BadLine]:
    if found in LAYOUTS and format is None:
        return _told(LAYOUTS[found], source)
    if found in LAYOUTS and format not in VALUES:
        raise Unreadable(f"it is {found}, not {format}")
    values = VALUES[format if format in VALUES else found](path)
    return _told(lambda source: _conversations(values, source, SAME.get(format or "", format or "")), source)


def _told(
    reader: Callable[[SourceFile], Iterator[Transcript | BadLine]], source: SourceFile
) -> Iterator[Transcript | BadLine]:
    """Yield what a reader finds, then what it left out on purpose."""
    yield from reader(source)
    yield from source.left_out.lines()


def _of_archive(path: Path, format: str | None) -> Iterator[Transcript | BadLine]:  # noqa: A002
    """Yield the conversations of the files in an archive, with their names where something is told."""
    left_out = LeftOut()
    with tempfile.TemporaryDirectory() as folder:
        for inner in chat_archives.unpacked(path, Path(folder), left_out):
            if isinstance(inner, BadLine):
                yield inner
                continue
            source = SourceFile.of(inner)
            if inner.parent == Path(folder) and source.name != inner.stem:
                source = replace(source, name=path.stem)  # a name that says nothing: the archive's
            shown = inner.relative_to(folder)
            try:
                found = layout(inner)
                parts = () if found == "zip" else _of_file(inner, source, found, format)
                for part in parts:
                    yield part if isinstance(part, Transcript) else BadLine(part.line, f"{shown}: {part.reason}")
            except Unreadable as error:
                yield BadLine(1, f"{shown}: {error}")
        yield from left_out.lines()


def _conversations(
    values: Iterable[JsonValue | BadLine], source: SourceFile, name: str
) -> Iterator[Transcript | BadLine]:
    readers = [READERS[name]] if name in READERS else list(READERS.values())
    expected = f"in the format {name}" if name in READERS else "a message or conversation we know"
    for value in values:
        if isinstance(value, BadLine):
            yield value
            continue
        reader = next((r for r in readers if r.recognises(value.data)), None)
        if reader is None:
            yield BadLine(value.line, f"this is not {expected}")
            continue
        try:
            yield from reader.read(value, source)
        except Malformed as error:
            yield BadLine(value.line, str(error))
