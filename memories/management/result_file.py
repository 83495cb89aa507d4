"""The file that a command writes its result to, checked before it begins to work."""

import os
from argparse import ArgumentTypeError
from pathlib import Path


def result_file(text: str) -> Path:
    """The type of an option `--json`: a file that can be written. Raises ArgumentTypeError."""
    path = Path(text).expanduser()
    if path.is_dir():
        raise ArgumentTypeError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"there is no folder {path.parent}: make it, or name another")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ArgumentTypeError(f"{path} may not be written: name another file")
    return path
