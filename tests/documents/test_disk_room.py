"""A disk with too little room: what needs some of it is told so, and nothing else stops."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from pytest_httpserver import HTTPServer

from memories.documents import blobs, document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.models import Blob, Document
from memoryproject.server.front.app import Front
from memoryproject.server.front.lanes import Options
from memoryproject.server.front.pools import PoolReply
from memoryproject.server.front.requests import MOST_ON_DISK, Bodies, Disk, Refusal
from tests.api_fixtures import caller
from tests.people import Person

NOBODY_HAS_IT = 10**9  # megabytes
FORM = (
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n'
    b"Content-Type: text/plain\r\n\r\nThe heron waits.\r\n--b--\r\n"
)


async def parts_of(body: bytes) -> AsyncIterator[bytes]:
    yield body


def spooled(disk: Disk, body: bytes, length: int | None = None) -> tuple[str, int]:
    named = str(len(body) if length is None else length)

    async def run() -> tuple[str, int]:
        bodies = Bodies(1_000, 20.0, disk)
        return await bodies.spool(parts_of(body), named, "tenant", MOST_ON_DISK * 2)

    return asyncio.run(run())


@pytest.mark.django_db
def test_files_are_refused_before_the_disk_is_full_and_words_are_kept(alice: Person, settings: Any) -> None:
    http = caller(alice)
    settings.DISK_FREE_MIN_MB = NOBODY_HAS_IT
    form = "multipart/form-data; boundary=b"
    for answer in (
        http.call("POST", "/documents", FORM, content_type=form),
        http.post("/documents", {"content": "The heron waits."}),
    ):
        assert (answer.status, answer.is_problem, answer.body["code"]) == (507, True, "no_room")
        assert int(answer.headers["Retry-After"]) > 0
    batch = {"documents": [{"content": "The heron waits."}]}
    [item] = http.post("/documents/batch", batch).body["results"]
    assert item["status"] == 507
    assert not Blob.objects.exists()
    assert not [each for each in blobs.folder_of(alice.workspace.pk).rglob("*") if each.is_file()]
    assert http.post("/memories/ingest", {"content": "I live in Oslo."}).status == 201
    settings.DISK_FREE_MIN_MB = 0
    assert http.post("/documents", {"content": "The heron waits."}).status in (201, 202)


@pytest.mark.django_db(transaction=True)
def test_what_is_fetched_waits_for_room(alice: Person, httpserver: HTTPServer, settings: Any) -> None:
    settings.FETCH_ALLOWED_HOSTS = ["localhost"]
    httpserver.expect_request("/").respond_with_data("The heron waits.", content_type="text/plain")
    new = NewDocument(parts=None, url=httpserver.url_for("/"))
    document = document_store.receive(alice.scope, new).document
    settings.DISK_FREE_MIN_MB = NOBODY_HAS_IT
    assert pipeline.run(document.pk) is not None
    document.refresh_from_db()
    assert (document.state, document.attempts) == ("queued", 0)
    assert "too little room" in document.reason
    settings.DISK_FREE_MIN_MB = 0
    Document.objects.update(next_attempt_at=document.created_at)
    assert pipeline.run(document.pk) is not None
    document.refresh_from_db()
    assert document.state == "done"


def test_an_upload_is_not_taken_where_there_is_no_room_for_it(tmp_path: Path) -> None:
    with pytest.raises(Refusal) as refused:
        spooled(Disk(NOBODY_HAS_IT * 2**20), b"words")
    assert (refused.value.status, refused.value.code) == (507, "no_room")
    disk = Disk(0)
    path, size = spooled(disk, b"words")
    assert Path(path).read_bytes() == b"words"
    os.unlink(path)
    disk.give_back("tenant", size)
    with pytest.raises(Refusal):
        spooled(disk, b"words", 6)  # it broke off
    assert not disk.held_by


def test_a_tenant_has_its_share_of_the_disk_and_one_thing_may_be_larger() -> None:
    disk = Disk(0)
    disk.take("one", MOST_ON_DISK + 1)
    disk.take("other", 5)
    with pytest.raises(Refusal) as refused:
        disk.take("one", 1)
    assert (refused.value.status, refused.value.code) == (429, "share")
    disk.take("one", 1, MOST_ON_DISK + 1)  # the same one goes on
    disk.give_back("one", MOST_ON_DISK + 2)
    disk.take("one", 1)


@pytest.mark.parametrize(("least", "status"), [(0, 200), (NOBODY_HAS_IT * 2**20, 507)])
def test_a_long_answer_is_not_begun_where_there_is_no_room_for_it(least: int, status: int) -> None:
    async def run() -> tuple[int, Front]:
        front = Front(Options("", 1_000, 20.0, least_free=least))
        parts: asyncio.Queue[Any] = asyncio.Queue()
        for part in (b"second", None):
            parts.put_nowait(part)
        reply = PoolReply({"status": 200, "headers": []}, b"first", cast(Any, parts))
        try:
            path, size = await front.spooled(b"first", reply, "tenant")
        except Refusal as refusal:
            return refusal.status, front
        assert Path(path).read_bytes() == b"firstsecond"
        os.unlink(path)
        assert front.disk.held_by == {"tenant": size}
        return 200, front

    told, front = asyncio.run(run())
    assert told == status
    assert status == 200 or not front.disk.held_by
