"""Exports that come as a zip archive: unpacked within bounds into a folder that is deleted."""

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from memories.transcripts.transcript import BadLine, LeftOut, Unreadable

MOST_FILES = 20_000
MOST_BYTES = 4 << 30  # of all files, unpacked
MOST_TIMES = 300  # as large as packed; text packs to a tenth, a bomb to a thousandth
PIECE = 1 << 20
READ = frozenset({".json", ".jsonl", ".ndjson", ".txt", ".md", ".eml", ".mbox", ".html"})
# What stands beside the conversations of an export and holds none.
BESIDE = frozenset(
    {
        *("users.json", "channels.json", "groups.json", "dms.json", "mpims.json", "integration_logs.json"),
        *("canvases.json", "file_conversations.json", "huddle_transcripts.json", "lists.json", "user.json"),
        *("message_feedback.json", "model_comparisons.json", "shared_conversations.json", "user_settings.json"),
        *("export_manifest.json", "metadata.json", "group_info.json", "user_info.json", "projects.json"),
        *("chat.html", "archive_browser.html", "endpoints.json", "login_history.json"),
    }
)


def check(path: Path) -> None:
    """Raise Unreadable for a file that is not whole, or holds too many files."""
    try:
        with zipfile.ZipFile(path) as archive:
            count = len(archive.infolist())
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise Unreadable(f"it is a broken zip archive ({error})") from error
    if count > MOST_FILES:
        raise Unreadable(f"it is a zip archive of more than {MOST_FILES:,} files")


def unpacked(path: Path, folder: Path, left_out: LeftOut) -> Iterator[Path | BadLine]:
    """Unpack the files of an export that readers may read; then yield them in a steady order. What
    is too large, encrypted or broken is told."""
    with zipfile.ZipFile(path) as archive:
        yield from _unpacked(archive, folder, left_out)


def _unpacked(archive: zipfile.ZipFile, folder: Path, left_out: LeftOut) -> Iterator[Path | BadLine]:
    members = [each for each in archive.infolist() if not each.is_dir()]
    found, rest = list[Path](), MOST_BYTES
    for number, member in enumerate(members):
        name = PurePosixPath(member.filename.replace("\\", "/"))
        parts = [part for part in name.parts if part not in ("..", "/", "")]
        if not parts or parts[0] == "__MACOSX" or parts[-1].startswith("."):
            continue
        if PurePosixPath(parts[-1]).suffix.lower() not in READ:
            left_out.add(1, "pictures and other files in the archive")
            continue
        if member.flag_bits & 1:
            yield BadLine(1, f"{name}: encrypted")
            continue
        # Never a path of the archive's own choosing: folders by name, a file that is there already by number.
        target = folder.joinpath(*(part[:100] for part in parts))
        if target.exists() or not target.resolve().is_relative_to(folder.resolve()):
            target = folder / str(number) / parts[-1][:100]
        most = min(rest, max(PIECE, member.compress_size * MOST_TIMES))
        try:
            size = _copied(archive, member, target, most)
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError, zlib.error) as error:
            yield BadLine(1, f"{name}: broken ({error})")
            continue
        rest -= min(size, most)
        if size > most:
            target.unlink()
            yield BadLine(1, f"{name}: it unpacks to more than {most:,} bytes")
            continue
        if target.name not in BESIDE:
            found.append(target)
        else:
            left_out.add(1, "lists of the export that hold no messages")
    yield from sorted(found)


def _copied(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, most: int) -> int:
    """Unpack a file up to `most` bytes and a piece; return how many came."""
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with archive.open(member) as packed, target.open("wb") as out:
        while size <= most and (piece := packed.read(PIECE)):
            out.write(piece)
            size += len(piece)
    return size
