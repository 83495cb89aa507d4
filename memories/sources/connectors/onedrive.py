"""Files of a OneDrive or SharePoint, whole or below one folder."""

from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import quote

from pydantic import Field

from memories.providers.web_fetch import FetchError
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
from memories.sources.connectors.google_drive import MALFORMED
from memories.sources.connectors.oauth import TokenWire

# Files of a OneDrive or of a library in SharePoint, by Microsoft Graph.

LOGIN = "https://login.microsoftonline.com/"
OF_APPS = "https://graph.microsoft.com/.default"
OF_PEOPLE = "Files.Read.All offline_access"
FIELDS = "id,name,eTag,cTag,file,folder,deleted,webUrl,size"


class OneDriveOptions(SettingsObject):
    """`driveId` is needed where an app asks by itself; without it the drive is the person's own.
    `folderId` is an item of it, by default its root."""

    drive_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9!_.-]{0,200}$")] = ""
    folder_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9!_.-]{0,200}$")] = ""
    endings: Endings = []


class OneDriveCredentials(SettingsObject):
    """The `tenant`, `clientId` and `clientSecret` of an app with its own permissions; with a
    person's consent also the `refreshToken`, which Microsoft renews at each use."""

    client_id: Annotated[str, Field(min_length=1, max_length=200)]
    client_secret: Annotated[str, Field(max_length=500)] = ""
    tenant: Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]{1,100}$")] = "common"
    refresh_token: Annotated[str, Field(max_length=5_000)] = ""


class OneDriveConnector(Connector):
    """The drive's own list of changes, which begins with all that it has; the version of a file
    is the tag of its content."""

    Options = OneDriveOptions
    Credentials = OneDriveCredentials
    label = "OneDrive"
    named_by = ("driveId",)
    base = "https://graph.microsoft.com/v1.0/"
    options: OneDriveOptions
    credentials: OneDriveCredentials | None

    def __init__(self, options: Any, credentials: Any, wire: Wire) -> None:
        super().__init__(options, credentials, wire)
        if self.credentials is None:
            raise FetchError("login_required", "OneDrive needs credentials.")
        own = self.credentials
        # The operator's word where the source is holds for its tokens, too.
        login = LOGIN if wire.base == self.base else wire.base
        form = {"client_id": own.client_id, "client_secret": own.client_secret}
        if own.refresh_token:
            form |= {"grant_type": "refresh_token", "refresh_token": own.refresh_token}
            form["scope"] = OF_PEOPLE
        else:
            form |= {"grant_type": "client_credentials", "scope": OF_APPS}
        self._tokens = TokenWire(wire, f"{login}{own.tenant}/oauth2/v2.0/token", form)

    @property
    def _drive(self) -> str:
        return f"drives/{self.options.drive_id}" if self.options.drive_id else "me/drive"

    def changes(self, cursor: Cursor) -> Changes:
        """The cursor: the address of the next page, or of the changes to come; `whole` while all
        is listed."""
        folder = f"items/{self.options.folder_id}" if self.options.folder_id else "root"
        first = f"{self._drive}/{folder}/delta?$select={FIELDS}"
        is_whole = not cursor or bool(cursor.get("whole"))
        try:
            answer = self._json(str(cursor.get("next") or first))
            items = [item for file in answer["value"] if (item := self._item(file))]
            unlisted = Unlisted.GONE if is_whole else Unlisted.KEPT
            if more := answer.get("@odata.nextLink"):
                return Changes(items, {"next": more, "whole": is_whole}, False, unlisted)
            return Changes(items, {"next": answer["@odata.deltaLink"]}, unlisted=unlisted)
        except FetchError as error:
            if error.status == 410 and cursor:
                raise CursorExpired from error
            raise
        except MALFORMED as error:
            raise malformed() from error

    def _item(self, file: Mapping[str, Any]) -> SourceItem | None:
        if file.get("deleted"):
            return SourceItem(file["id"], is_deleted=True)
        if "file" not in file:
            return None
        name = file["name"]
        if not is_readable(name, self.options.endings):
            return None
        version = file.get("cTag") or file.get("eTag") or ""
        return SourceItem(file["id"], version, name, file.get("webUrl") or "", name, "onedrive")

    def fetch(self, item_id: str, marks: Mapping[str, str]) -> FetchedItem | None:
        """The content stands behind an address that needs no token, to which it redirects."""
        answer = self._tokens.ask(f"{self._drive}/items/{quote(item_id, safe='!')}/content")
        self._note_renewed()
        return FetchedItem(answer.data)

    def test(self) -> str:
        try:
            drive = self._json(self._drive)
            return f"A drive: {drive.get('name') or drive['driveType']}."
        except MALFORMED as error:
            raise malformed() from error

    def _json(self, path: str) -> Any:
        answer = self._tokens.json(path)
        self._note_renewed()
        return answer

    def _note_renewed(self) -> None:
        if self._tokens.renewed and self.credentials is not None:
            renewed = self.credentials.model_dump(by_alias=True)
            self.renewed = renewed | {"refreshToken": self._tokens.renewed}
