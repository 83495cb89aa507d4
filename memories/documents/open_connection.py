"""A connection's connector, with its credentials, which lie sealed in the row.

The key is CONNECTION_KEY, of the data folder where the variable is not set. What is sealed names
the row that it is of: copied into another one it opens nothing.
"""

import hashlib
import json
import os
import uuid
from collections.abc import Mapping
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from memories.connectors.connector import Connector, Wire
from memories.connectors.connector_registry import CONNECTORS
from memories.errors import Invalid
from memories.models import Connection
from memories.providers.web_fetch import FetchError, FetchLimits
from memories.settings_objects import checked

FORM = b"\x01"  # of what is sealed
NONCE = 12  # bytes


def _cipher() -> AESGCM:
    key = hashlib.sha256(b"connections:" + settings.CONNECTION_KEY.encode()).digest()
    return AESGCM(key)


def seal(connection_id: uuid.UUID, credentials: Mapping[str, object]) -> bytes:
    nonce = os.urandom(NONCE)
    plain = json.dumps(credentials).encode()
    return FORM + nonce + _cipher().encrypt(nonce, plain, connection_id.bytes)


def unseal(connection: Connection) -> dict[str, object]:
    """Raises FetchError where this server's key does not open them."""
    sealed = bytes(connection.credentials)
    nonce = sealed[1 : 1 + NONCE]
    try:
        plain = _cipher().decrypt(nonce, sealed[1 + NONCE :], connection.pk.bytes)
    except (InvalidTag, ValueError) as error:
        raise FetchError(
            "login_required", "The credentials were sealed with another key: give them anew."
        ) from error
    credentials: dict[str, object] = json.loads(plain)
    return credentials


def connector_of(connection: Connection) -> Connector:
    """Raises FetchError where it cannot be asked as things are."""
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
