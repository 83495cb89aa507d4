"""Somebody at the HTTP door: a key, a member's session, or nobody at all."""

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from tests.factories import MembershipFactory
from tests.people import Person
from workspaces.models import Membership, Workspace


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    headers: dict[str, str]

    @property
    def fields(self) -> list[str]:
        """What a problem names."""
        return [error["field"] for error in self.body["errors"]]

    @property
    def codes(self) -> list[str]:
        return [error["code"] for error in self.body["errors"]]

    @property
    def is_problem(self) -> bool:
        told = {"type", "title", "status", "detail", "errors", "requestId"} <= set(self.body or {})
        return told and self.headers["Content-Type"] == "application/problem+json"

    def contents(self) -> list[str]:
        """Of a list of memories or episodes."""
        return [row["content"] for row in self.body["results"]]


@dataclass
class Caller:
    """Calls routes below /api/v1/workspaces/<slug>; `//path` is from the root of the server."""

    slug: str
    headers: dict[str, str] = field(default_factory=dict)
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def get(self, path: str = "", **query: Any) -> Answer:
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Any = None, **headers: str) -> Answer:
        return self.call("POST", path, {} if body is None else body, headers=headers)

    def patch(self, path: str, body: Any, **headers: str) -> Answer:
        return self.call("PATCH", path, body, headers=headers)

    def delete(self, path: str, **query: Any) -> Answer:
        return self.call("DELETE", path, query=query)

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: dict[str, str] | None = None,
        query: Any = None,
        content_type: str = "application/json",
    ) -> Answer:
        address = path[1:] if path.startswith("//") else f"/api/v1/workspaces/{self.slug}{path}"
        named = {name.replace("_", "-"): value for name, value in (headers or {}).items()}
        response = self.client.generic(
            method,
            address,
            body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode(),
            content_type=content_type,
            headers={**self.headers, **named},
            query_params=query or None,
        )
        is_json = "json" in response.headers.get("Content-Type", "")
        content = response.getvalue() if response.streaming else response.content
        told = json.loads(content) if is_json else content
        return Answer(response.status_code, told, dict(response.headers))


def caller(person: Person, workspace: Workspace | None = None) -> Caller:
    """With the key of `person`, at their own workspace or another."""
    slug = (workspace or person.workspace).slug
    return Caller(slug, {"Authorization": f"Bearer {person.key}"})


def anonymous(workspace: Workspace) -> Caller:
    return Caller(workspace.slug)


def member(workspace: Workspace, role: str) -> Caller:
    """A new member of that role, in a browser session."""
    return session_of(MembershipFactory(workspace=workspace, role=role))


def session_of(membership: Membership) -> Caller:
    found = Caller(membership.workspace.slug)
    found.client.force_login(membership.user)
    return found
