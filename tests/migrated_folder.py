"""A data folder with a database that has all migrations, kept between runs: a server under test
begins over a copy of it, as after an upgrade, and makes its own login and key."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from django.conf import settings

from memoryproject.postgres import embedded_postgres, postgres_guard
from tests import template_database

ROOT = Path(__file__).resolve().parent.parent
# Stopped whole before it is copied.
MAKE = """
import django
django.setup()
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from memoryproject.postgres import embedded_postgres
call_command("migrate", interactive=False, verbosity=0)
connection.ensure_connection()
connection.cursor().execute("checkpoint")
connections.close_all()
assert embedded_postgres.leave(settings.EMBEDDED_POSTGRES, patience=60)
"""


def copy_to(data: Path) -> None:
    made = ready() / "postgres" / "data"
    (data / "postgres").mkdir(mode=0o700, parents=True)
    data.chmod(0o700)
    copy = ["cp", "--archive", "--reflink=auto", str(made), str(data / "postgres")]
    subprocess.run(copy, check=True, timeout=300)


def ready() -> Path:
    """Made where it is missing, once for all processes; those of other migrations are removed."""
    folders = Path(settings.DATA_DIR) / "migrated"
    folders.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = folders / _digest()
    with open(folders / "lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            for old in folders.iterdir():
                if old.is_dir():
                    shutil.rmtree(old)
            unfinished = folders / "unfinished"
            own = {
                "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
                "MEMORY_DATA_DIR": str(unfinished),
                "DATABASE_URL": "",
            }
            command = [sys.executable, "-c", MAKE]
            subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **own}, timeout=300)
            unfinished.rename(made)
    return made


def _digest() -> str:
    digest = hashlib.sha256(template_database.digest().encode())
    for module in (embedded_postgres, postgres_guard):
        digest.update(Path(module.__file__).read_bytes())
    return digest.hexdigest()[:16]
