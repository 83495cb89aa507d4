"""A worker in a process of its own, to be killed: `python -m bench.speed.fold_worker`.

Says "ready" and waits for a line; then it takes in what is due until nothing waits.
"""

import json
import sys
import time
from datetime import timedelta
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402

from memories.models import FeatureSet  # noqa: E402
from memories.profiles.features.update import update_due_sets  # noqa: E402
from memories.queue import leases  # noqa: E402

LOOK = 0.05  # seconds between two looks at what waits


def work(database: dict[str, Any], lease: float) -> None:
    """`database`: entries of Django's setting that differ; `lease` in seconds."""
    settings.DATABASES["default"].update(database)
    leases.LEASE = timedelta(seconds=lease)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    while FeatureSet.objects.filter(waiting__gt=0).exists():
        update_due_sets(time.monotonic() + 1)
        time.sleep(LOOK)


if __name__ == "__main__":
    work(json.loads(sys.argv[1]), float(sys.argv[2]))
