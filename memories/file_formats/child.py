"""The child process's program: one file from standard input, one JSON object to standard output.

It limits itself before it reads a byte: memory, processor time, open files, no file may grow, and
no network if the kernel allows that. Whoever started it limits the time.
"""

import ctypes
import os
import resource
import sys
from functools import partial
from importlib import import_module

import msgspec

from memories.file_formats.archive_files import UnpackingBudget, read_archive
from memories.file_formats.assembly import FileRefused, FileText, storable
from memories.file_formats.known_formats import FORMATS, kind_of

NEW_NETWORK, NEW_USER = 0x40000000, 0x10000000
MEGABYTE = 1 << 20
# An engine for pictures has models of its own, and takes the rest when it is loaded.
MEMORY, MEMORY_OF_PICTURES = 1024 * MEGABYTE, 3072 * MEGABYTE
FILES = 128
DEEPEST = 3  # archives around an archive


class Answer(msgspec.Struct):
    """Either `text` or the `code` of a refusal."""

    text: FileText | None = None
    code: str = ""
    message: str = ""


def bound(seconds: int, memory: int = MEMORY) -> None:
    """Give up, for good, what reading a file does not need; `memory` is the most it may ask for."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    system = ctypes.CDLL(None)
    if system.unshare(NEW_NETWORK) != 0:
        system.unshare(NEW_USER | NEW_NETWORK)


def read_file(data: bytes, name: str, *, depth: int = 0, budget: UnpackingBudget | None = None) -> FileText:
    """Return the text of a file; `depth` is the number of archives around it, which share their
    budget. Raises FileRefused."""
    kind = kind_of(data, name)
    if kind == "media":
        raise FileRefused("no_transcriber", "No transcriber is configured for sound and video.")
    if kind in ("zip", "tar"):
        if depth > DEEPEST:
            raise FileRefused("unsupported_type", f"An archive is read in at most {DEEPEST} others.")
        budget = budget or UnpackingBudget()
        found = read_archive(data, kind, partial(read_file, depth=depth + 1, budget=budget), budget)
    else:
        module, _, function = FORMATS[kind].reader.partition(".")
        package = f"memories.file_formats.{module}"
        # A process reads one file: it loads only what that needs, which saves most of its start-up.
        reader = getattr(import_module(package), function)
        found = reader(data)
    found.media_type = found.media_type or FORMATS[kind].media
    found.type = FORMATS[kind].type or found.type
    # What a file says of itself is as untrusted as its text.
    for name in ("title", "author", "language", "published_at"):
        setattr(found, name, storable(getattr(found, name)))
    return found


def main(arguments: list[str]) -> None:
    seconds, name = int(arguments[0]), arguments[1]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # libraries that print must not disturb the answer
    needs_models = "--pictures" in arguments
    bound(seconds, MEMORY_OF_PICTURES if needs_models else MEMORY)
    try:
        found = Answer(read_file(sys.stdin.buffer.read(), name))
    except FileRefused as refusal:
        found = Answer(code=refusal.code, message=refusal.message)
    except MemoryError:
        found = Answer(code="memory", message="Reading the file takes too much memory.")
    except RecursionError:
        found = Answer(code="damaged", message="The file is nested too deeply.")
    answers.write(msgspec.json.encode(found))
    answers.close()
    os._exit(0)  # do not wait for the libraries' exit work


if __name__ == "__main__":
    main(sys.argv[1:])
