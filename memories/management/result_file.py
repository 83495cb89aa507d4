"""The file that a command writes its result to, checked before it begins to work."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path


def add_result_file(parser: ArgumentParser) -> None:
    """The option `--json`."""
    parser.add_argument(
        "--json", type=_result_file, metavar="FILE", help="write the result there, too"
    )


def _result_file(text: str) -> Path:
    path = Path(text).expanduser()
    if path.is_dir():
        raise ArgumentTypeError(f"{path} is a folder: name a file in it")
    if not path.parent.is_dir():
        raise ArgumentTypeError(f"there is no folder {path.parent}: make it, or name another")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ArgumentTypeError(f"{path} may not be written: name another file")
    return path
