"""Places of sockets on this machine: in a folder that is one user's own, by a path that is short enough."""

import hashlib
import os
import stat
from pathlib import Path

PATH_LIMIT = 100  # bytes; the kernel's own is 104 to 108


def folder_for(root: Path, name: str) -> Path:
    """Return `root`, or where the path of a socket called `name` in it were too long, a folder of this user's. Not
    below $TMPDIR: all processes must agree."""
    if len(os.fsencode(root / name)) < PATH_LIMIT:
        return root
    mark = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    return Path(f"/tmp/memoryproject-{os.geteuid()}-{mark}")


def make_private(folder: Path) -> None:
    """Make the folder, unless it is there and this user's alone. Raises PermissionError if it is somebody else's."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.geteuid() or not stat.S_ISDIR(found.st_mode):
        raise PermissionError(f"{folder} belongs to another user")
