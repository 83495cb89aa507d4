"""Making, changing and removing connections, and asking for a sync; each with its line in the
audit."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from django.conf import settings
from django.db import IntegrityError, connections, transaction
from django.utils import timezone
from pydantic import Field

from memories.documents.document_store import allowed_in
from memories.documents.fetch_document import seal
from memories.documents.hidden_words import without_secrets
from memories.documents.search_documents import Tag
from memories.errors import Conflict, Forbidden, Invalid, needed, refuse_narrow
from memories.models import Connection, Document, SyncRun, Visibility
from memories.models.source_connection import MOST_MINUTES, USUAL_MINUTES
from memories.providers.web_fetch import refused_reason
from memories.queue import outbox
from memories.reading import guard
from memories.settings_objects import checked
from memories.sources.connections.sync import delete, next_sync
from memories.sources.connectors import CONNECTORS
from memories.sources.connectors.connector import Connector
from workspaces.models import Capability
from workspaces.request_fields import AnyText, ExternalId, Free, NullIs, OneOf, declared
from workspaces.scope import NotAllowed, Scope, agent_to_write, subject_to_write

Kind = SyncRun.Kind
CHANGED = ("name", "visibility", "container_tags", "extract", "minutes")
FIELDS = {"subject": "userId", "agent": "agentId"}

# The same digest as `sync.origin_of` makes.
LET_GO = """
update memories_document d
set origin = encode(sha256(convert_to(%(source)s || i.external_id, 'UTF8')), 'hex')
from memories_connectionitem i
where i.connection_id = %(connection)s::uuid and i.document_id = d.id
"""
SHOWN_TO_ALL = (
    "This looks like {what}. Options are shown to whoever sees the connection: what is secret"
    " belongs into `credentials`."
)

Name = Annotated[AnyText, Field(max_length=200)]
Tags = Annotated[tuple[Tag, ...], Field(max_length=100)]
Minutes = Annotated[
    int,
    Field(ge=0, le=MOST_MINUTES, description="Between two syncs; 0: only when it is asked for."),
]
Given = Annotated[
    Free,
    Field(description="As its connector takes it: docs/guides/documents.md has them all."),
]


@declared
@dataclass(frozen=True, slots=True)
class NewConnection:
    """A source and the settings of the documents that come from it, as the caller gives them. Ids
    are the caller's own."""

    provider: Annotated[str, OneOf(CONNECTORS)]
    name: Name = ""
    options: Given = field(default_factory=dict)
    credentials: Given = field(default_factory=dict)
    container_tags: Tags = ()
    user_id: ExternalId = ""
    agent_id: ExternalId = ""
    visibility: Annotated[str, OneOf(Visibility), NullIs("")] = ""
    extract: Annotated[str, OneOf(Document.Extract)] = Document.Extract.AUTO
    minutes: Minutes = USUAL_MINUTES


def create(scope: Scope, new: NewConnection) -> Connection:
    """Make a connection. Raises Forbidden, Invalid."""
    refuse_narrow(scope.is_narrow)
    kind = CONNECTORS[new.provider]
    options = _options(scope, kind, new.options)
    credentials = _credentials(kind, new.credentials)
    try:
        agent = agent_to_write(scope, new.agent_id)
        subject = subject_to_write(scope, new.user_id)
    except NotAllowed as error:
        raise Forbidden(error.message, FIELDS[error.field]) from None
    connection = Connection(
        workspace_id=scope.workspace_id,
        provider=new.provider,
        options=options,
        name=without_secrets(new.name, allowed_in(scope.workspace_id)) or kind.label,
        subject=subject,
        agent=agent,
        visibility=new.visibility or (Visibility.PRIVATE if subject else Visibility.TEAM),
        container_tags=list(new.container_tags),
        extract=new.extract,
        minutes=new.minutes,
        requested_by=scope.actor,
    )
    if credentials:
        connection.credentials = seal(connection.pk, credentials)
    with transaction.atomic():
        connection.save(force_insert=True)
        _audit(scope, connection, "create_connection", after=_shown(connection))
        _ask(scope, connection, Kind.SYNC)
    return connection


def _options(scope: Scope, kind: type[Connector], given: Mapping[str, Any]) -> dict[str, Any]:
    options: dict[str, Any] = checked(kind.Options, given, "options").model_dump(by_alias=True)
    allowed = allowed_in(scope.workspace_id)
    for name, value in options.items():
        for text in value if isinstance(value, list) else [value]:
            for found in guard.findings(str(text), guard.OTHER, allowed):
                if found.kind == guard.SECRET:
                    told = SHOWN_TO_ALL.format(what=guard.LABELS[found.label])
                    raise Invalid(f"options.{name}", told, "secret")
    for name in ("url", "endpoint"):
        url = options.get(name)
        if url and (reason := refused_reason(url, settings.FETCH_ALLOWED_HOSTS)):
            raise Invalid(f"options.{name}", reason)
    return options


def _credentials(kind: type[Connector], given: Mapping[str, Any]) -> dict[str, Any]:
    if not given:
        return {}
    if kind.Credentials is None:
        raise Invalid("credentials", "This source takes none.")
    credentials: dict[str, Any] = checked(kind.Credentials, given, "credentials").model_dump(by_alias=True)
    return credentials


def connection_of(scope: Scope, connection_id: uuid.UUID) -> Connection:
    """Return a connection. Raises NotFound, also where the asker may not see it."""
    rows = Connection.objects.visible_to(scope).with_names()
    return needed(rows.filter(pk=connection_id).first(), "Connection")


def change(scope: Scope, connection_id: uuid.UUID, changes: Mapping[str, Any]) -> Connection:
    """Change name, options, credentials, spaces and so on; what is not named stays. Existing
    documents stay as they are. New options list the source again."""
    connection = connection_of(scope, connection_id)
    kind = CONNECTORS[connection.provider]
    values = {name: changes[name] for name in CHANGED if name in changes}
    before = _shown(connection)
    if "name" in values:
        values["name"] = without_secrets(values["name"], allowed_in(scope.workspace_id))
    if "container_tags" in values:
        values["container_tags"] = list(values["container_tags"])
    if "options" in changes:
        values |= {"options": _options(scope, kind, changes["options"]), "cursor": {}}
    if "credentials" in changes:
        credentials = _credentials(kind, changes["credentials"])
        values["credentials"] = seal(connection.pk, credentials) if credentials else b""
    if "minutes" in values:
        values["next_sync_at"] = next_sync(values["minutes"])
    with transaction.atomic():
        rows = Connection.objects.filter(pk=connection.pk)
        rows.update(**values, error_code="", error="", updated_at=timezone.now())
        after = _shown(rows.get()) | {"credentialsChanged": "credentials" in values}
        _audit(scope, connection, "change_connection", before=before, after=after)
    return connection_of(scope, connection_id)


def request_run(
    scope: Scope,
    connection_id: uuid.UUID,
    kind: str,
    *,
    is_confirmed: bool = False,
    with_erased: bool = False,
) -> SyncRun:
    """Let the worker ask the source; the run that is due already, where there is one.
    `is_confirmed`: what the source has no more may go, however much that is. `with_erased`: what
    was erased of it comes again, for who may erase. Raises NotFound, Conflict, Forbidden."""
    connection = connection_of(scope, connection_id)
    if with_erased and not scope.may(Capability.ADMIN):
        raise Forbidden("Who may not erase brings nothing back.", "includeErased")
    with transaction.atomic():
        if with_erased:
            kind = Kind.FULL
            gone = connection.items.filter(document=None).delete()[0]
            _audit(scope, connection, "bring_back_connection", after={"items": gone})
        run = _ask(scope, connection, kind)
        if is_confirmed:
            SyncRun.objects.filter(pk=run.pk).update(is_confirmed=True)
        _audit(scope, connection, f"{kind}_connection")
    return run


def remove(scope: Scope, connection_id: uuid.UUID, *, erase_documents: bool) -> SyncRun | None:
    """The connection goes; what came by it stays, and is known again where its source is connected
    anew; or it is erased first, by the worker: then the run that does it."""
    connection = connection_of(scope, connection_id)
    with transaction.atomic():
        _audit(scope, connection, "remove_connection", before=_shown(connection))
        if not erase_documents:
            source = connection.source_of(CONNECTORS[connection.provider].named_by)
            with connections["default"].cursor() as cursor:
                cursor.execute(LET_GO, {"connection": connection.pk, "source": source})
            delete(connection)
            return None
        Connection.objects.filter(pk=connection.pk).update(next_sync_at=None)
        SyncRun.objects.filter(connection=connection, state__in=SyncRun.OPEN).delete()
        return _ask(scope, connection, Kind.REMOVE)


def _ask(scope: Scope, connection: Connection, kind: str) -> SyncRun:
    """In the caller's transaction. One run is open at a time, beside tests."""
    rows = SyncRun.objects.filter(connection=connection, state__in=SyncRun.OPEN)
    if kind == Kind.TEST:
        known = rows.filter(kind=Kind.TEST).first()
    else:
        known = rows.exclude(kind=Kind.TEST).first()
    if known is not None and known.kind == Kind.REMOVE:
        raise Conflict("It is being removed.")
    if kind == Kind.FULL:
        Connection.objects.filter(pk=connection.pk).update(cursor={})
    if known is not None:
        if kind == Kind.FULL:
            SyncRun.objects.filter(pk=known.pk).update(kind=kind)
        return known
    run = SyncRun(
        workspace_id=connection.workspace_id,
        connection=connection,
        kind=kind,
        requested_by=scope.actor,
    )
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError:  # another request was first
        return rows.exclude(kind=Kind.TEST).get()
    outbox.post("run_sync", run.pk)
    return run


def _shown(connection: Connection) -> dict[str, Any]:
    """Return values for the audit, never a secret."""
    shown = {name: getattr(connection, name) for name in CHANGED}
    return shown | {"provider": connection.provider, "options": connection.options}


def _audit(scope: Scope, connection: Connection, action: str, **details: object) -> None:
    scope.audit(action, connection, subject_id=connection.subject_id, **details)
