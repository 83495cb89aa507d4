"""Browser sessions, stored by a digest of their keys and signed for their row: reading the table
opens none of them, and neither does copying rows in it."""

import hashlib
from collections.abc import Collection, Mapping
from typing import Any

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

LENGTH = 40  # the width of the column: 160 bits of a digest


def row_key(session_key: str) -> str:
    """The key of a session's row. A session's own key has more random bits than can be guessed."""
    return hashlib.sha256(f"session:{session_key}".encode()).hexdigest()[:LENGTH]


class SessionStore(db.SessionStore):
    """Django's own store, but for the row's key. It is synchronous, as all our requests are."""

    row: str | None = None  # the key of its row, where the session's own key is not known

    @property
    def key_salt(self) -> str:
        return f"workspaces.browser_sessions:{self.row or row_key(self._session_key or '')}"

    def _get_session_from_db(self) -> Any:
        own = self._session_key
        if own is None:
            return None
        self._session_key = row_key(own)
        row = super()._get_session_from_db()  # type: ignore[misc]  # the stubs lack it
        self._session_key = own if row else None
        return row

    def exists(self, session_key: str) -> bool:
        return super().exists(row_key(session_key))

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        made = super().create_model_instance(data)
        made.session_key = row_key(made.session_key)
        return made

    def delete(self, session_key: str | None = None) -> None:
        if key := session_key or self.session_key:
            super().delete(row_key(key))


def sessions_in_use(row_keys: Collection[str]) -> dict[str, dict[str, Any]]:
    """Return the contents of sessions that have not ended, by the keys of their rows."""
    rows = Session.objects.filter(session_key__in=row_keys, expire_date__gt=timezone.now())
    found = {}
    for row in rows:
        opened = SessionStore()
        opened.row = row.session_key
        found[row.session_key] = opened.decode(row.session_data)
    return found


def is_session_of(opened: Mapping[str, Any], user: AbstractBaseUser) -> bool:
    """Tell whether a session is still that of `user`, as Django does for each request. It ends with
    a new password, and where all of them are ended."""
    if opened.get(SESSION_KEY) != str(user.pk):
        return False
    own = (user.get_session_auth_hash(), *user.get_session_auth_fallback_hash())
    return opened.get(HASH_SESSION_KEY) in own
