"""Every operation of the schema, asked by nobody, a stranger, a viewer and a bound agent."""

import pytest

from tests.api_fixtures import anonymous, caller, member, session_of
from tests.api_operations import Operation, furnish, operations
from tests.factories import MembershipFactory
from tests.people import Person

READS_BY_POST = {"search"}
FOR_ADMINISTRATORS = ("keys", "members")
EVERY = operations()
OF_A_WORKSPACE = [operation for operation in EVERY if operation.is_of_a_workspace]
every = pytest.mark.parametrize("operation", EVERY, ids=lambda operation: operation.name)
every_of_a_workspace = pytest.mark.parametrize(
    "operation", OF_A_WORKSPACE, ids=lambda operation: operation.name
)


@pytest.fixture
def rows(alice: Person) -> dict[str, str]:
    return furnish(alice)


@every
def test_nobody_is_refused(operation: Operation, rows: dict[str, str], alice: Person) -> None:
    answer = operation.call(anonymous(alice.workspace), rows)
    assert (answer.status, answer.is_problem) == (401, True)


@every_of_a_workspace
def test_a_stranger_finds_nothing(
    operation: Operation, rows: dict[str, str], alice: Person, mallory: Person
) -> None:
    by_session = session_of(MembershipFactory(workspace=mallory.workspace))
    for stranger in (caller(mallory), by_session):
        answer = operation.call(stranger, rows)
        assert (answer.status, answer.is_problem) == (404, True)


@every_of_a_workspace
def test_a_stranger_does_not_reach_a_row_through_their_own_workspace(
    operation: Operation, rows: dict[str, str], mallory: Person
) -> None:
    if "{row}" in operation.path:
        body = None if operation.method in ("GET", "DELETE") else {"role": "viewer"}
        answer = caller(mallory).call(operation.method, operation.address(rows, "swamp"), body)
        assert (answer.status, answer.is_problem) == (404, True)


@every_of_a_workspace
def test_a_viewer_reads_and_does_not_write(
    operation: Operation, rows: dict[str, str], alice: Person
) -> None:
    answer = operation.call(member(alice.workspace, "viewer"), rows)
    reads = operation.method == "GET" or operation.name in READS_BY_POST
    if reads and operation.resource not in FOR_ADMINISTRATORS:
        assert answer.status in (200, 400)
    else:
        assert (answer.status, answer.is_problem) == (403, True)


@every_of_a_workspace
def test_an_owner_is_let_in_everywhere(
    operation: Operation, rows: dict[str, str], alice: Person
) -> None:
    answer = operation.call(member(alice.workspace, "owner"), rows)
    assert answer.status in (200, 201, 204, 400, 409)
    assert answer.status < 400 or answer.is_problem


@every_of_a_workspace
def test_an_agent_of_another_team_changes_nothing(
    operation: Operation, rows: dict[str, str], alice: Person, carol: Person
) -> None:
    if "{row}" in operation.path and operation.method != "GET":
        assert operation.call(caller(carol), rows).status in (403, 404)


