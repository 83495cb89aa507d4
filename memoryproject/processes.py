"""The programs that `up` runs: the web server and the task worker."""

import os
import sys

from django.conf import settings

from memoryproject.address import Address, allowed_hosts
from memoryproject.supervisor import Child


def processes(address: Address, role: str, *, web: int, workers: int) -> list[Child]:
    """`role` is the database role of both, owner or app; `web` and `workers` count processes."""
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "memoryproject.settings",
        "DATABASE_ROLE": role,
        "MEMORY_DATA_DIR": str(settings.DATA_DIR),
        "ALLOWED_HOSTS": ",".join(allowed_hosts(address.host)),
        "WEB_PROCESSES": str(web),
        "WORKERS": str(workers),
    }
    folder = settings.BASE_DIR
    return [
        Child("web", _web(address, web), env, folder),
        Child("worker", [sys.executable, "manage.py", "work"], env, folder),
    ]


def _web(address: Address, web: int) -> list[str]:
    """WSGI, one thread in each process: measured to serve most, and a thread would need its own
    connection."""
    words = [sys.executable, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws"]
    words += ["--host", address.host, "--port", str(address.port), "--log-level", "warning"]
    words += ["--workers", str(web), "--blocking-threads", "1", "--backpressure", "256"]
    words += ["--respawn-failed-workers", "--workers-kill-timeout", "15"]
    return [*words, "memoryproject.wsgi:application"]
