"""Taking typed pieces out of JSON whose shape nobody promised. Nothing here raises."""

from memories.transcripts.transcript import Json


def fields(data: Json) -> dict[str, Json]:
    return data if isinstance(data, dict) else {}


def string(data: Json, *keys: str) -> str:
    """The first of `keys` that holds words or a number, as stripped text; else empty."""
    for key in keys:
        found = fields(data).get(key)
        if isinstance(found, str) and found.strip():
            return found.strip()
        if isinstance(found, int | float) and not isinstance(found, bool):
            return str(found)
    return ""


def mapping(data: Json, *keys: str) -> dict[str, Json]:
    """The first of `keys` that holds an object; else an empty one."""
    for key in keys:
        found = fields(data).get(key)
        if isinstance(found, dict):
            return found
    return {}


def items(data: Json, *keys: str) -> list[Json]:
    """The first of `keys` that holds a list; else an empty one."""
    for key in keys:
        found = fields(data).get(key)
        if isinstance(found, list):
            return found
    return []


def first(data: Json, *keys: str) -> Json:
    """The first of `keys` that is there and not null."""
    found = (fields(data).get(key) for key in keys)
    return next((value for value in found if value is not None), None)
