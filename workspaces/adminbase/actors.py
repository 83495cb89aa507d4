"""Who did it, and to what, in words: decisions and audit lines keep `user:<id>` and `key:<id>`."""

import uuid
from collections.abc import Iterable
from contextlib import suppress

from django.apps import apps

from workspaces.auth import as_uuid
from workspaces.models import ApiKey, User

# Where the model that a line of the audit log is about is defined, and has its page.
APPS = ("memories", "workspaces")


def names_of(actors: Iterable[str]) -> dict[str, str]:
    """A readable name for each actor; what cannot be resolved stays as it is."""
    wanted = {actor for actor in actors if actor}
    names = {actor: actor.partition(":")[0] for actor in wanted}
    if people := _ids(wanted, "user"):
        names |= dict.fromkeys(people, "a user that is gone")
        rows = User.objects.filter(pk__in=people.values()).values_list("pk", "username")
        names |= {f"user:{pk}": name for pk, name in rows}
    if keys := _ids(wanted, "key"):
        names |= dict.fromkeys(keys, "a key that is gone")
        programs = ApiKey.objects.filter(pk__in=keys.values())
        for pk, name, agent in programs.values_list("pk", "name", "agent__external_id"):
            names[f"key:{pk}"] = f"key {name} of {agent}" if agent else f"key {name}"
    return names


def _ids(actors: set[str], kind: str) -> dict[str, uuid.UUID]:
    named = {each: as_uuid(each.removeprefix(f"{kind}:")) for each in actors}
    return {each: pk for each, pk in named.items() if pk and each.startswith(f"{kind}:")}


def kind_text(kind: str) -> str:
    """The word for a model: `session` for memorysession."""
    for app in APPS:
        with suppress(LookupError):
            return str(apps.get_model(app, kind)._meta.verbose_name)
    return kind
