"""Sets made, configured and deleted by hand."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction

from memories.declared import faults
from memories.errors import Conflict, Forbidden, Invalid, refuse
from memories.extraction.configured_models import faults_of_model
from memories.features import apply, pending, set_embedding
from memories.features.config import PRODUCT, SetSettings
from memories.features.merge_subjects import own_set
from memories.features.sets import OF_A_SUBJECT, find
from memories.index import entries, workspace_index
from memories.models import Conversation, Episode, Feature, FeatureSet, Layer
from workspaces.external_ids import NotAllowed, subject_to_write
from workspaces.models import AuditEntry, Subject
from workspaces.scope import Scope

LONGEST_KEY = 200


@dataclass(frozen=True, slots=True)
class NewSet:
    """A set as a caller names it; ids are the callers' own. What is empty does not narrow."""

    key: str
    user_id: str = ""
    thread_id: str = ""
    role: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)


def create(scope: Scope, new: NewSet) -> FeatureSet:
    """A set of the caller's own; what was said already is taken in like what comes.

    Raises Invalid, Conflict for a key that is taken, Forbidden for a subject that is not covered.
    """
    check_config(new.config)
    if new.key.startswith(OF_A_SUBJECT):
        return _create_own(scope, new)
    _check_key(new.key)
    made = FeatureSet(
        workspace_id=scope.workspace_id,
        key=new.key,
        subject=_subject(scope, new.user_id),
        conversation=_conversation(scope, new.thread_id),
        role=_role(new.role),
        metadata=dict(new.metadata),
        config=dict(new.config),
    )
    try:
        with transaction.atomic(durable=True):
            made.save(force_insert=True)
            _audit(scope, "create_set", made, after={"key": made.key})
    except IntegrityError:
        raise Conflict("There is a set with this key.", field="key") from None
    set_embedding.note(made)
    pending.recount(find(scope, made.key))
    return find(scope, made.key)


def _create_own(scope: Scope, new: NewSet) -> FeatureSet:
    """The set that every subject has, configured before anything was said about it."""
    if new.thread_id or new.role or new.metadata or new.user_id not in ("", _named(new.key)):
        raise Invalid("key", f"Keys that begin with {OF_A_SUBJECT} are the subjects' own sets.")
    made = own_set_to_write(scope, new.key)
    if made.config or made.features.exists():
        raise Conflict("There is a set with this key.", field="key")
    return configure(scope, made.key, new.config)


def _named(key: str) -> str:
    return key.removeprefix(OF_A_SUBJECT)


def own_set_to_write(scope: Scope, key: str) -> FeatureSet:
    """The set of that key or id; a subject's own one is made, as the subject is, where something
    is said about it or its set for the first time. Raises NotFound, Forbidden."""
    user_id = _named(key)
    if user_id not in ("", key) and not scope.is_bound:
        _check_key(key)
        subject = _subject(scope, user_id)
        if subject is not None:
            own_set(subject)
    return find(scope, key)


def _check_key(key: str) -> None:
    if not key.strip() or len(key) > LONGEST_KEY or "/" in key:
        raise Invalid("key", f"1 to {LONGEST_KEY} characters, without a slash.")


def _subject(scope: Scope, user_id: str) -> Subject | None:
    try:
        return subject_to_write(scope, user_id) if user_id or scope.subject_ids else None
    except NotAllowed as error:
        raise Forbidden(error.message, "userId") from None


def _conversation(scope: Scope, thread_id: str) -> Conversation | None:
    if not thread_id:
        return None
    rows = Conversation.objects.visible_to(scope).filter(external_id=thread_id)
    if found := rows.first():
        return found
    raise Invalid("threadId", "There is no such thread.")


def _role(role: str) -> str:
    if role and role not in Episode.Kind.values:
        raise Invalid("role", f"One of {', '.join(Episode.Kind.values)}.")
    return role


def check_config(raw: Mapping[str, Any]) -> None:
    """Raise Invalid, naming every fault, for what is no config of a set."""
    refuse(faults_of_config(raw))


def faults_of_changes(changes: Mapping[str, Any]) -> list[Invalid]:
    """All that `configure` would refuse."""
    return faults_of_config(
        {name: value for name, value in changes.items() if value is not None or name not in PRODUCT}
    )


def faults_of_config(raw: Mapping[str, Any]) -> list[Invalid]:
    found = faults(SetSettings, raw, "config")
    found += faults_of_model(raw.get("languageModel"), "config.languageModel")
    if not any(one.field.startswith("config.embedder") for one in found):
        found += set_embedding.faults(raw.get("embedder"), "config.embedder")
    return found


@transaction.atomic(durable=True)
def configure(scope: Scope, key: str, changes: Mapping[str, Any]) -> FeatureSet:
    """Set what the set says itself; null takes it back, so that the workspace's counts again."""
    found = own_set_to_write(scope, key)
    said = {name: value for name, value in changes.items() if value is not None}
    refuse(faults_of_changes(changes))
    row = FeatureSet.objects.select_for_update().get(pk=found.pk)
    before = dict(row.config)
    kept = {name: value for name, value in before.items() if name not in changes}
    row.config = {**kept, **said}
    row.save(update_fields=["config", "updated_at"])
    _audit(scope, "configure_set", row, before=before, after=row.config)
    set_embedding.note(row)
    pending.recount(find(scope, key))
    return find(scope, key)


@transaction.atomic(durable=True)
def delete(scope: Scope, key: str) -> None:
    """The set with its features, their history and its marks, for good. The set of a subject comes
    back when something more is said, and then takes in all from the beginning."""
    found = find(scope, key)
    space = workspace_index.space_of(scope.workspace_id)
    row = apply.locked(space, found)
    ids = list(Feature.objects.filter(set=row).values_list("pk", flat=True))
    entries.remove(space, Layer.FEATURES, ids)
    _audit(scope, "delete_set", row, before={"key": row.key, "features": len(ids)})
    row.delete()


def _audit(scope: Scope, action: str, found: FeatureSet, **details: object) -> None:
    AuditEntry.line(
        scope.workspace_id, scope.actor, action, found, subject_id=found.subject_id, **details
    ).save()
