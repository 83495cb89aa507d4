"""The content of documents that lies elsewhere: at an address, or in a connection's source, read
with the credentials that lie sealed in the connection's row."""

import hashlib
import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.db.models import F
from django.utils import timezone

from memories.documents import blobs
from memories.errors import Invalid, WorkspaceFull
from memories.models import Connection, ConnectionItem, Document
from memories.providers.git_clone import LEAST_SECONDS, clone
from memories.providers.web_fetch import WAIT, FetchError, FetchLimits, WebRequest, fetch
from memories.settings_objects import checked
from memories.sources.connectors import CONNECTORS
from memories.sources.connectors.connector import Connector, FetchedItem, Wire, is_readable
from memories.sources.connectors.github import LARGEST_FILE
from memories.sources.connectors.web_site import fetched_page, name_of

# A connection's connector, with its credentials, which lie sealed in the row.
#
# The key is CONNECTION_KEY, of the data folder where the variable is not set. What is sealed names
# the row that it is of: copied into another one it opens nothing.

FORM = b"\x01"  # of what is sealed
NONCE = 12  # bytes


# A document missing so often is gone; one whose server says so (410), at once.
MISSES = 2
UNTIL_ROOM = timedelta(minutes=5)  # until a file is fetched again for which there was no room
GONE = 410
LONGEST_PAUSE = timedelta(days=1)
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz")


def _cipher() -> AESGCM:
    key = hashlib.sha256(b"connections:" + settings.CONNECTION_KEY.encode()).digest()
    return AESGCM(key)


def seal(connection_id: uuid.UUID, credentials: Mapping[str, object]) -> bytes:
    nonce = os.urandom(NONCE)
    plain = json.dumps(credentials).encode()
    return FORM + nonce + _cipher().encrypt(nonce, plain, connection_id.bytes)


def unseal(connection: Connection) -> dict[str, object]:
    """Open sealed credentials. Raises FetchError where this server's key does not open them."""
    sealed = bytes(connection.credentials)
    nonce = sealed[1 : 1 + NONCE]
    try:
        plain = _cipher().decrypt(nonce, sealed[1 + NONCE :], connection.pk.bytes)
    except (InvalidTag, ValueError) as error:
        raise FetchError("login_required", "The credentials were sealed with another key: give them anew.") from error
    credentials: dict[str, object] = json.loads(plain)
    return credentials


def connector_of(connection: Connection) -> Connector:
    """Make the connector of a connection. Raises FetchError where it cannot be asked as things
    are."""
    kind = CONNECTORS[connection.provider]
    try:
        options = checked(kind.Options, connection.options, "options")
        credentials = None
        if kind.Credentials and connection.has_credentials:
            credentials = checked(kind.Credentials, unseal(connection), "credentials")
    except Invalid as error:
        raise FetchError("fetch_refused", f"Its settings are wrong: {error}.") from error
    return kind(options, credentials, wire_of(connection.provider, kind))


def keep_renewed(connection: Connection, connector: Connector) -> None:
    """Write down the credentials that took the place of the given ones."""
    if connector.renewed is not None:
        sealed = seal(connection.pk, connector.renewed)
        Connection.objects.filter(pk=connection.pk).update(credentials=sealed)


def wire_of(provider: str, kind: type[Connector]) -> Wire:
    """The operator says where a source is, and which addresses beside the public ones may be
    asked."""
    limits = FetchLimits(settings.FETCH_SECONDS, settings.MAX_UPLOAD_BYTES)
    if provider == Connection.Provider.FOLDER:
        return Wire(allowed=tuple(settings.CONNECTION_FOLDERS), limits=limits)
    named = dict(each.partition("=")[::2] for each in settings.CONNECTION_ADDRESSES)
    base = named.get(provider, kind.base)
    own = [urlsplit(named[provider]).netloc] if provider in named else []
    return Wire(base, (*settings.FETCH_ALLOWED_HOSTS, *own), limits)


class NotNow(Exception):
    """The source wants to be left alone until `until`."""

    def __init__(self, until: datetime, message: str) -> None:
        super().__init__(message)
        self.until, self.message = until, message


def is_elsewhere(document: Document) -> bool:
    if document.blob_id is not None or document.episode_id is not None:
        return False
    return bool(document.url) or hasattr(document, "item")


def fetch_document(document: Document) -> FetchedItem | None:
    """Return its bytes; None where they are unchanged, or are missing for the first time: then it
    stays as it is. Raises FetchError, NotNow; nobody is asked for what could not be kept."""
    item = ConnectionItem.objects.select_related("connection").filter(document=document).first()
    connection = item.connection if item else None
    try:
        blobs.refuse_when_full(document.workspace_id)
        if item is None:
            limits = FetchLimits(settings.FETCH_SECONDS, settings.MAX_UPLOAD_BYTES)
            if is_repository(document):
                return fetched_repository(document.url, limits)
            request = WebRequest(document.url)
            return fetched_page(fetch(request, limits, settings.FETCH_ALLOWED_HOSTS))
        return _of_connection(document, item)
    except WorkspaceFull as refusal:
        until = timezone.now() + UNTIL_ROOM
        if connection is not None:
            pause(connection, until, refusal.message)
        raise NotNow(until, refusal.message) from refusal
    except FetchError as error:
        if error.code != "rate_limited":
            raise
        until = pause_of(error)
        if connection is not None:
            pause(connection, until)
        raise NotNow(until, error.message) from error


def is_repository(document: Document) -> bool:
    """Tell whether its address is a git repository's, not that of a page or an archive."""
    path = urlsplit(document.url).path.rstrip("/").lower()
    said_so = document.type == Document.Type.REPOSITORY and not path.endswith(ARCHIVES)
    return said_so or path.endswith(".git")


def fetched_repository(url: str, limits: FetchLimits) -> FetchedItem:
    """Return its readable files as an archive. Raises FetchError."""
    found = clone(
        url,
        replace(limits, seconds=max(limits.seconds, LEAST_SECONDS)),
        settings.FETCH_ALLOWED_HOSTS,
        lambda path, size: size <= LARGEST_FILE and is_readable(path),
    )
    name = name_of(found.url).removesuffix(".git") or "repository"
    return FetchedItem(found.data, f"{name}.zip", found.url)


def _of_connection(document: Document, item: ConnectionItem) -> FetchedItem | None:
    connection = item.connection
    assert connection is not None  # an item with a document has one
    if connection.paused_until and connection.paused_until > timezone.now():
        raise NotNow(connection.paused_until, why_paused(connection))
    rows = ConnectionItem.objects.filter(pk=item.pk)
    try:
        connector = connector_of(connection)
        marks = item.marks if document.current_revision else {}
        found = connector.fetch(item.external_id, marks)
    except FetchError as error:
        if error.code != "source_gone":
            raise
        rows.update(misses=F("misses") + (MISSES if error.status == GONE else 1))
        if not document.current_revision:
            raise
        return None  # it is looked for again, and kept meanwhile
    keep_renewed(connection, connector)
    if connection.error and not connection.error_code:  # why it was paused
        Connection.objects.filter(pk=connection.pk).update(error="", paused_until=None)
    rows.update(misses=0, **({"marks": dict(found.marks)} if found else {}))
    return found


def pause(connection: Connection, until: datetime, why: str = "") -> None:
    """Leave a connection's source alone until then; that is no failure of it. `why` is told where
    it is not the source that wants it."""
    values = {"error": why, "error_code": ""} if why else {}
    Connection.objects.filter(pk=connection.pk).update(paused_until=until, **values)


def why_paused(connection: Connection) -> str:
    reason = "" if connection.error_code else connection.error
    return reason or "Its source wants a pause."


def pause_of(error: FetchError) -> datetime:
    """Return the time until which a source wants to be left alone."""
    pause = timedelta(seconds=WAIT if error.retry_after is None else error.retry_after)
    return timezone.now() + min(pause, LONGEST_PAUSE)
