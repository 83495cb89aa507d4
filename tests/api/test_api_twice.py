"""Every POST of the OpenAPI file, sent twice with one Idempotency-Key: answered alike, done
once."""

from typing import Any

import pytest
from django.db import models

from memories.models import (
    Conversation,
    Episode,
    Fact,
    Feature,
    FeatureChange,
    FeatureSet,
    Memory,
    MemorySession,
    Miss,
    Supersession,
)
from tests.api_fixtures import Caller, caller
from tests.api_operations import BODIES, Furnished, Operation, operations
from tests.people import Person
from workspaces.models import Agent, ApiKey, AuditEntry, Membership, Subject

COUNTED: tuple[type[models.Model], ...] = (
    Agent,
    ApiKey,
    AuditEntry,
    Conversation,
    Episode,
    Fact,
    Feature,
    FeatureChange,
    FeatureSet,
    Membership,
    Memory,
    MemorySession,
    Miss,
    Subject,
    Supersession,
)
SECRET = {
    "issueKey": "key",
    "rotateKey": "key",
    "inviteMember": "inviteUrl",
    "createWebhook": "secret",
    "rotateWebhook": "secret",
}  # told once; fmt: skip
POSTS = [each for each in operations() if each.method == "POST" and each.is_of_a_workspace]


@pytest.fixture
def alice(furnished: Furnished, db: None) -> Person:
    return furnished.alice


def counts() -> list[int]:
    return [model._default_manager.count() for model in COUNTED]


@pytest.mark.parametrize("operation", POSTS, ids=lambda each: each.name)
def test_a_post_that_is_sent_again_is_answered_again(alice: Person, rows: dict[str, str], operation: Operation) -> None:
    http = caller(alice)
    body = BODIES.get(operation.name, {})
    before = counts()
    first = send(http, operation, rows, body)
    done = counts()
    again = send(http, operation, rows, body)
    assert first.status < 500
    assert first.status < 300 or operation.name not in BODIES, first.body
    if first.status < 300:
        secret = SECRET.get(operation.name)
        kept = first.body | {secret: None} if secret else first.body
        assert (again.status, again.body) == (first.status, kept)
        assert counts() == done
    else:
        assert again.status == first.status
        assert counts() == before


def send(http: Caller, operation: Operation, rows: dict[str, str], body: Any) -> Any:
    return http.call("POST", operation.address(rows), body, headers={"Idempotency-Key": "twice"})
