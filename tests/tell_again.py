"""A writer in a process of its own: tells the same text ten times. See test_races.py."""

import os
import sys

import django

database, key, text = sys.argv[1:]
os.environ["DJANGO_SETTINGS_MODULE"] = "memoryproject.settings_test"
sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))  # else tests/mcp is taken for mcp
django.setup()

from django.conf import settings  # noqa: E402

settings.DATABASES["default"]["NAME"] = database

from memories import ingest  # noqa: E402
from workspaces.keys import scope_for_key  # noqa: E402

scope = scope_for_key(key)
assert scope is not None
for _ in range(10):
    session = ingest.receive(scope, ingest.IngestRequest(content=text, user_id="u"))
    ingest.run(session.pk)
