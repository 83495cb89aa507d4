"""Who did it, in words: decisions and audit lines keep `user:<id>` and `key:<id>`."""

from collections.abc import Iterable
from typing import Any

from workspaces.auth import as_uuid
from workspaces.models import ApiKey, User


def names_of(actors: Iterable[str]) -> dict[str, str]:
    """A readable name for each actor; what cannot be resolved stays as it is."""
    wanted = {actor for actor in actors if actor}
    names = {actor: actor.partition(":")[0] for actor in wanted}
    names |= _found(wanted, "user", User, "username")
    names |= _found(wanted, "key", ApiKey, "name")
    return names


def _found(actors: set[str], kind: str, model: Any, name: str) -> dict[str, str]:
    ids = {each: each.partition(":")[2] for each in actors if each.startswith(f"{kind}:")}
    if not ids:
        return {}
    known = {
        str(pk): value
        for pk, value in model.objects.filter(pk__in=filter(as_uuid, ids.values())).values_list(
            "pk", name
        )
    }
    gone = f"a {kind} that is gone"
    prefix = "" if kind == "user" else f"{kind} "
    return {a: f"{prefix}{known[i]}" if i in known else gone for a, i in ids.items()}
