"""The base of all routes for another server's client: the key tells who asks and in which
workspace; and chains of memories, by the ids that the client has."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.db import connection
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memories.api.http_errors import as_problem
from memories.api.shapes import LaterSaidJson
from memories.errors import NotFound
from memories.index import workspace_index
from memories.ingest.waited_ingest import USUAL_WAIT
from memories.models import Citation, Episode, Link, Memory, chain
from memories.privacy import erase
from memories.search import Hit
from workspaces.api.json_answers import JsonRenderer
from workspaces.api.json_requests import (
    StrictJSONParser,
    refuse_null_in_address,
    refuse_unmeasured_body,
)
from workspaces.api.problems import Problem, problem_of, refused, respond
from workspaces.api.views import AnswersJSON, IsKnown
from workspaces.auth import KeyAuthentication
from workspaces.models import Capability
from workspaces.scope import Scope

OLDER = """
with recursive older (head, id) as (
  select id, id from unnest(%(ids)s::uuid[]) as given (id) union
  select o.head, m.id from memories_memory m join older o on m.superseded_by_id = o.id
  where m.workspace_id = %(workspace)s)
select head, id from older
"""


def later_said(hit: Hit) -> dict[str, Any]:
    """Return what the metadata of a result say of it: what was said of a memory later; or of a
    message, which is no memory and can only be read, that it is one."""
    if hit.episode:
        return {"layer": "episodes", "occurredAt": hit.row.occurred_at}
    return {"laterSaid": [LaterSaidJson.of(each) for each in hit.later]} if hit.later else {}


class ClientView(APIView):
    """A route of a key's own workspace. `needs` tells the capability for each method."""

    authentication_classes = (KeyAuthentication,)
    permission_classes = (IsKnown,)
    parser_classes: Any = (StrictJSONParser,)
    renderer_classes = (JsonRenderer,)
    content_negotiation_class = AnswersJSON
    schema = None  # these routes are another server's, and not in our own schema
    beside = workspace_index.BESIDE_KEY
    needs: ClassVar[Mapping[str, str]] = {
        "GET": Capability.READ,
        "POST": Capability.READ,
        "PUT": Capability.CURATE,
        "PATCH": Capability.CURATE,
        "DELETE": Capability.CURATE,
    }
    scope: Scope

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        refuse_null_in_address(request._request)
        refuse_unmeasured_body(request._request)
        super().initial(request, *args, **kwargs)
        if not isinstance(request.auth, Scope):
            raise refused("This takes the key of a workspace.")
        self.scope = request.auth
        capability = self.needs.get(request.method or "", Capability.READ)
        if not self.scope.may(capability):
            raise refused(f"This needs the capability {capability}.")

    def handle_exception(self, exc: Exception) -> Response:
        """Answer an error in the client's form, with the content type of plain JSON."""
        problem = respond(as_problem(exc), {"request": self.request})
        known = problem_of(as_problem(exc)) or Problem(500, "The server failed.")
        headers = {k: v for k, v in problem.headers.items() if k.lower() != "content-type"}
        body = self.error_body(str(known.detail), str(known.code))
        return Response(body, status=problem.status_code, headers=headers)

    def error_body(self, detail: str, code: str) -> dict[str, Any]:
        raise NotImplementedError


def refuse_erasing(scope: Scope) -> None:
    if scope.is_narrow:
        raise refused("A key of an agent, or limited to subjects or spaces, does not erase.")


def wait_for_erasure(scope: Scope, kind: str, row_id: uuid.UUID) -> None:
    """Erase a row and wait for it; what is not gone in time, the worker erases."""
    target = erase.target_of(scope, kind, row_id)
    erase.run_or_wait(erase.request(scope, target).pk, USUAL_WAIT)


class UnknownView(ClientView):
    """A route that another server has and this one does not: an error, never an empty success."""

    def get(self, request: Request, **_: Any) -> Response:
        raise Problem(404, "This server does not have this route.")

    post = put = patch = delete = get

    def error_body(self, detail: str, code: str) -> dict[str, Any]:
        return {"detail": detail, "error": detail, "code": code}


# Chains as another server's client has them: any id of a chain leads to its live memory.


@dataclass(frozen=True, slots=True)
class ChainRoot:
    """The first version of a chain."""

    id: uuid.UUID
    created_at: datetime


def roots_of(scope: Scope, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, ChainRoot]:
    """Return, by a version's id, the first version of its chain that the asker sees, or itself."""
    heads: dict[uuid.UUID, list[uuid.UUID]] = {}
    with connection.cursor() as cursor:
        cursor.execute(OLDER, {"ids": list(ids), "workspace": scope.workspace_id})
        for head, version in cursor.fetchall():
            heads.setdefault(version, []).append(head)
    seen = Memory.objects.visible_to(scope).filter(pk__in=heads)
    rows = seen | Memory.objects.filter(workspace_id=scope.workspace_id, pk__in=ids)
    roots = {}
    for row in rows.order_by("-version", "-created_at", "-pk").only("created_at"):
        for head in heads[row.pk]:
            roots[head] = ChainRoot(row.pk, row.created_at)
    return roots


def chain_of(scope: Scope, text: str) -> list[Link]:
    """Return all versions that the asker sees, by the id of any. Raises NotFound without any."""
    try:
        links = chain(scope, uuid.UUID(text))
    except ValueError:
        links = []
    if not links:
        raise NotFound("Memory")
    return links


def head_of(scope: Scope, text: str) -> Memory:
    """Return the memory of the chain that is believed now. Raises NotFound where none is."""
    live = [link.memory for link in chain_of(scope, text) if link.memory.is_live]
    if not live:
        raise NotFound("Memory")
    return live[-1]


def metadata_of(scope: Scope, ids: Iterable[uuid.UUID]) -> dict[uuid.UUID, dict[str, Any]]:
    """Return, by memory, the metadata of the messages that it stands on; newer values win."""
    seen = Episode.objects.visible_to(scope)
    cited = Citation.objects.filter(fact__memory__in=list(ids), episode__in=seen).order_by("pk")
    said: dict[uuid.UUID, dict[str, Any]] = {}
    for memory_id, metadata in cited.values_list("fact__memory_id", "episode__metadata"):
        said.setdefault(memory_id, {}).update(metadata)
    return said
