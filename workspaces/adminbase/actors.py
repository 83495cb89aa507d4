"""Who did it, and to what, in words: decisions and audit lines keep `user:<id>` and `key:<id>`."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db.models import Model, Value
from django.db.models.functions import Left
from django.utils.translation import gettext_lazy as _

from workspaces.auth import as_uuid
from workspaces.models import ApiKey, Membership, Subject, User

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise as StrPromise

# Where the model that a line of the audit log is about is defined, and has its page.
APPS = ("memories", "workspaces")

# What one row of a model is called, and several, in the navigation's words.
KINDS: dict[str, tuple["StrPromise", "StrPromise"]] = {
    "agent": (_("agent"), _("agents")),
    "apikey": (_("API key"), _("API keys")),
    "auditentry": (_("act"), _("acts")),
    "breaker": (_("model"), _("models")),
    "case": (_("case"), _("cases")),
    "connection": (_("source"), _("sources")),
    "space": (_("space"), _("spaces")),
    "conversation": (_("conversation"), _("conversations")),
    "document": (_("document"), _("documents")),
    "episode": (_("message"), _("messages")),
    "erasure": (_("erasure"), _("erasures")),
    "evaluationrun": (_("measured run"), _("measured runs")),
    "fact": (_("statement"), _("statements")),
    "failure": (_("failed task"), _("failed tasks")),
    "feature": (_("profile note"), _("profile notes")),
    "featureset": (_("profile"), _("profiles")),
    "goldenquestion": (_("test question"), _("test questions")),
    "indexrepair": (_("index repair"), _("index repairs")),
    "intent": (_("request"), _("requests")),
    "invitation": (_("invitation"), _("invitations")),
    "legalhold": (_("legal hold"), _("legal holds")),
    "loginattempt": (_("wrong login"), _("wrong logins")),
    "longjob": (_("piece of work"), _("pieces of work")),
    "membership": (_("member"), _("members")),
    "memory": (_("memory"), _("memories")),
    "memorysession": (_("intake"), _("intakes")),
    "miss": (_("text not understood"), _("texts not understood")),
    "modelprice": (_("price"), _("prices")),
    "ormq": (_("waiting task"), _("waiting tasks")),
    "rejection": (_("rejected statement"), _("rejected statements")),
    "schedule": (_("schedule"), _("schedules")),
    "serverkey": (_("server key"), _("server keys")),
    "subject": (_("person"), _("people")),
    "supersession": (_("decision"), _("decisions")),
    "user": (_("account"), _("accounts")),
    "webhook": (_("webhook"), _("webhooks")),
    "webhookdelivery": (_("delivery"), _("deliveries")),
    "workerbeat": (_("worker"), _("workers")),
    "workspace": (_("workspace"), _("workspaces")),
    "workspacechange": (_("change word"), _("change words")),
    "workspacepattern": (_("own pattern"), _("own patterns")),
    "workspaceremoval": (_("removal"), _("removals")),
    "workspaceslot": (_("attribute"), _("attributes")),
}

# The first of these that a model has is how people know its rows; one that has none of them may
# tell its rows itself, by a class method `words_of(ids)`.
NAMES = ("content", "statement", "name", "title", "external_id", "key", "username", "slug")
LONGEST = 90


def names_of(actors: Iterable[str]) -> dict[str, str]:
    """A readable name for each actor, in one statement; what cannot be resolved stays as it is."""
    wanted = {actor for actor in actors if actor}
    names = {actor: actor.partition(":")[0] for actor in wanted}
    people, keys = _ids(wanted, "user"), _ids(wanted, "key")
    names |= dict.fromkeys(people, "a user that is gone") | dict.fromkeys(
        keys, "a key that is gone"
    )
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
    """Of one, as `names_of`."""
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
