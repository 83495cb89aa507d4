"""The first start: the accounts it makes, the lines it prints, and the file in the data folder from
which the next start prints them again."""

import json
import os
import secrets
import shlex
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from django.conf import settings
from django.db import transaction

from memoryproject.postgres import visible
from memoryproject.server.address import Address
from workspaces.keys import KeyOptions, issue_key, scope_for_key
from workspaces.models import Agent, AuditEntry, Membership, Role, User, Workspace

FILE = "first_run.json"
CALL = """  curl {url}/api/v1/workspaces/{workspace}/memories/{verb} \\
    -H 'Authorization: Bearer {key}' \\
    -H 'Content-Type: application/json' -d '{body}'"""
TELL = ("ingest", '{"content": "I prefer tea to coffee, and I moved to Lisbon in May."}')
ASK = ("search", '{"query": "tea or coffee?"}')


@dataclass(frozen=True, slots=True)
class FirstRun:
    """The account, workspace and key of a new server; the two secrets are known only here. The
    password is None once it was changed."""

    workspace: str
    admin_user: str
    admin_password: str | None
    key: str


@transaction.atomic
def first_run(slug: str = "demo") -> FirstRun | None:
    """Make the first admin, workspace, agent and key; None where any user exists already."""
    if User.objects.exists():
        return None
    password = secrets.token_urlsafe(12)
    admin = User.objects.create_superuser("admin", "admin@localhost.localdomain", password)
    ask_for_another_password(admin)
    workspace = Workspace(slug=slug, name=slug.title())
    visible.add(workspace.pk)
    workspace.save(force_insert=True)
    after = {"slug": workspace.slug, "name": workspace.name}
    AuditEntry.line(workspace.pk, "up", "create_workspace", workspace, after=after).save()
    Membership.objects.create(workspace=workspace, user=admin, role=Role.OWNER)
    Agent.objects.create(workspace=workspace, external_id="assistant", name="Assistant")
    _, key = issue_key(workspace.pk, KeyOptions("first key"), actor="up", user=admin)
    return FirstRun(workspace.slug, admin.username, password, key)


def is_first_password(username: str, password: str) -> bool:
    """Tell whether the password still opens the account; if so, require a new one at login."""
    admin = User.objects.filter(username=username).first()
    if admin is None or not admin.check_password(password):
        return False
    ask_for_another_password(admin)
    return True


def ask_for_another_password(user: User) -> None:
    user.must_change_password = True
    user.save(update_fields=["must_change_password"])


def made_now(data_dir: Path) -> FirstRun | None:
    """Make admin, workspace, agent and key; None where the database has users already.

    The file is written before the commit: a crash between the two leaves a file that the next start
    replaces, never a key that nobody knows.
    """
    with transaction.atomic():
        made = first_run()
        if made is not None:
            write_private(data_dir / FILE, asdict(made))
    return made


def made_before(data_dir: Path) -> FirstRun | None:
    """Read the file, if its key still works in this database.

    A password that no longer opens the account is removed from the file; one that does must be
    changed at the next login, even if an older version made it.
    """
    kept = read(data_dir)
    if kept is None or not scope_for_key(kept.key):
        return None
    if kept.admin_password and not is_first_password(kept.admin_user, kept.admin_password):
        forget_password(data_dir, kept.admin_user)
    return read(data_dir)


def read(data_dir: Path) -> FirstRun | None:
    """Read the file; None if it is missing or unreadable."""
    try:
        return FirstRun(**json.loads((data_dir / FILE).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def forget_password(data_dir: Path, username: str) -> None:
    """Remove the password from the file, if it is this account's; `up` then removes it from the
    info file, too."""
    kept = read(data_dir)
    if kept is not None and kept.admin_user == username and kept.admin_password:
        write_private(data_dir / FILE, asdict(replace(kept, admin_password=None)))


def write_private(file: Path, content: dict[str, object]) -> None:
    """Write JSON that its owner alone may read; it appears whole or not at all."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        json.dump(content, out, indent=2)
        out.flush()
        os.fsync(out.fileno())
    draft.replace(file)


@dataclass(frozen=True)
class Start:
    """The information to print at a start: `known` is the first start's login and key, `is_first`
    whether this is it. `demo`: topics of the example, and the paths of their pages."""

    address: Address
    known: FirstRun | None
    is_first: bool
    demo: tuple[tuple[str, str], ...] = ()

    def info(self) -> dict[str, object]:
        facts: dict[str, object] = {"url": self.address.url, "mcpUrl": f"{self.address.url}/mcp"}
        if self.known is not None:
            facts |= {"workspace": self.known.workspace, "key": self.known.key}
            facts |= {"adminUser": self.known.admin_user}
            facts |= {"adminPassword": self.known.admin_password}
        return facts

    def password_was_changed(self) -> bool:
        """Tell whether a web process has removed the password from the file since this start."""
        if self.known is None or self.known.admin_password is None:
            return False
        kept = read(settings.DATA_DIR)
        return kept is not None and kept.admin_password is None

    def greeting(self) -> list[str]:
        url = self.address.url
        lines = [
            f"memoryproject answers at {url}",
            f"  admin  {url}/admin/",
            f"  API    {url}/api/docs",
            f"  MCP    {url}/mcp",
            f"  data   {settings.DATA_DIR}",
        ]
        shown = ["Look at the example:"] if self.demo else []
        shown += [f"  {idea}\n    {url}{path}" for idea, path in self.demo]
        return [*lines, *self.secrets(), *shown, "Ctrl-C stops it."]

    def secrets(self) -> list[str]:
        """The lines with the secrets, shown once; later starts name the file that keeps them."""
        if self.known is None:
            return [f"  key    make one with: {shlex.join(settings.COMMAND)} createkey"]
        if not self.is_first:
            return [f"  login and key of the first start: {settings.DATA_DIR / FILE}"]
        return [
            f"  login  {self.known.admin_user} / {self.known.admin_password}  (to be changed at the first login)",
            f"  key    {self.known.key}  (workspace {self.known.workspace})",
            "Tell it something, then ask:",
            *(self.call(self.known, *what) for what in (TELL, ASK)),
        ]

    def call(self, known: FirstRun, verb: str, body: str) -> str:
        names = {"url": self.address.url, "workspace": known.workspace, "key": known.key}
        return CALL.format(**names, verb=verb, body=body)
