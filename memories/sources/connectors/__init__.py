"""Sources of documents that are kept in step: folders, pages, repositories, drives.

`connector` says what each of them can do, and the rest knows no more of them. They ask the network
by `providers.web_fetch` alone, and know nothing of a database.
"""

from memories.sources.connectors.connector import Connector
from memories.sources.connectors.github import GitHubConnector
from memories.sources.connectors.google_drive import DriveConnector
from memories.sources.connectors.notion import NotionConnector
from memories.sources.connectors.onedrive import OneDriveConnector
from memories.sources.connectors.s3_bucket import S3Connector
from memories.sources.connectors.server_folder import FolderConnector
from memories.sources.connectors.web_site import WebConnector

# The connectors by the names that connections have for them.
CONNECTORS: dict[str, type[Connector]] = {
    "folder": FolderConnector,
    "web": WebConnector,
    "github": GitHubConnector,
    "s3": S3Connector,
    "notion": NotionConnector,
    "google_drive": DriveConnector,
    "onedrive": OneDriveConnector,
}
