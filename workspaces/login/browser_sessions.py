"""Sessions of browsers, kept by a digest of their keys: whoever reads the table opens none."""

import hashlib
from typing import Any

from django.contrib.sessions.backends import db

LENGTH = 40  # as the column is wide; 160 bits of a digest


def row_key(session_key: str) -> str:
    """The key of a session's row. A session's own key has more random bits than can be guessed."""
    return hashlib.sha256(f"session:{session_key}".encode()).hexdigest()[:LENGTH]


class SessionStore(db.SessionStore):
    """Django's own but for the row's key; in requests that wait, as all of ours do."""

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
