"""The connectors by the names that connections have for them."""

from memories.connectors.connector import Connector
from memories.connectors.drive_connector import DriveConnector
from memories.connectors.folder_connector import FolderConnector
from memories.connectors.github_connector import GitHubConnector
from memories.connectors.notion_connector import NotionConnector
from memories.connectors.onedrive_connector import OneDriveConnector
from memories.connectors.s3_connector import S3Connector
from memories.connectors.web_connector import WebConnector

CONNECTORS: dict[str, type[Connector]] = {
    "folder": FolderConnector,
    "web": WebConnector,
    "github": GitHubConnector,
    "s3": S3Connector,
    "notion": NotionConnector,
    "google_drive": DriveConnector,
    "onedrive": OneDriveConnector,
}
