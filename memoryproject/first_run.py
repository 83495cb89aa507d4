"""What the first start made, kept in the data folder so that the next start can tell it again."""

import json
import os
from dataclasses import asdict, replace
from pathlib import Path

from django.db import transaction

from workspaces.keys import scope_for_key
from workspaces.new_workspace import FirstRun, first_run, is_first_password

FILE = "first_run.json"


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
    """What the file holds, if its key still works in this database.

    A password that does not open the account any more is taken out of the file; one that does must
    be changed at the next login, also where an older version made it.
    """
    kept = read(data_dir)
    if kept is None or not scope_for_key(kept.key):
        return None
    if kept.admin_password and not is_first_password(kept.admin_user, kept.admin_password):
        forget_password(data_dir, kept.admin_user)
    return read(data_dir)


def read(data_dir: Path) -> FirstRun | None:
    """What the file holds; None where there is none that can be read."""
    try:
        return FirstRun(**json.loads((data_dir / FILE).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def forget_password(data_dir: Path, username: str) -> None:
    """Take the password out of the file, if it is this account's; `up` then takes it out of the
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
