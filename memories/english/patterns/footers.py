"""What mail programs and newsletters put below a text: signatures, legal notices, ways to unsubscribe.

Nobody says it, so nobody claims it.
"""

import re
from collections.abc import Iterator

MOST_LINES = 12  # of a signature
_speaker = r"(?![^\n]*\b(?:I|we|my|our|me)\b)"
_signature = re.compile(
    rf"^--[ \t]*\n(?:[^\n]*(?:\n|\Z)){{1,{MOST_LINES}}}|^_{{5,}}[ \t]*\n(?=[^\n]*\b(?:from|confidential|disclaimer)\b)"
    rf"(?:[^\n]*(?:\n|\Z)){{1,{MOST_LINES}}}",
    re.MULTILINE | re.IGNORECASE,
)
_footer = re.compile(
    r"^[ \t>]*(?:"
    r"(?:sent|written|typed) (?:from|with|via|on) (?:my (?:[\w-]+ ){0,3}[\w-]+|(?:[\w-]+ )?(?:mail|protonmail|gmail|yahoo|outlook|spark"
    r"|iphone|ipad|android|phone|tablet|mobile|samsung|galaxy|blackberry)\b[^\n]{0,40})[ .!]*"
    r"|get (?:outlook|\w+ mail|the app) for \w+[ .]*"
    r"|on [^\n]{6,80}, [^\n]{2,80} wrote:"
    r"|-{2,} ?(?:original|forwarded) message ?-{2,}"
    rf"|{_speaker}[^\n]*\b(?:unsubscribe|opt out of (?:these|this)|manage (?:your )?(?:email )?(?:preferences|subscriptions?)"
    r"|view (?:this|it)(?: \w+)? in (?:your|a) browser|you(?: are|'re|’re) receiving this|no longer (?:wish|want) to receive"
    r"|all rights reserved|do not reply to this (?:e-?mail|message)|(?:consider|think of) the environment before printing)\b[^\n]*"
    r"|[^\n]{0,60}(?:privacy policy|terms of (?:use|service)) *[|·•][^\n]*|(?:©|\(c\)|copyright) ?(?:©|\(c\))? ?(?:19|20)\d\d[^\n]*"
    r"|(?:this|the information (?:contained )?in this) (?:e-?mail|message|communication|transmission)\b[^\n]*"
    r"\b(?:confidential|privileged|intended (?:only|solely)|intended recipient|addressee)\b[^\n]*"
    r"|(?:confidentiality (?:notice|note)|disclaimer|legal notice)\b ?:[^\n]*"
    r"|if you (?:have received this|are not the intended|received this)[^\n]*"
    r")[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
# one of these, in small letters, stands in each
_signs = (
    "--", "___", "sent from", "sent with", "sent via", "sent on", "written on", "typed on", "get outlook", " for ios",
    " for android", "wrote:", "unsubscribe", "opt out", "manage your", "manage email", "manage preferences",
    "manage subscription", " browser", "receiving this", "to receive", "rights reserved", "do not reply",
    "environment before", "privacy policy", "terms of", "©", "(c)", "copyright", "confidential", "privileged",
    "intended", "addressee", "disclaimer", "legal notice", "received this",
)  # fmt: skip
_line = re.compile(r"[^\n]+")


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Where `text` holds what no person says in it, whole lines each."""
    small = text.lower()
    if not _has_sign(small):
        return
    yield from (found.span() for found in _signature.finditer(text))
    for line in _line.finditer(text):
        if _has_sign(line[0].lower()) and _footer.fullmatch(text, *line.span()):
            yield line.span()


def _has_sign(small: str) -> bool:
    return any(sign in small for sign in _signs)
