"""Mail as files: one mail (EML), or a mailbox with many (mbox). Each is a message of its sender, at its
time; answers stand in the thread of what they answer."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.utils import getaddresses, parsedate_to_datetime

from memories.transcripts.json_values import clean_text
from memories.transcripts.rich_text import words_of_html
from memories.transcripts.transcript import BadLine, Json, SourceFile, Transcript, TranscriptMessage, digest

LONGEST_MAIL = 32 << 20  # bytes
LONGEST_LINE = 1 << 20
LONGEST_BODY = 100_000  # characters
DEEPEST = 5  # mails in mails
HEADER = re.compile(rb"^[A-Za-z][A-Za-z0-9-]{1,60}:[ \t]?[^\r\n]*(?:\r?\n[ \t]+[^\r\n]*)*\r?\n", re.MULTILINE)
ENVELOPE = re.compile(rb"^From \S+.{0,60}\d{4}\s*$")
OPENINGS = frozenset({b"date:", b"subject:", b"message-id:", b"mime-version:"})
REPLY = re.compile(r"^(?:(?:re|aw|antw|sv|vs|r|res|fwd?|wg|tr|rv|i)(?:\[\d+\])?: *)+", re.IGNORECASE)


def is_mail(beginning: bytes) -> bool:
    """Tell whether a file begins like a mail, or like a mailbox: with headers, the sender and date
    among them."""
    first, _, rest = beginning.lstrip(b"\r\n").partition(b"\n")
    if not ENVELOPE.match(first.strip()):
        rest = beginning.lstrip(b"\r\n")
    met, at = set[bytes](), 0
    while found := HEADER.match(rest, at):
        met.add(found[0].partition(b":")[0].lower() + b":")
        at = found.end()
    return b"from:" in met and len(met & OPENINGS) > 1


def read_mail(source: SourceFile) -> Iterator[Transcript | BadLine]:
    """Read a mail, or all of a mailbox, one in memory at a time."""
    for line, raw in _mails(source):
        if len(raw) > LONGEST_MAIL:
            yield BadLine(line, f"a mail of more than {LONGEST_MAIL:,} bytes")
            continue
        # The parser takes whatever is there; a header that cannot be read raises when it is asked.
        try:
            mail = message_from_bytes(raw, policy=policy.default)
            assert isinstance(mail, EmailMessage)
            yield from _read_one(mail, line, source)
        except (ValueError, LookupError, AttributeError, IndexError, RecursionError) as error:
            yield BadLine(line, f"a mail that cannot be read: {error}")


def _mails(source: SourceFile) -> Iterator[tuple[int, bytes]]:
    begun, number, size, is_blank = 1, 0, 0, True
    parts: list[bytes] = []
    with source.path.open("rb") as file:
        while raw := file.readline(LONGEST_LINE):
            number += raw.endswith(b"\n")
            if is_blank and ENVELOPE.match(raw.strip()):
                if size:
                    yield begun, b"".join(parts)
                begun, size, parts = number, 0, []
                continue
            is_blank = not raw.strip()
            size += len(raw)
            if size <= LONGEST_MAIL + LONGEST_LINE:
                # In a mailbox, lines that begin like the next mail are marked.
                parts.append(raw[1:] if re.match(rb">+From ", raw) else raw)
    if size:
        yield begun, b"".join(parts)


def _read_one(
    mail: EmailMessage, line: int, source: SourceFile, root: str = "", depth: int = 0
) -> Iterator[Transcript | BadLine]:
    name, address = next(iter(getaddresses([str(mail["From"] or "")])), ("", ""))
    subject = " ".join(str(mail["Subject"] or "").split())
    own = str(mail["Message-ID"] or "").strip()
    before = re.findall(r"<[^<>\s]{3,200}>", f"{mail['References'] or ''} {mail['In-Reply-To'] or ''}")
    root = root or str(mail["X-GM-THRID"] or "") or (before[0] if before else own or subject)
    attached = list(mail.iter_attachments()) if mail.is_multipart() else []
    for inner in (part for part in attached if part.get_content_type() == "message/rfc822" and depth < DEEPEST):
        if isinstance(passed_on := inner.get_content(), EmailMessage):
            yield from _read_one(passed_on, line, source, root, depth + 1)
    if not (name or address):
        yield BadLine(line, "a mail without a sender")
        return
    others = [part for part in attached if part.get_content_type() != "message/rfc822"]
    files = [part.get_filename() or part.get_content_type() for part in others]
    body = clean_text(_body(mail)).strip()
    if len(body) > LONGEST_BODY:
        source.left_out.add(line, f"what goes beyond {LONGEST_BODY:,} characters of a mail")
    if files:
        source.left_out.add(line, "files attached to a mail (their names are kept)")
    metadata: dict[str, Json] = {"subject": subject, "address": address}
    if files:
        metadata["attachments"] = list(files)
    if before:
        metadata["replyTo"] = before[-1]
    title = REPLY.sub("", subject) or source.name
    content = body[:LONGEST_BODY] or subject
    if not content:
        source.left_out.add(line, "a message without words")
        return
    message = TranscriptMessage(own, "user", content, name or address, _date(mail), metadata, kind="user")
    yield Transcript(f"mail-{digest(root)}", title, None, (message,), line)


def _body(mail: EmailMessage) -> str:
    part = mail.get_body(("plain", "html"))
    if part is None:
        return ""
    try:
        text = str(part.get_content())
    except (LookupError, UnicodeError):  # an encoding that nobody knows
        payload = part.get_payload(decode=True)
        text = payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""
    return words_of_html(text) if part.get_content_type() == "text/html" else text.replace("\r\n", "\n")


def _date(mail: EmailMessage) -> datetime | None:
    try:
        moment = parsedate_to_datetime(str(mail["Date"] or ""))
    except (ValueError, TypeError, IndexError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
