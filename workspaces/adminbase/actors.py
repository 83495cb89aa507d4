"""Who did it, and to what, in words: decisions and audit lines keep `user:<id>` and `key:<id>`."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from django.apps import apps
from django.db.models import Model
from django.db.models.functions import Left

from workspaces.auth import as_uuid
from workspaces.models import ApiKey, Membership, Subject, User

# Where the model that a line of the audit log is about is defined, and has its page.
APPS = ("memories", "workspaces")

# Of models whose own names are words of the code.
KINDS = {
    "featureset": "profile",
    "supersession": "replacement",
    "memorysession": "messages",
    "workspaceslot": "attribute",
    "subject": "person",
}

# The first of these that a model has is how people know its rows; one that has none of them may
# tell its rows itself, by a class method `words_of(ids)`.
NAMES = ("content", "statement", "name", "title", "external_id", "key", "username", "slug")
LONGEST = 90


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


def name_of(actor: str) -> str:
    """Of one, as `names_of`."""
    return names_of([actor]).get(actor, actor)


def _ids(actors: set[str], kind: str) -> dict[str, uuid.UUID]:
    named = {each: as_uuid(each.removeprefix(f"{kind}:")) for each in actors}
    return {each: pk for each, pk in named.items() if pk and each.startswith(f"{kind}:")}


def kind_text(kind: str) -> str:
    """The word for a model: `messages` for memorysession."""
    model = _model(kind)
    return KINDS.get(kind) or (str(model._meta.verbose_name) if model else kind)


def describe_targets(lines: Sequence[Any]) -> None:
    """Set `words` and `subject_name` on each line: one query per kind of row, and one more."""
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for line in lines:
        by_kind[line.target_kind].append(line)
    for kind, own in by_kind.items():
        known = _words(kind, {line.target_id for line in own})
        for line in own:
            line.words = known.get(line.target_id) or _kept(line)
    of = {line.subject_id for line in lines if line.subject_id and line.target_kind != "subject"}
    subjects = {each.pk: str(each) for each in Subject.objects.filter(pk__in=of)} if of else {}
    for line in lines:
        line.subject_name = subjects.get(line.subject_id, "")


def _words(kind: str, ids: Iterable[Any]) -> dict[Any, str]:
    if kind == Membership._meta.model_name:
        members = Membership.objects.filter(pk__in=ids).select_related("user")
        return {each.pk: str(each.user) for each in members}
    model = _model(kind)
    if model is not None and hasattr(model, "words_of"):
        return dict(model.words_of(ids))
    fields = {field.name for field in model._meta.concrete_fields} if model else set()
    names = [name for name in NAMES if name in fields]
    if model is None or not names:
        return {}
    rows = model._default_manager.filter(pk__in=ids)
    heads = [Left(name, LONGEST * 2) for name in names]
    return {pk: _first(texts) for pk, *texts in rows.values_list("pk", *heads)}


def _model(kind: str) -> type[Model] | None:
    for app in APPS:
        with suppress(LookupError):
            return apps.get_model(app, kind)
    return None


def _kept(line: Any) -> str:
    """What the line itself kept, where the row is gone."""
    for state in (line.after, line.before):
        if isinstance(state, dict):
            texts = [state[name] for name in NAMES if isinstance(state.get(name), str)]
            if texts:
                return _first(texts)
    return ""


def _first(texts: Iterable[str]) -> str:
    words = next((" ".join(each.split()) for each in texts if each), "")
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
