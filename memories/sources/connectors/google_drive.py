"""Files of a Google Drive, whole or below one folder; documents of Google's own kinds as what they
export to."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from memories.providers.web_fetch import WAIT, FetchError, WebAnswer
from memories.settings_objects import SettingsObject
from memories.sources.connectors.connector import (
    Changes,
    Connector,
    Cursor,
    CursorExpired,
    Endings,
    FetchedItem,
    SourceItem,
    Unlisted,
    Wire,
    is_readable,
    malformed,
)
from memories.sources.connectors.oauth import TokenWire, signed_assertion

TOKENS = "https://oauth2.googleapis.com/token"
SCOPE = "https://www.googleapis.com/auth/drive.readonly"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
FOLDER = "application/vnd.google-apps.folder"
OWN_KINDS = "application/vnd.google-apps."
# Google's own kinds: what they are exported to, the ending of that, and a document's type.
EXPORTS = {
    "document": ("text/markdown", "md", "google_doc"),
    "spreadsheet": (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "xlsx",
        "google_sheet",
    ),
    "presentation": (
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "pptx",
        "google_slide",
    ),
}
FILE = "id,name,mimeType,md5Checksum,modifiedTime,webViewLink,parents,trashed"
ALL_DRIVES = {"supportsAllDrives": "true", "includeItemsFromAllDrives": "true"}
TOO_OFTEN = ("rateLimitExceeded", "userRateLimitExceeded", "sharingRateLimitExceeded")
MALFORMED = (LookupError, TypeError, AttributeError, ValueError)


class DriveOptions(SettingsObject):
    """`folderId` is the last word of a folder's address; without it, all that the account sees."""

    folder_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,200}$")] = ""
    endings: Endings = []


class DriveCredentials(SettingsObject):
    """The `clientEmail` and `privateKey` of a service account that the folder is shared with; or
    the `clientId`, `clientSecret` and `refreshToken` from a person's consent."""

    client_email: Annotated[str, Field(max_length=300)] = ""
    private_key: Annotated[str, Field(max_length=10_000)] = ""
    client_id: Annotated[str, Field(max_length=300)] = ""
    client_secret: Annotated[str, Field(max_length=300)] = ""
    refresh_token: Annotated[str, Field(max_length=2_000)] = ""


class DriveConnector(Connector):
    """First all files are listed, folder by folder where one is named; from then on the account's
    changes are read, of which a folder's own are taken."""

    Options = DriveOptions
    Credentials = DriveCredentials
    label = "Google Drive"
    base = "https://www.googleapis.com/drive/v3/"
    options: DriveOptions
    credentials: DriveCredentials | None

    def __init__(self, options: Any, credentials: Any, wire: Wire) -> None:
        super().__init__(options, credentials, wire)
        if self.credentials is None:
            raise FetchError("login_required", "Google Drive needs credentials.")
        own = self.credentials
        # The operator's word where the source is holds for its tokens, too.
        url = TOKENS if wire.base == self.base else f"{wire.base}token"
        if own.private_key:
            signed = signed_assertion(own.client_email, own.private_key, SCOPE, url)
            form = {"grant_type": GRANT, "assertion": signed}
        else:
            form = {
                "grant_type": "refresh_token",
                "client_id": own.client_id,
                "client_secret": own.client_secret,
                "refresh_token": own.refresh_token,
            }
        self._tokens = TokenWire(wire, url, form)

    def changes(self, cursor: Cursor) -> Changes:
        """The cursor: the `token` of the changes to come and the `folders` that count; while a
        listing goes on, the folders that are `left`, and the `page` of the first."""
        try:
            if "token" not in cursor:
                found = self._json("changes/startPageToken", ALL_DRIVES | {"fields": "*"})
                start = [self.options.folder_id] if self.options.folder_id else [""]
                cursor = {"token": found["startPageToken"], "left": start, "folders": start}
            return self._listed(cursor) if cursor.get("left") else self._changed(cursor)
        except MALFORMED as error:
            raise malformed() from error

    def _listed(self, cursor: Cursor) -> Changes:
        folder, *rest = cursor["left"]
        wanted = "trashed = false" + (f" and '{folder}' in parents" if folder else "")
        query = {"q": wanted, "pageSize": "1000", "fields": f"nextPageToken,files({FILE})"}
        if page := cursor.get("page"):
            query["pageToken"] = page
        answer = self._json("files", ALL_DRIVES | query)
        files = answer["files"]
        inner = [file["id"] for file in files if file["mimeType"] == FOLDER] if folder else []
        items = [item for file in files if (item := self._item(file))]
        folders = [*cursor["folders"], *inner]
        after = {"token": cursor["token"], "folders": folders}
        if page := answer.get("nextPageToken"):
            more = {"left": [folder, *rest, *inner], "page": page}
            return Changes(items, after | more, False, Unlisted.GONE)
        if left := [*rest, *inner]:
            return Changes(items, after | {"left": left}, False, Unlisted.GONE)
        return Changes(items, after, unlisted=Unlisted.GONE)

    def _changed(self, cursor: Cursor) -> Changes:
        fields = f"nextPageToken,newStartPageToken,changes(fileId,removed,file({FILE}))"
        query = {"pageToken": cursor["token"], "pageSize": "1000", "fields": fields}
        try:
            answer = self._json("changes", ALL_DRIVES | query)
        except FetchError as error:
            if error.status in (400, 404, 410):
                raise CursorExpired from error
            raise
        folders, items = list(cursor["folders"]), []
        for change in answer["changes"]:
            file = change.get("file") or {}
            is_inside = folders == [""] or not set(file.get("parents") or ()).isdisjoint(folders)
            if change.get("removed") or file.get("trashed") or not is_inside:
                items.append(SourceItem(change["fileId"], is_deleted=True))
            elif file["mimeType"] == FOLDER and folders != [""]:
                if file["id"] not in folders:  # what came with it has no changes of its own
                    raise CursorExpired
            elif item := self._item(file):
                items.append(item)
        gone = {item.id for item in items if item.is_deleted}
        if not gone.isdisjoint(folders):
            raise CursorExpired
        token = answer.get("nextPageToken") or answer["newStartPageToken"]
        is_last = "nextPageToken" not in answer
        return Changes(items, {"token": token, "folders": folders}, is_last)

    def _item(self, file: Mapping[str, Any]) -> SourceItem | None:
        kind, name = file["mimeType"], file["name"]
        version = file.get("md5Checksum") or file["modifiedTime"]
        exported = EXPORTS.get(kind.removeprefix(OWN_KINDS)) if kind.startswith(OWN_KINDS) else None
        if exported is not None:
            _, ending, type_name = exported
            filename = f"{name}.{ending}"
        elif kind.startswith(OWN_KINDS) or not is_readable(name, self.options.endings):
            return None
        else:
            filename, type_name = name, ""
        return SourceItem(file["id"], version, name, file.get("webViewLink") or "", filename, type_name)

    def fetch(self, item_id: str, marks: Mapping[str, str]) -> FetchedItem | None:
        path = f"files/{quote(item_id, safe='')}"
        try:
            file = self._json(path, {"fields": FILE, "supportsAllDrives": "true"})
            if file.get("trashed"):
                raise FetchError("source_gone", "The file lies in the trash.")
            exported = EXPORTS.get(file["mimeType"].removeprefix(OWN_KINDS))
            if exported is None:
                answer = self._ask(path, {"alt": "media", "supportsAllDrives": "true"})
                return FetchedItem(answer.data, file["name"], title=file["name"])
            media, ending, _ = exported
            answer = self._ask(f"{path}/export", {"mimeType": media})
            return FetchedItem(answer.data, f"{file['name']}.{ending}", title=file["name"])
        except MALFORMED as error:
            raise malformed() from error

    def test(self) -> str:
        try:
            about = self._json("about", {"fields": "user(emailAddress)"})
            return f"As {about['user']['emailAddress']}."
        except MALFORMED as error:
            raise malformed() from error

    def _json(self, path: str, query: Mapping[str, str]) -> Any:
        try:
            return self._tokens.json(path, query)
        except FetchError as error:
            raise limited(error) from error

    def _ask(self, path: str, query: Mapping[str, str]) -> WebAnswer:
        try:
            return self._tokens.ask(path, query=query)
        except FetchError as error:
            raise limited(error) from error


def limited(error: FetchError) -> FetchError:
    """Google says 403 where others say 429, and why in the answer."""
    if error.answer is None or error.status != 403:
        return error
    if not any(reason.encode() in error.answer.data[:4_000] for reason in TOO_OFTEN):
        return error
    return FetchError(
        "rate_limited",
        error.message,
        is_passing=True,
        retry_after=error.retry_after or WAIT,
        answer=error.answer,
    )
