"""What the operator reads on stderr."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpResponse
from django.utils.log import log_response

from memories.models import EvaluationRun
from tests.desk import list_of, member
from workspaces.models import Role, Workspace


@contextmanager
def written() -> Iterator[io.StringIO]:
    """What the handler of the settings writes meanwhile."""
    [handler] = [
        each for each in logging.getLogger().handlers if type(each) is logging.StreamHandler
    ]
    lines = io.StringIO()
    before = handler.setStream(lines)
    try:
        yield lines
    finally:
        handler.setStream(before)


def test_a_page_that_is_not_for_the_role_is_one_line(workspace: Workspace) -> None:
    bob = member(workspace, Role.EDITOR)
    with written() as log:
        assert bob.status(list_of(EvaluationRun)) == 403

    [line] = log.getvalue().splitlines()
    assert line.endswith("Forbidden (Permission denied): /admin/memories/evaluationrun/")


def test_a_failure_still_tells_where_in_the_code() -> None:
    with written() as log:
        log_response("Failed", response=HttpResponse(status=500), exception=ZeroDivisionError())

    assert "ZeroDivisionError" in log.getvalue()
