"""A trace of our modules and functions that requests enter: run by `bench/house.py --journeys` with
the tests' settings of the tree in question. It speaks HTTP only, so that it fits any tree."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from workspaces.models import Membership, Workspace

ROOTS = tuple(str(Path.cwd() / name) + "/" for name in ("memories", "workspaces", "memoryproject"))


@contextmanager
def traced(name: str) -> Iterator[set[str]]:
    """The files that are entered inside, those that read a language too: filled at the end."""
    entered: set[tuple[str, str, int]] = set()
    files: set[str] = set()
    calls = 0

    def note(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOTS) and code.co_name != "<module>":
            calls += 1
            entered.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    sys.setprofile(note)
    try:
        yield files
    finally:
        sys.setprofile(None)
    files |= {file for file, _, _ in entered}
    packages = {str(Path(file).parent) for file in files}
    print(f"\njourney {name}: {len(files)} modules, {len(packages)} packages, {len(entered)} functions, {calls} calls")


@pytest.mark.django_db
def test_journeys() -> None:
    workspace = Workspace.objects.create(slug="journeys", name="Journeys")
    user = get_user_model().objects.create_user(username="traveller", password="a long password")
    Membership.objects.create(workspace=workspace, user=user, role="owner")
    client = Client()
    client.force_login(user)
    memories = "/api/v1/workspaces/journeys/memories"

    def post(path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = client.post(path, json.dumps(body), content_type="application/json")
        assert answer.status_code < 300, answer.content
        return dict(answer.json())

    def tell(words: str) -> dict[str, Any]:
        messages = [{"role": "user", "content": words}]
        return post(f"{memories}/ingest", {"messages": messages, "userId": "ada"})

    tell("I work at Contoso as a nurse.")
    tell("I live in Porto.")
    with traced("ingest of one sentence"):
        assert tell("I moved to Lisbon last week.")["memoriesUpdated"] == 1
    query = {"query": "Where does Ada live?", "userId": "ada", "include": ["citations"]}
    with traced("search, memories, with citations"):
        assert post(f"{memories}/search", query)["count"]
    layers = {**query, "layers": ["memories", "episodes", "features"]}
    with traced("search, three layers"):
        assert post(f"{memories}/search", layers)["count"]
    with traced("profile"):
        assert client.get(f"{memories}/profile?userId=ada").status_code == 200
    decisions = client.get("/api/v1/workspaces/journeys/supersessions").json()["results"]
    with traced("undo of a decision"):
        undone = f"/api/v1/workspaces/journeys/supersessions/{decisions[0]['id']}/undo"
        assert post(undone, {})["state"] == "undone"
