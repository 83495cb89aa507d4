"""Every operation of the schema, asked by nobody, a stranger, a viewer and another team's agent."""

import pytest

from tests.api_fixtures import Answer, Caller, anonymous, caller, member, session_of
from tests.api_operations import (
    IN_ITS_OWN_TRANSACTION,
    OF_THE_SERVER,
    Furnished,
    Operation,
    operations,
    schema,
)
from tests.factories import MembershipFactory
from tests.people import Person
from workspaces.keys import issue_server_key
from workspaces.models import ApiKey, Workspace

READS_BY_POST = {"search", "packContext", "searchDocuments"}
# Who only reads sees no log, nor what is spent and asked by others.
FOR_ADMINISTRATORS = (
    "keys",
    "members",
    "invitations",
    "erasures",
    "audit",
    "holds",
    "costs",
    "usage",
    "webhooks",
    "deliveries",
    "connections",
    "export",
)
EVERY = operations()
OF_A_WORKSPACE = [operation for operation in EVERY if operation.is_of_a_workspace]
FOR_ITS_OWNER = [each for each in OF_A_WORKSPACE if each.name not in OF_THE_SERVER | IN_ITS_OWN_TRANSACTION]


@pytest.fixture
def workspace(furnished: Furnished, db: None) -> Workspace:
    return furnished.alice.workspace


@pytest.fixture
def alice(furnished: Furnished, db: None) -> Person:
    return furnished.alice


def asked(http: Caller, rows: dict[str, str], some: list[Operation]) -> dict[str, Answer]:
    return {operation.name: operation.call(http, rows) for operation in some}


def others(answers: dict[str, Answer], status: int) -> dict[str, int]:
    """The operations that answered something else than a problem of this status."""
    return {name: answer.status for name, answer in answers.items() if answer.status != status or not answer.is_problem}


def test_nobody_is_refused_everywhere(rows: dict[str, str], alice: Person) -> None:
    assert len(EVERY) > 40
    assert others(asked(anonymous(alice.workspace), rows, EVERY), 401) == {}


def test_a_stranger_finds_nothing_anywhere(rows: dict[str, str], mallory: Person) -> None:
    by_key = Caller("orchard", caller(mallory).headers)
    by_session = session_of(MembershipFactory(workspace=mallory.workspace))
    for stranger in (by_key, by_session):
        assert others(asked(stranger, rows, OF_A_WORKSPACE), 404) == {}


def test_no_row_is_reached_through_another_workspace(rows: dict[str, str], mallory: Person) -> None:
    http = caller(mallory)
    for operation in OF_A_WORKSPACE:
        if "{row}" in operation.path:
            said = {"role": "viewer"} if operation.resource == "members" else {}
            body = None if operation.method in ("GET", "DELETE") else said
            answer = http.call(operation.method, operation.address(rows, "swamp"), body)
            assert (operation.name, answer.status) == (operation.name, 404)


def test_a_viewer_reads_and_does_not_write(rows: dict[str, str], alice: Person) -> None:
    reads = [
        operation
        for operation in OF_A_WORKSPACE
        if (operation.method == "GET" or operation.name in READS_BY_POST)
        and operation.resource not in FOR_ADMINISTRATORS
        and not operation.path.endswith("/erasure")
    ]
    writes = [operation for operation in OF_A_WORKSPACE if operation not in reads]
    viewer = member(alice.workspace, "viewer")
    answers = asked(viewer, rows, reads)
    assert answers.pop("readDocumentFile").status == 409  # it was not read: a curator's alone
    assert {a.status for a in answers.values()} <= {200, 400}
    assert others(asked(viewer, rows, writes), 403) == {}


def test_an_agent_of_another_team_changes_no_row(rows: dict[str, str], carol: Person) -> None:
    changes = [o for o in OF_A_WORKSPACE if "{row}" in o.path and o.method != "GET"]
    answers = asked(caller(carol), rows, changes)
    assert {answer.status for answer in answers.values()} <= {403, 404}


@pytest.mark.parametrize("operation", FOR_ITS_OWNER, ids=lambda operation: operation.name)
def test_an_owner_is_let_in_everywhere(operation: Operation, rows: dict[str, str], alice: Person) -> None:
    answer = operation.call(member(alice.workspace, "owner"), rows)
    assert answer.status in (200, 201, 202, 204, 400, 409)
    assert answer.status < 400 or answer.is_problem


def test_a_workspaces_key_and_its_owner_make_and_remove_no_workspace(
    rows: dict[str, str], alice: Person, mallory: Person
) -> None:
    some = [operation for operation in EVERY if operation.name in OF_THE_SERVER]
    assert len(some) == len(OF_THE_SERVER)
    for asker in (caller(alice), member(alice.workspace, "owner")):
        assert others(asked(asker, rows, some), 403) == {}
    assert Workspace.objects.count() == 2


def of_the_server(alice: Person) -> Caller:
    _, text = issue_server_key("deploy", actor="test")
    return Caller(alice.workspace.slug, {"Authorization": f"Bearer {text}"})


def test_a_server_key_does_nothing_else(rows: dict[str, str], alice: Person) -> None:
    http = of_the_server(alice)
    answers = asked(http, rows, [each for each in EVERY if each.name not in OF_THE_SERVER])
    assert {answer.status for answer in answers.values()} == {403, 404}
    assert answers["listWorkspaces"].status == 403


def test_a_query_parameter_that_there_is_not_is_refused_and_named(rows: dict[str, str], alice: Person) -> None:
    deploy, owner, refused = of_the_server(alice), caller(alice), {}
    for operation in EVERY:
        http = deploy if operation.name in OF_THE_SERVER else owner
        body = None if operation.method in ("GET", "DELETE") else {}
        answer = http.call(operation.method, operation.address(rows), body, query={"dryRunn": 1})
        refused[operation.name] = answer.status, answer.is_problem and answer.fields
    assert {name: what for name, what in refused.items() if what != (400, ["dryRunn"])} == {}


def test_each_declared_query_parameter_is_known(rows: dict[str, str], alice: Person) -> None:
    """What it says may be wrong; that it is there is not."""
    owner, unknown = caller(alice), {}
    for operation in EVERY:
        declared = schema()["paths"][operation.path][operation.method.lower()]
        query = {p["name"]: "" for p in declared.get("parameters", ()) if p["in"] == "query"}
        if operation.method == "GET" and query:
            answer = owner.call("GET", operation.address(rows), query=query)
            is_file = isinstance(answer.body, bytes)
            unknown[operation.name] = not is_file and "unknown_field" in answer.body.get("code", "")
    assert [name for name, is_unknown in unknown.items() if is_unknown] == []


def test_who_only_wants_to_see_what_a_revocation_does_revokes_nothing(rows: dict[str, str], alice: Person) -> None:
    answer = caller(alice).delete(f"/keys/{rows['keys']}", dryRun="true")
    assert (answer.status, answer.fields) == (400, ["dryRun"])
    assert ApiKey.objects.get(pk=rows["keys"]).revoked_at is None
