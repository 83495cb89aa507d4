"""Access tokens: made out of what a person gave once, kept as long as they hold."""

import base64
import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from memories.providers.web_fetch import FetchError, WebAnswer, WebRequest, fetch
from memories.sources.connectors.connector import Wire, malformed, read_json

EARLY = 60.0  # seconds before its end that a token is not used any more
MOST = 1_000
_kept: dict[str, tuple[str, float]] = {}


def access_token(wire: Wire, url: str, form: Mapping[str, str], *, fresh: bool = False) -> tuple[str, str]:
    """An access token for this form, and the refresh token that takes the place of the given one,
    or "". `fresh`: the known one was refused. Raises FetchError."""
    token, end = _kept.get(_key(url, form), ("", 0.0))
    if not fresh and time.monotonic() < end:
        return token, ""
    headers = {"content-type": "application/x-www-form-urlencoded"}
    request = WebRequest(url, "POST", headers, urlencode(form).encode())
    try:
        answer = read_json(fetch(request, wire.limits, wire.allowed))
        token, seconds = str(answer["access_token"]), float(answer.get("expires_in", 300))
        renewed = str(answer.get("refresh_token", ""))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise malformed() from error
    except FetchError as error:
        if error.status in (400, 401, 403):
            raise FetchError("login_required", "The credentials are refused.", answer=error.answer) from error
        raise
    if len(_kept) >= MOST:
        _kept.clear()
    renewed = "" if renewed == form.get("refresh_token") else renewed
    # The next request asks by the new one, and the token is as good as it was.
    asked_next = {**form, "refresh_token": renewed} if renewed else form
    _kept[_key(url, asked_next)] = token, time.monotonic() + seconds - EARLY
    return token, renewed


def _key(url: str, form: Mapping[str, str]) -> str:
    return hashlib.sha256(json.dumps([url, sorted(form.items())]).encode()).hexdigest()


def signed_assertion(email: str, private_key: str, scope: str, audience: str) -> str:
    """Make the token that a service account signs itself and shows in place of a person's consent.
    Raises FetchError."""
    now = int(time.time())
    claims = {
        "iss": email,
        "scope": scope,
        "aud": audience,
        "iat": now - now % 600,
        "exp": now + 3600,
    }
    try:
        key: Any = serialization.load_pem_private_key(private_key.encode(), None)
        if not isinstance(key, rsa.RSAPrivateKey):
            raise ValueError
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise FetchError("login_required", "The private key cannot be read.") from error
    signed = f"{_packed({'alg': 'RS256', 'typ': 'JWT'})}.{_packed(claims)}"
    signature = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{_base64(signature)}"


def _packed(claims: Mapping[str, object]) -> str:
    return _base64(json.dumps(claims).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class TokenWire:
    """A wire whose requests carry an access token; one that was refused is renewed once."""

    def __init__(self, wire: Wire, url: str, form: Mapping[str, str]) -> None:
        self.wire, self.url, self.form = wire, url, dict(form)
        self.renewed = ""  # the refresh token that took the place of the given one

    def ask(self, path: str, **named: Any) -> WebAnswer:
        """Ask like `Wire.ask`, with a token; with a fresh one after a 401."""
        self._sign(fresh=False)
        try:
            return self.wire.ask(path, **named)
        except FetchError as error:
            if error.status != 401:
                raise
        self._sign(fresh=True)
        return self.wire.ask(path, **named)

    def json(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        return read_json(self.ask(path, query=query))

    def _sign(self, *, fresh: bool) -> None:
        token, renewed = access_token(self.wire, self.url, self.form, fresh=fresh)
        if renewed:
            self.renewed = self.form["refresh_token"] = renewed
        self.wire.headers["authorization"] = f"Bearer {token}"
