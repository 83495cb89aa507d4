"""Workspaces of a trial beside the first one, made through the ORM of the server's own folder."""

import json
import sys
from typing import Any

from bench.server import ServerFailed, TrialServer
from memories.index import configured_embedder, workspace_index
from memories.models import WorkspaceIndex
from workspaces.keys import KeyOptions, issue_key
from workspaces.models import Workspace

REMOTE = ("openai", "text-embedding-3-small", 1536)


def make_over(server: TrialServer, wishes: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The key of each workspace that `wishes` names; see `make`. Raises ServerFailed."""
    told = f"from bench import tenants; tenants.make_all({json.dumps(wishes)!r})"
    code, out, errors = server.run("shell", "--no-imports", "-v", "0", "-c", told, timeout=120.0)
    if code:
        raise ServerFailed(f"The workspaces could not be made: {errors[-1000:]}")
    keys: dict[str, str] = json.loads(out.strip().splitlines()[-1])
    return keys


def make_all(wishes: str) -> None:
    made = {slug: make(slug, **wish) for slug, wish in json.loads(wishes).items()}
    sys.stdout.write(json.dumps(made) + "\n")


def make(slug: str, *, settings: dict[str, Any] | None = None, remote: bool = False) -> str:
    """A workspace, made where there is none, and a key of it. `remote`: its embedder is asked over
    the network."""
    wish = {"name": slug.title(), "settings": settings or {}}
    workspace, _ = Workspace.objects.update_or_create(slug=slug, defaults=wish)
    space = workspace_index.index_of(workspace.pk)
    if remote:
        model = configured_embedder.model_of(configured_embedder.named_embedder(*REMOTE))
        WorkspaceIndex.objects.filter(pk=space.pk).update(embedding_model=model)
    _, key = issue_key(workspace.pk, KeyOptions("trial"), actor="trial")
    return key
