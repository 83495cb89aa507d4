"""The newest state of a repository that others serve by git's smart HTTP, read by the program git.

Its address is asked as any page is (`web_fetch`), redirects followed and looked at; git then goes
to what the last name was looked up as, and nowhere else: no redirects, no other protocols, no
submodules, hooks, helpers or questions. Nothing is checked out.
"""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urldefrag, urlsplit

from memories.providers.allowed_addresses import PORTS, AddressRefused, address_for
from memories.providers.web_fetch import (
    AGENT,
    SCHEMES,
    FetchError,
    FetchLimits,
    WebRequest,
    fetch,
)

MISSING = (
    "A repository is read by the program git, 2.37 or newer: install it where the worker runs"
    " (apt install git, apk add git, brew install git), and try again."
)
PRIVATE = (
    "The repository is not there, or not public: no credentials are sent to an address. Of GitHub,"
    " a connection (github) with a token reads it; of others, hand in an archive of its files."
)
OLDEST = (2, 37)  # the first that can be told which address a name has
ADVERTISED = "/info/refs?service=git-upload-pack"
MEDIA_TYPE = "application/x-git-upload-pack-advertisement"
BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]{0,199}")
LEAST_SECONDS = 180.0  # for a whole repository, however short other fetches are
MEMORY = 2**30  # bytes, of each of its processes
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all files: the same state is the same archive
FILE_MODES = (b"100644", b"100755", b"100664")  # no links, no submodules
# Bounds of a process before it becomes git.
BOUNDED = """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it, and git would write on
for kind, most in zip(("CPU", "AS", "FSIZE", "CORE"), (*map(int, sys.argv[1:4]), 0)):
    resource.setrlimit(getattr(resource, "RLIMIT_" + kind), (most, most))
os.execvp("git", ["git", *sys.argv[4:]])
"""


@dataclass(frozen=True, slots=True)
class Repository:
    """The files of a branch as a zip archive. `url` is where it was in the end."""

    url: str
    data: bytes


def clone(
    url: str,
    limits: FetchLimits,
    allowed: Sequence[str],
    wanted: Callable[[str, int], bool],
) -> Repository:
    """The files that are `wanted` by path and size in bytes, of the branch that stands behind # in
    the address, or its own. Raises FetchError, also with `git_unavailable`."""
    base, branch = urldefrag(url)
    if branch and (not BRANCH.fullmatch(branch) or ".." in branch):
        raise FetchError("fetch_refused", "Behind # stands no name of a branch.")
    check_installed()
    advertised = WebRequest(f"{base.rstrip('/')}{ADVERTISED}", headers={"git-protocol": ""})
    try:
        answer = fetch(advertised, limits, allowed)
    except FetchError as error:
        if error.code != "login_required":
            raise
        raise FetchError(error.code, PRIVATE, answer=error.answer) from error
    base, host = answer.url.removesuffix(ADVERTISED), urlsplit(answer.url).hostname or ""
    if answer.media_type != MEDIA_TYPE or base == answer.url:
        raise FetchError("fetch_failed", f"{host} has no repository of git there.")
    with tempfile.TemporaryDirectory(prefix="memoryproject-git-") as folder:
        git = _Git(folder, _environment(folder, base, allowed), limits)
        named = ["--branch", branch] if branch else []
        git.run(
            "clone",
            "--bare",
            "--depth=1",
            "--single-branch",
            "--no-tags",
            "--template=",
            "--quiet",
            *named,
            "--",
            base,
            f"{folder}/repository",
        )
        return Repository(base, _archive_of(git, limits.size, wanted))


def check_installed() -> None:
    """Check that git is installed and new enough. Raises FetchError."""
    program = shutil.which("git")
    said = (
        ""
        if program is None
        else subprocess.run([program, "version"], capture_output=True, text=True, timeout=20, check=False).stdout
    )
    number = re.search(r"(\d+)\.(\d+)", said)
    if number is None or (int(number[1]), int(number[2])) < OLDEST:
        raise FetchError("git_unavailable", MISSING)


def _environment(folder: str, base: str, allowed: Sequence[str]) -> dict[str, str]:
    """Return git's environment, all that it gets beside its arguments. Raises FetchError."""
    parts = urlsplit(base)
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    if not host.isascii() or host.endswith("."):  # looked up under another spelling by git
        raise FetchError("fetch_refused", "The name of the host is not written out.")
    try:
        address = address_for(parts.scheme, host, port, allowed, schemes=SCHEMES)
    except AddressRefused as error:
        raise FetchError("fetch_refused", f"{error}.") from error
    except OSError as error:
        raise FetchError("fetch_failed", f"{host} cannot be read.", is_passing=True) from error
    where = f"[{address}]" if ":" in address else address
    settings = {
        "http.curloptResolve": f"{host}:{port}:{where}",
        "http.followRedirects": "false",
        "http.proxy": "",
        "http.userAgent": f"git/2 {AGENT}",
        "http.lowSpeedLimit": "500",
        "http.lowSpeedTime": "20",
        "credential.helper": "",
        "core.askPass": "",
        "core.hooksPath": os.devnull,
        "core.bigFileThreshold": "20m",
        "pack.threads": "1",
        "fetch.unpackLimit": "1",
        "gc.auto": "0",
        "maintenance.auto": "false",
        "submodule.recurse": "false",
        "transfer.bundleURI": "false",
    }
    told = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        told |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    kept = ("PATH", "LD_LIBRARY_PATH", "GIT_SSL_CAINFO")
    return (
        told
        | {name: os.environ[name] for name in kept if name in os.environ}
        | {
            "HOME": folder,
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "GIT_ALLOW_PROTOCOL": parts.scheme,
            "GIT_LFS_SKIP_SMUDGE": "1",
        }
    )


@dataclass(frozen=True, slots=True)
class _Git:
    folder: str
    environment: dict[str, str]
    limits: FetchLimits

    def run(self, *words: str, told: bytes = b"") -> bytes:
        """Run git and return its output. Raises FetchError."""
        seconds = self.limits.seconds
        bounds = [str(max(1, int(seconds))), str(MEMORY), str(self.limits.size)]
        # Into files, which have the bound of all that it writes.
        with (
            tempfile.TemporaryFile(dir=self.folder) as asked,
            tempfile.TemporaryFile(dir=self.folder) as answers,
            tempfile.TemporaryFile(dir=self.folder) as notes,
        ):
            asked.write(told)
            asked.seek(0)
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", BOUNDED, *bounds, *words],
                stdin=asked,
                stdout=answers,
                stderr=notes,
                cwd=self.folder,
                env=self.environment,
                start_new_session=True,
            )
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired as error:
                raise FetchError("timeout", "The repository did not come in time.", is_passing=True) from error
            finally:
                # With what it started itself, whatever has happened.
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            answers.seek(0)
            notes.seek(0)
            said, faults = answers.read(), notes.read()
        if code == 0:
            return said
        if b"signal 25" in faults or code == -signal.SIGXFSZ:
            raise FetchError("too_large", f"It is larger than {self.limits.size:,} bytes.")
        if b"Remote branch" in faults:
            raise FetchError("source_gone", "The repository has no branch of that name.")
        if "ls-tree" in words:
            raise FetchError("no_text", "The repository is empty.")
        raise FetchError("fetch_failed", "The repository was not handed out.", is_passing=True)


def _archive_of(git: _Git, most: int, wanted: Callable[[str, int], bool]) -> bytes:
    """A zip archive of HEAD, in the order of the paths. Raises FetchError."""
    here = f"--git-dir={git.folder}/repository"
    files: list[tuple[str, bytes]] = []
    total = 0
    for line in git.run(here, "ls-tree", "-r", "-z", "-l", "--full-tree", "HEAD").split(b"\0"):
        about, _, name = line.partition(b"\t")
        if not about or about.split()[0] not in FILE_MODES:
            continue
        path, size = name.decode(errors="replace"), int(about.split()[3])
        if wanted(path, size):
            files.append((path, about.split()[2]))
            total += size + len(about)
    if total > most:
        raise FetchError("too_large", f"Its files are larger than {most:,} bytes.")
    said = memoryview(git.run(here, "cat-file", "--batch", told=b"".join(sha + b"\n" for _, sha in files)))
    made, at = io.BytesIO(), 0
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, _ in files:
            head = bytes(said[at : at + 200]).partition(b"\n")[0]  # sha, kind, size
            start, size = at + len(head) + 1, int(head.split()[2])
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, bytes(said[start : start + size]))
            at = start + size + 1
    return made.getvalue()
