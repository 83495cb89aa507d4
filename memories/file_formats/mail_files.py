"""Mail: its head, its words, the names of its attachments."""

import email
from email import policy
from email.message import EmailMessage
from importlib.util import find_spec

from memories.file_formats.assembly import Assembly, FileRefused, FileText
from memories.file_formats.plain_text_files import decoded
from memories.file_formats.web_pages import shown_text

HEAD = ("From", "To", "Cc", "Date", "Subject")


def read_eml(data: bytes) -> FileText:
    try:
        mail = email.message_from_bytes(data, policy=policy.default)
        head = [f"{name}: {mail[name]}" for name in HEAD if mail[name]]
        body = _body_of(mail)
        hanging = [part.get_filename() or "" for part in mail.iter_attachments()]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FileRefused("damaged", "This mail cannot be read.") from error
    made = Assembly()
    made.add("\n".join(head))
    made.add_part("message", str(mail["Subject"] or "message"), body)
    if hanging:
        made.add(f"Attachments: {', '.join(filter(None, hanging))}")
    warnings = [{"code": "unsupported_type", "part": name} for name in hanging if name]
    sent = mail["Date"].datetime if mail["Date"] and hasattr(mail["Date"], "datetime") else None
    return made.done(
        extractor="eml",
        title=str(mail["Subject"] or ""),
        author=str(mail["From"] or ""),
        published_at=sent.isoformat() if sent else "",
        warnings=warnings,
    )


def _body_of(mail: EmailMessage) -> str:
    part = mail.get_body(("plain", "html"))
    if part is None:
        return ""
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
