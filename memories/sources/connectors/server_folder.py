"""A folder of this server, below one that the operator allows."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from memories.providers.web_fetch import FetchError
from memories.settings_objects import SettingsObject
from memories.sources.connectors.connector import (
    Changes,
    Connector,
    Cursor,
    Endings,
    FetchedItem,
    SourceItem,
    Unlisted,
    is_readable,
)

MOST_FILES = 100_000


class FolderOptions(SettingsObject):
    """`path` is a folder; `endings` are those of the files that count."""

    path: Annotated[str, Field(min_length=1, max_length=1000)]
    endings: Endings = []


class FolderConnector(Connector):
    """All files below it, in the order of their paths; hidden ones and links that lead out of it
    are left alone. A version is size and time of change, so unchanged files are not read."""

    Options = FolderOptions
    label = "Folder"
    named_by = ("path",)
    options: FolderOptions

    @property
    def root(self) -> Path:
        """The folder. Raises FetchError where the operator allows no folder above it, or it does
        not exist."""
        root = Path(self.options.path).resolve()
        if not any(root.is_relative_to(Path(each).resolve()) for each in self.wire.allowed):
            raise FetchError("fetch_refused", "The operator of this server allows no such folder.")
        if not root.is_dir():
            raise FetchError("source_gone", "There is no such folder.")
        return root

    def changes(self, cursor: Cursor) -> Changes:
        items = []
        for name, path in self.files():
            stat = path.stat()
            items.append(SourceItem(name, f"{stat.st_size}.{stat.st_mtime_ns}", filename=path.name))
        return Changes(items, {}, unlisted=Unlisted.GONE)

    def files(self) -> Iterator[tuple[str, Path]]:
        """Yield the files in the order of their paths below the root. Raises FetchError."""
        root = self.root
        names: list[str] = []
        for folder, inner, files in os.walk(root):
            inner[:] = [each for each in inner if not each.startswith(".")]
            names += [
                (Path(folder) / file).relative_to(root).as_posix()
                for file in files
                if not file.startswith(".") and is_readable(file, self.options.endings)
            ]
            if len(names) > MOST_FILES:
                raise FetchError("too_large", f"There are more than {MOST_FILES:,} files.")
        for name in sorted(names):
            path = root / name
            if path.resolve().is_relative_to(root) and path.is_file() and name.isprintable():
                yield name, path

    def fetch(self, item_id: str, marks: Mapping[str, str]) -> FetchedItem | None:
        path = (self.root / item_id).resolve()
        if not path.is_relative_to(self.root):
            raise FetchError("fetch_refused", "The file is not in the folder.")
        try:
            with path.open("rb") as file:
                data = file.read(self.wire.limits.size + 1)
        except FileNotFoundError as error:
            raise FetchError("source_gone", "The file is not there any more.") from error
        except OSError as error:
            raise FetchError("fetch_failed", "The file cannot be read.") from error
        if len(data) > self.wire.limits.size:
            raise FetchError("fetch_refused", f"It is larger than {self.wire.limits.size:,} bytes.")
        return FetchedItem(data, filename=path.name)

    def test(self) -> str:
        count = sum(1 for _ in self.files())
        return f"{count} files."
