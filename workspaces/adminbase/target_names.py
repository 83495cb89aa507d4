"""Names of the rows that an act was done to."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db.models import Model, Value
from django.db.models.functions import Left
from django.utils.translation import gettext_lazy

from workspaces.auth import as_uuid
from workspaces.models import ApiKey, Membership, Subject, User

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise


# Names of actors and rows: decisions and audit lines keep `user:<id>` and `key:<id>`.

# Where the model that a line of the audit log is about is defined, and has its page.
APPS = ("memories", "workspaces")

# The singular and the plural of a model's rows, in the navigation's words.
KINDS: dict[str, tuple["StrPromise", "StrPromise"]] = {
    "agent": (gettext_lazy("agent"), gettext_lazy("agents")),
    "apikey": (gettext_lazy("API key"), gettext_lazy("API keys")),
    "auditentry": (gettext_lazy("act"), gettext_lazy("acts")),
    "breaker": (gettext_lazy("model"), gettext_lazy("models")),
    "case": (gettext_lazy("case"), gettext_lazy("cases")),
    "connection": (gettext_lazy("source"), gettext_lazy("sources")),
    "space": (gettext_lazy("space"), gettext_lazy("spaces")),
    "conversation": (gettext_lazy("conversation"), gettext_lazy("conversations")),
    "document": (gettext_lazy("document"), gettext_lazy("documents")),
    "episode": (gettext_lazy("message"), gettext_lazy("messages")),
    "erasure": (gettext_lazy("erasure"), gettext_lazy("erasures")),
    "evaluationrun": (gettext_lazy("measured run"), gettext_lazy("measured runs")),
    "fact": (gettext_lazy("statement"), gettext_lazy("statements")),
    "failure": (gettext_lazy("failed task"), gettext_lazy("failed tasks")),
    "feature": (gettext_lazy("profile note"), gettext_lazy("profile notes")),
    "featureset": (gettext_lazy("profile"), gettext_lazy("profiles")),
    "goldenquestion": (gettext_lazy("test question"), gettext_lazy("test questions")),
    "indexrepair": (gettext_lazy("index repair"), gettext_lazy("index repairs")),
    "intent": (gettext_lazy("request"), gettext_lazy("requests")),
    "invitation": (gettext_lazy("invitation"), gettext_lazy("invitations")),
    "legalhold": (gettext_lazy("legal hold"), gettext_lazy("legal holds")),
    "loginattempt": (gettext_lazy("wrong login"), gettext_lazy("wrong logins")),
    "longjob": (gettext_lazy("piece of work"), gettext_lazy("pieces of work")),
    "membership": (gettext_lazy("member"), gettext_lazy("members")),
    "memory": (gettext_lazy("memory"), gettext_lazy("memories")),
    "memorysession": (gettext_lazy("intake"), gettext_lazy("intakes")),
    "miss": (gettext_lazy("text not understood"), gettext_lazy("texts not understood")),
    "modelprice": (gettext_lazy("price"), gettext_lazy("prices")),
    "ormq": (gettext_lazy("waiting task"), gettext_lazy("waiting tasks")),
    "rejection": (gettext_lazy("rejected statement"), gettext_lazy("rejected statements")),
    "schedule": (gettext_lazy("schedule"), gettext_lazy("schedules")),
    "serverkey": (gettext_lazy("server key"), gettext_lazy("server keys")),
    "subject": (gettext_lazy("person"), gettext_lazy("people")),
    "supersession": (gettext_lazy("decision"), gettext_lazy("decisions")),
    "user": (gettext_lazy("account"), gettext_lazy("accounts")),
    "webhook": (gettext_lazy("webhook"), gettext_lazy("webhooks")),
    "webhookdelivery": (gettext_lazy("delivery"), gettext_lazy("deliveries")),
    "workerbeat": (gettext_lazy("worker"), gettext_lazy("workers")),
    "workspace": (gettext_lazy("workspace"), gettext_lazy("workspaces")),
    "workspacechange": (gettext_lazy("change word"), gettext_lazy("change words")),
    "workspacepattern": (gettext_lazy("own pattern"), gettext_lazy("own patterns")),
    "workspaceremoval": (gettext_lazy("removal"), gettext_lazy("removals")),
    "workspaceslot": (gettext_lazy("attribute"), gettext_lazy("attributes")),
}

# People know a model's rows by the first of these fields that it has; a model with none of them
# may name its rows itself, by a class method `words_of(ids)`.
NAMES = ("content", "statement", "name", "title", "external_id", "key", "username", "slug")
LONGEST = 90


def names_of(actors: Iterable[str]) -> dict[str, str]:
    """Return a readable name for each actor, in one statement; unknown actors keep their text."""
    wanted = {actor for actor in actors if actor}
    names = {actor: actor.partition(":")[0] for actor in wanted}
    people, keys = _ids(wanted, "user"), _ids(wanted, "key")
    names |= dict.fromkeys(people, "a user that is gone") | dict.fromkeys(keys, "a key that is gone")
    if not people and not keys:
        return names
    users = User.objects.filter(pk__in=people.values())
    programs = ApiKey.objects.filter(pk__in=keys.values())
    rows = users.values_list(Value("user"), "pk", "username", Value("")).union(
        programs.values_list(Value("key"), "pk", "name", "agent__external_id"), all=True
    )
    for kind, pk, name, agent in rows:
        shown = name if kind == "user" else f"key {name}"
        names[f"{kind}:{pk}"] = f"{shown} of {agent}" if agent else shown
    return names


def name_of(actor: str) -> str:
    """Return the name of one actor, as `names_of` does."""
    return names_of([actor]).get(actor, actor)


def _ids(actors: set[str], kind: str) -> dict[str, uuid.UUID]:
    named = {each: as_uuid(each.removeprefix(f"{kind}:")) for each in actors}
    return {each: pk for each, pk in named.items() if pk and each.startswith(f"{kind}:")}


def kind_text(kind: str) -> str:
    """The word for a row of a model: `person` for subject."""
    if kind in KINDS:
        return str(KINDS[kind][0])
    model = _model(kind)
    return str(model._meta.verbose_name) if model else kind


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
    """Return the name that the line itself kept, for a row that is gone; "" where it kept none."""
    for state in (line.after, line.before):
        if isinstance(state, dict):
            texts = [state[name] for name in NAMES if isinstance(state.get(name), str)]
            if texts:
                return _first(texts)
    return ""


def _first(texts: Iterable[str]) -> str:
    words = next((" ".join(each.split()) for each in texts if each), "")
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
