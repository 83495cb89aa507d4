"""A request in a process of its own: one long sync ingest over HTTP, in small steps, with a short
lease. Prints the status and the body of its answer. With a number of messages as the last argument
it stops itself (SIGSTOP) when so many are learned. See test_session_steps.py."""

import json
import os
import signal
import sys
from datetime import timedelta
from typing import Any

import django

database, key, number, stop_at = sys.argv[1:]
os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings_test"
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # else tests/mcp is taken for mcp
django.setup()

from django.conf import settings  # noqa: E402
from django.test import Client  # noqa: E402

settings.DATABASES["default"]["NAME"] = database

from memories.ingest import process  # noqa: E402
from memories.models import MemorySession  # noqa: E402
from memories.queue import leases  # noqa: E402

take = process.SessionSteps.take


def take_and_stop(steps: process.SessionSteps, **options: Any) -> MemorySession:
    """Between two transactions: what stops within one keeps the workspace's lock until the database
    ends it, which the tests' settings never do."""
    row = take(steps, **options)
    if row.learned == int(stop_at):
        os.kill(os.getpid(), signal.SIGSTOP)
    return row


process.SessionSteps.take = take_and_stop  # type: ignore[method-assign]
leases.LEASE, leases.BEAT, process.MOST_MESSAGES = timedelta(seconds=2), 0.2, 5
messages = [
    {"role": "user", "content": f"I met person number {n}. I prefer tea number {n} to coffee {n}."}
    for n in range(int(number))
]
answer = Client().post(
    "/api/v1/workspaces/orchard/memories/ingest",
    json.dumps({"messages": messages, "userId": "ada", "wait": 60}),
    content_type="application/json",
    headers={"X-API-Key": key, "Host": "localhost"},
)
sys.stdout.write(json.dumps([answer.status_code, answer.json()]))
