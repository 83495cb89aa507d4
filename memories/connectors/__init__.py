"""Sources of documents that are kept in step: folders, pages, repositories, drives.

`connector` says what each of them can do, and the rest knows no more of them. They ask the network
by `providers.web_fetch` alone, and know nothing of a database.
"""

from memories.connectors.connector import Connector
from memories.connectors.drive_connectors import DriveConnector, OneDriveConnector
from memories.connectors.folder_and_s3_connectors import FolderConnector, S3Connector
from memories.connectors.github_and_notion_connectors import GitHubConnector, NotionConnector
from memories.connectors.web_connector import WebConnector

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
