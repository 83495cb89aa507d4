"""Somebody with a key, and what they do most: tell, ask, list."""

from dataclasses import dataclass
from typing import Any

from memories import ingest, search
from memories.belief import review
from memories.ingest import IngestRequest, NewMessage
from memories.models import Memory, MemorySession
from memories.search import Hit, SearchRequest
from workspaces.keys import KeyOptions, issue_key, scope_for_key
from workspaces.models import Agent, Workspace
from workspaces.scope import Scope


@dataclass(frozen=True)
class Person:
    workspace: Workspace
    key: str

    @property
    def scope(self) -> Scope:
        """As a request with the key would have it now."""
        found = scope_for_key(self.key)
        assert found is not None
        return found

    def tell(self, content: str, **wish: Any) -> MemorySession:
        """Ingest a text, kept as it stands unless the wish says otherwise."""
        return self._done(IngestRequest(content=content, **{"extract": "none", **wish}))

    def say(self, *messages: str | NewMessage, **wish: Any) -> MemorySession:
        said = tuple(NewMessage(m) if isinstance(m, str) else m for m in messages)
        return self._done(IngestRequest(messages=said, **wish))

    def note(self, content: str, **wish: Any) -> Memory:
        return review.create(self.scope, review.NewMemory(content, **wish))

    def ask(self, query: str, **wish: Any) -> list[Hit]:
        return search.search(self.scope, SearchRequest(query, **wish)).hits

    def finds(self, query: str, **wish: Any) -> list[str]:
        """The contents of the hits."""
        return [hit.row.content for hit in self.ask(query, **wish)]

    def live(self) -> list[str]:
        """What is believed and visible, in the order it came."""
        seen = Memory.objects.visible_to(self.scope).live().order_by("id")
        return list(seen.values_list("content", flat=True))

    def _done(self, request: IngestRequest) -> MemorySession:
        session = ingest.ingest(self.scope, request)
        if not session.is_final:
            ingest.run(session.pk)
        return MemorySession.objects.get(pk=session.pk)


def backend_of(workspace: Workspace) -> Person:
    """An unbound key: sees all of the workspace."""
    return with_key(workspace, KeyOptions("backend"))


def bound_to_agent(workspace: Workspace, name: str, team: str = "") -> Person:
    agent = Agent.objects.create(workspace=workspace, external_id=name, team=team)
    return with_key(workspace, KeyOptions(name, agent=agent))


def with_key(workspace: Workspace, options: KeyOptions) -> Person:
    _, text = issue_key(workspace.pk, options, actor="test")
    return Person(workspace, text)
