"""A bucket that speaks S3."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated
from urllib.parse import quote, urlsplit

from pydantic import Field

from memories.file_formats.archive_files import local, xml_of
from memories.file_formats.assembly import FileRefused
from memories.providers.web_fetch import FetchError, WebAnswer, WebRequest, fetch
from memories.settings_objects import SettingsObject
from memories.sources.connectors.connector import (
    LARGEST_ANSWER,
    Changes,
    Connector,
    Cursor,
    Endings,
    FetchedItem,
    SourceItem,
    Unlisted,
    is_readable,
    malformed,
)

# A bucket that speaks S3: Amazon's, or one of those that are like it.

KEYS = 1_000  # of a page
SERVICE, TERMINAL, ALGORITHM = "s3", "aws4_request", "AWS4-HMAC-SHA256"
EMPTY = hashlib.sha256(b"").hexdigest()


class S3Options(SettingsObject):
    """`endpoint` is that of a server other than Amazon's; `prefix` and `endings` say which keys
    count."""

    bucket: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,62}$")]
    region: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")] = "us-east-1"
    endpoint: Annotated[str, Field(max_length=500)] = ""
    prefix: Annotated[str, Field(max_length=500)] = ""
    endings: Endings = []


class S3Credentials(SettingsObject):
    access_key: Annotated[str, Field(min_length=1, max_length=200)]
    secret_key: Annotated[str, Field(min_length=1, max_length=200)]
    session_token: Annotated[str, Field(max_length=4_000)] = ""


class S3Connector(Connector):
    """Every sync lists the bucket; the version of a key is its ETag. Without credentials the
    bucket has to be open to all."""

    Options = S3Options
    Credentials = S3Credentials
    label = "S3"
    named_by = ("endpoint", "bucket")
    options: S3Options
    credentials: S3Credentials | None

    @property
    def _root(self) -> str:
        """The server's address: the operator's, the connection's, or Amazon's own."""
        own = self.wire.base or self.options.endpoint
        root = own or f"https://s3.{self.options.region}.amazonaws.com"
        return f"{root.rstrip('/')}/{self.options.bucket}"

    def changes(self, cursor: Cursor) -> Changes:
        query = {"list-type": "2", "max-keys": str(KEYS), "prefix": self.options.prefix}
        if token := cursor.get("token"):
            query["continuation-token"] = str(token)
        try:
            if len(listing := self._ask("/", query).data) > LARGEST_ANSWER:
                raise malformed()
            root = xml_of(listing)
        except FileRefused as error:
            raise malformed() from error
        if local(root) != "ListBucketResult":
            raise malformed()
        items, said = [], {}
        for node in root:
            texts = {local(child): child.text or "" for child in node}
            if local(node) != "Contents":
                said[local(node)] = node.text or ""
            elif is_readable(key := texts.get("Key", ""), self.options.endings):
                version = texts.get("ETag", "").strip('"')
                items.append(SourceItem(key, version, filename=key.rpartition("/")[2]))
        more = said.get("NextContinuationToken", "")
        if said.get("IsTruncated") == "true" and more:
            return Changes(items, {"token": more}, False, Unlisted.GONE)
        return Changes(items, {}, unlisted=Unlisted.GONE)

    def fetch(self, item_id: str, marks: Mapping[str, str]) -> FetchedItem | None:
        answer = self._ask(f"/{quote(item_id, safe='/-_.~')}", {})
        return FetchedItem(answer.data, item_id.rpartition("/")[2])

    def test(self) -> str:
        changes = self.changes({})
        more = "" if changes.is_last else " and more"
        return f"{len(changes.items)} files{more}."

    def _ask(self, path: str, query: Mapping[str, str]) -> WebAnswer:
        pairs = sorted((quote(k, safe="-_.~"), quote(v, safe="-_.~")) for k, v in query.items())
        canonical = "&".join(f"{name}={value}" for name, value in pairs)
        url = f"{self._root}{path}" + (f"?{canonical}" if canonical else "")
        headers: dict[str, str] = {}
        if self.credentials:  # Signature Version 4, of a request without a body
            now, parts = datetime.now(UTC), urlsplit(url)
            day, moment = f"{now:%Y%m%d}", f"{now:%Y%m%dT%H%M%SZ}"
            headers = {"host": parts.netloc, "x-amz-content-sha256": EMPTY, "x-amz-date": moment}
            if self.credentials.session_token:
                headers["x-amz-security-token"] = self.credentials.session_token
            told = ("GET", parts.path, canonical)
            headers = sign(self.credentials, self.options.region, headers, told, day)
        try:
            return fetch(WebRequest(url, headers=headers), self.wire.limits, self.wire.allowed)
        except FetchError as error:
            if error.status == 503:  # it says so where it is asked too often
                raise FetchError(
                    "rate_limited",
                    error.message,
                    is_passing=True,
                    retry_after=error.retry_after,
                    answer=error.answer,
                ) from error
            raise


def sign(
    credentials: S3Credentials,
    region: str,
    headers: dict[str, str],
    request: tuple[str, str, str],
    day: str,
) -> dict[str, str]:
    """`headers` and the one that signs them; `request` is method, path and query as they are
    sent."""
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    whole = "\n".join((*request, lines, names, headers["x-amz-content-sha256"]))
    scope = f"{day}/{region}/{SERVICE}/{TERMINAL}"
    digest = hashlib.sha256(whole.encode()).hexdigest()
    text = "\n".join((ALGORITHM, headers["x-amz-date"], scope, digest))
    key = f"AWS4{credentials.secret_key}".encode()
    for part in (day, region, SERVICE, TERMINAL):
        key = hmac.digest(key, part.encode(), "sha256")
    signature = hmac.digest(key, text.encode(), "sha256").hex()
    sent = {name: value for name, value in headers.items() if name != "host"}
    sent["authorization"] = (
        f"{ALGORITHM} Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return sent
