"""Mail: its head, its words, the names of its attachments, and the mails among them."""

import email
from collections.abc import Iterator
from email import policy
from email.message import EmailMessage, MIMEPart
from importlib.util import find_spec

from memories.file_formats.assembly import Assembly, FileRefused, FileText
from memories.file_formats.plain_text_files import decoded
from memories.file_formats.web_pages import shown_text

DEEPEST = 5  # mails around a mail
HEAD = ("From", "To", "Cc", "Date", "Subject")


def read_eml(data: bytes) -> FileText:
    try:
        mail = email.message_from_bytes(data, policy=policy.default)
        made, warnings = Assembly(), list[dict[str, str]]()
        _add(made, mail, warnings, 0)
        sent = getattr(mail["Date"], "datetime", None)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FileRefused("damaged", "This mail cannot be read.") from error
    return made.done(
        extractor="eml",
        title=str(mail["Subject"] or ""),
        author=str(mail["From"] or ""),
        published_at=sent.isoformat() if sent else "",
        warnings=warnings[:200],
    )


def _add(made: Assembly, mail: EmailMessage, warnings: list[dict[str, str]], depth: int) -> None:
    """Add a mail: its head, its words, the names of what hangs on it, and the mails that do."""
    made.add("\n".join(f"{name}: {mail[name]}" for name in HEAD if mail[name]))
    body = mail.get_body(("plain", "html"))
    parts = [part for part in _leaves(mail, body) if part is not body]
    said = [_words_of(part) for part in (body, *parts) if part is not None and _is_said(part)]
    made.add_part("message", str(mail["Subject"] or "message"), "\n\n".join(said))
    hanging = [part for part in parts if not _is_said(part)]
    if hanging:
        made.add(f"Attachments: {', '.join(map(_name_of, hanging))}")
    for part in hanging:
        inner = part.get_payload(0) if part.get_content_type() == "message/rfc822" and part.is_multipart() else None
        if isinstance(inner, EmailMessage) and depth < DEEPEST:
            made.add("Attached mail:")
            _add(made, inner, warnings, depth + 1)
        else:
            warnings.append({"code": "unsupported_type", "part": _name_of(part)})


def _leaves(mail: MIMEPart, body: MIMEPart | None) -> Iterator[MIMEPart]:
    """Yield the parts of a mail that have no parts; a mail in it is one of them. Of alternatives only
    the body, or what is no text."""
    if mail.get_content_maintype() != "multipart":
        yield mail
        return
    is_choice = body is not None and mail.get_content_subtype() == "alternative"
    for part in mail.iter_parts():
        if isinstance(part, MIMEPart) and not (is_choice and part is not body and _is_said(part)):
            yield from _leaves(part, body)


def _is_said(part: MIMEPart) -> bool:
    """Tell whether it is words of the mail itself, and no file."""
    is_text = part.get_content_type() in ("text/plain", "text/html")
    return is_text and not part.get_filename() and not part.is_attachment()


def _name_of(part: MIMEPart) -> str:
    if name := part.get_filename():
        return name
    inner = part.get_payload(0) if part.get_content_type() == "message/rfc822" and part.is_multipart() else None
    subject = str(inner["Subject"] or "") if isinstance(inner, EmailMessage) else ""
    return subject or part.get_content_type()


def _words_of(part: MIMEPart) -> str:
    payload = part.get_payload(decode=True)
    raw = payload if isinstance(payload, bytes) else b""
    try:
        text = raw.decode(part.get_content_charset() or "utf-8")
    except (UnicodeDecodeError, LookupError):
        text = decoded(raw)
    return shown_text(text) if part.get_content_type() == "text/html" else text


def read_msg(data: bytes) -> FileText:
    """Read Outlook's own mail format, with the extra `documents`."""
    if find_spec("xberg") is None:
        raise FileRefused(
            "unsupported_type",
            "Outlook's files are read by the extra `documents` (pip install xberg).",
        )
    import asyncio

    import xberg

    asked = xberg.ExtractInput(kind=xberg.ExtractInputKind.BYTES, bytes=data, filename="a.msg")

    async def read() -> FileText:
        found = (await xberg.extract(asked)).results[0]
        made = Assembly()
        made.add_part("message", "message", found.content)
        return made.done(extractor="xberg")

    return asyncio.run(read())
