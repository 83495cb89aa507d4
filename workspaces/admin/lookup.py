"""Reading what people paste."""

import uuid


def as_uuid(text: str) -> uuid.UUID | None:
    """The id that `text` is, or None where it is none."""
    try:
        return uuid.UUID(text.strip())
    except ValueError:
        return None
