"""Makes input fit for a database: Postgres takes no NUL, UTF-8 no lone surrogate, JSON no NaN."""

import math
import re

from memories.transcripts.transcript import Json

SURROGATES = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """NULs go, lone halves of surrogate pairs become the replacement character."""
    if text.isascii():
        return text.replace("\x00", "")
    return SURROGATES.sub("\ufffd", text).replace("\x00", "")


def clean(data: Json) -> Json:
    """The same for all strings of a JSON value, keys too; infinite numbers become null."""
    if isinstance(data, str):
        return clean_text(data)
    if isinstance(data, list):
        return [clean(item) for item in data]
    if isinstance(data, dict):
        return {clean_text(key): clean(item) for key, item in data.items()}
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
