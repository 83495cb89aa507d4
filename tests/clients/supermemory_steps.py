"""What a user of supermemory's official client does, step by step, against BASE_URL with API_KEY:
one line of JSON per step, {"step", "ok", "why"}."""

import asyncio
import json
import os
import time
from collections.abc import Callable
from typing import Any

from supermemory import (
    AsyncSupermemory,
    AuthenticationError,
    BadRequestError,
    NotFoundError,
    Supermemory,
)

URL, KEY = os.environ["BASE_URL"], os.environ["API_KEY"]
INES, OTTO, SHELF = "ines", "otto", "shelf"
client = Supermemory(api_key=KEY, base_url=URL)
steps: list[tuple[str, Callable[[], Any]]] = []
kept: dict[str, Any] = {}
LONG = "\n\n".join(
    f"# Part {n}\n\nThe harbour of {place} opens at {n} o'clock and is closed in winter."
    for n, place in enumerate(("Lagos", "Sines", "Aveiro", "Faro"), start=5)
)


def step(act: Callable[[], Any]) -> Callable[[], Any]:
    steps.append((act.__name__, act))
    return act


def refused(kind: type[Exception], act: Callable[[], Any]) -> str:
    try:
        act()
    except kind as error:
        return str(error)
    raise AssertionError("this was not refused")


def done(document_id: str) -> Any:
    """The document, once it is read."""
    end = time.monotonic() + 300
    while (found := client.documents.get(document_id)).status not in ("done", "failed"):
        assert time.monotonic() < end
        time.sleep(0.2)
    return found


@step
def a_wrong_key_is_refused() -> None:
    wrong = Supermemory(api_key="mp_no", base_url=URL, max_retries=0)
    assert "unknown" in refused(AuthenticationError, lambda: wrong.documents.list())


@step
def a_saying_is_added() -> None:
    added = client.add(
        content="I live in Lisbon and I am allergic to peanuts.",
        container_tag=INES,
        metadata={"channel": "chat"},
    )
    assert added.status != "failed"
    kept["saying"] = added.id


@step
def it_is_read_and_learned_from() -> None:
    found = done(kept["saying"])
    assert (found.status, found.type, found.container_tags) == ("done", "text", [INES])
    assert "peanuts" in (found.content or "")
    assert found.metadata == {"channel": "chat"}
    texts = [memory.memory for memory in found.memories or ()]
    assert any("Lisbon" in text for text in texts), texts
    assert all(memory.is_latest and memory.version == 1 for memory in found.memories or ())


@step
def memories_are_searched_by_what_they_mean() -> None:
    found = client.search.memories(q="Where does she live? Lisbon", container_tag=INES)
    assert found.total == len(found.results) > 0
    best = found.results[0]
    assert best.memory is not None
    assert "Lisbon" in best.memory
    assert 0.5 <= best.similarity <= 1, best.similarity
    assert best.metadata == {"channel": "chat"}
    kept["home"] = best.id


@step
def a_threshold_is_of_similarity() -> None:
    def count(q: str, threshold: float) -> int:
        return len(client.search.memories(q=q, container_tag=INES, threshold=threshold).results)

    assert count("allergic to peanuts", 0.6) >= 1
    assert count("the price of cement", 0.99) == 0


@step
def another_container_sees_nothing() -> None:
    assert client.search.memories(q="Lisbon", container_tag=OTTO).results == []
    assert client.search.documents(q="Lisbon", container_tags=[OTTO]).results == []
    assert client.documents.list(container_tags=[OTTO]).memories == []
    assert client.profile(container_tag=OTTO).profile.static == []


@step
def a_profile_says_what_lasts() -> None:
    told = client.profile(container_tag=INES, q="peanuts")
    assert any("Lisbon" in line for line in told.profile.static or ()), told.profile.static
    assert told.profile.dynamic is not None
    assert told.search_results is not None
    assert told.search_results.results


@step
def a_profile_is_given_in_parts() -> None:
    told = client.profile(container_tag=INES, include=["dynamic"])
    assert told.profile.static is None


@step
def an_update_is_a_new_id_of_the_same_chain() -> None:
    new = client.memories.update_memory(container_tag=INES, id=kept["home"], new_content="Ines lives in Porto")
    assert new.id != kept["home"]
    assert (new.version, new.parent_memory_id, new.root_memory_id) == (
        2,
        kept["home"],
        kept["home"],
    )
    texts = [one.memory for one in client.search.memories(q="lives in", container_tag=INES).results]
    assert "Ines lives in Porto" in texts
    assert not any("Lisbon" in str(text) for text in texts)
    kept["home"] = new.id


@step
def an_end_is_set_and_taken_back() -> None:
    words = {"container_tag": INES, "new_content": "Ines lives in Braga", "id": kept["home"]}
    new = client.memories.update_memory(**words, forget_after="2999-01-01T00:00:00Z")
    assert str(new.forget_after).startswith("2999-01-01")
    words |= {"id": new.id, "new_content": "Ines lives in Evora"}
    assert client.memories.update_memory(**words, forget_after=None).forget_after is None


@step
def one_is_forgotten_by_its_words() -> None:
    gone = client.memories.forget(container_tag=INES, content="Ines lives in Evora")
    assert gone.forgotten
    assert refused(NotFoundError, lambda: client.memories.forget(container_tag=INES, id=gone.id))


@step
def one_of_another_container_is_not_found() -> None:
    [one, *_] = client.search.memories(q="peanuts", container_tag=INES).results
    assert refused(NotFoundError, lambda: client.memories.forget(container_tag=OTTO, id=one.id))


@step
def a_document_has_an_id_of_its_container() -> None:
    first = client.documents.add(
        content=LONG, container_tag=SHELF, custom_id="harbours", metadata={"kind": "list", "n": 4}
    )
    again = client.documents.add(content=LONG, container_tag=SHELF, custom_id="harbours")
    other = client.documents.add(content="Other words.", container_tag=OTTO, custom_id="harbours")
    assert first.id == again.id != other.id
    found = client.documents.get("harbours")
    assert found.custom_id == "harbours"
    kept["harbours"], kept["other"] = first.id, other.id
    assert done(first.id).status == "done"


@step
def documents_are_searched_with_their_chunks() -> None:
    answer = client.search.documents(
        q="When does the harbour of Aveiro open?",
        container_tags=[SHELF],
        include_full_docs=True,
        include_summary=True,
    )
    [hit] = answer.results
    assert hit.document_id == kept["harbours"]
    assert "Aveiro" in hit.chunks[0].content
    assert 0 <= hit.chunks[0].score <= 1
    assert hit.content == LONG
    assert answer.timing >= 0
    assert client.search.execute(q="harbour of Aveiro", container_tags=[SHELF]).results


@step
def a_search_is_narrowed_by_metadata_and_document() -> None:
    def found(*conditions: dict[str, Any], **more: Any) -> int:
        filters: Any = {"AND": list(conditions)}
        return len(client.search.documents(q="harbour", filters=filters, **more).results)

    assert found({"key": "kind", "value": "list"}) == 1
    assert found({"key": "kind", "value": "poem"}) == 0
    assert found({"key": "kind", "value": "poem", "negate": True}, container_tags=[SHELF]) == 1
    four = {"key": "n", "value": "3", "filterType": "numeric", "numericOperator": ">"}
    assert found({"OR": [{"key": "kind", "value": "poem"}, four]}) == 1
    by_id = client.search.documents(q="harbour", doc_id=kept["harbours"]).results
    assert [one.document_id for one in by_id] == [kept["harbours"]]


@step
def both_are_searched_at_once() -> None:
    found = client.search.memories(q="harbour of Faro", container_tag=SHELF, search_mode="hybrid")
    assert any(one.chunk and "Faro" in one.chunk for one in found.results)
    own = client.search.memories(q="harbour", container_tag=SHELF, search_mode="documents")
    assert all(one.chunk for one in own.results)


@step
def documents_are_listed_in_pages() -> None:
    for n in range(3):
        client.documents.add(content=f"Note number {n}.", container_tag="notes")
    first = client.documents.list(container_tags=["notes"], limit=2, order="asc")
    assert [one.content for one in first.memories] == [None, None]
    assert (first.pagination.total_items, first.pagination.total_pages) == (3, 2)
    second = client.documents.list(container_tags=["notes"], limit=2, page=2, include_content=True)
    assert second.memories[0].content == "Note number 0."
    filters: Any = {"AND": [{"key": "kind", "value": "list"}]}
    assert [one.id for one in client.documents.list(filters=filters).memories] == [kept["harbours"]]


@step
def a_batch_keeps_each_by_itself() -> None:
    kept["batch"] = client.documents.batch_add(
        documents=[
            {"content": "The first box is green.", "container_tag": "batch"},
            {"content": "http://127.0.0.1/page", "container_tag": "batch"},
        ]
    )
    assert (kept["batch"].success, kept["batch"].failed) == (1, 1)
    assert "does not read that address" in kept["batch"].results[1].error


@step
def a_file_is_uploaded() -> None:
    added = client.documents.upload_file(
        file=("plan.md", b"# Plan\n\nThe bridge is painted in June.", "text/markdown"),
        container_tags=json.dumps(["files"]),
        metadata=json.dumps({"by": "hand"}),
    )
    found = done(added.id)
    assert (found.container_tags, found.metadata) == (["files"], {"by": "hand"})
    assert "bridge" in (found.content or "")


@step
def what_is_still_read_is_listed() -> None:
    assert client.documents.list_processing().total_count >= 0


@step
def a_document_changes_its_words_and_keeps_its_id() -> None:
    changed = client.documents.update(kept["other"], content="New words of Otto.", metadata={"v": 2})
    assert changed.id == kept["other"]
    found = done(kept["other"])
    assert (found.content, found.metadata) == ("New words of Otto.", {"v": 2})
    assert found.latest_revision == 2
    assert found.custom_id == "harbours"


@step
def a_document_goes_with_what_was_learned_from_it() -> None:
    client.documents.delete(kept["saying"])
    assert refused(NotFoundError, lambda: client.documents.get(kept["saying"]))
    assert client.search.memories(q="peanuts", container_tag=INES).results == []


@step
def many_are_deleted() -> None:
    ids = [kept["batch"].results[0].id, "no-such-document"]
    told = client.documents.delete_bulk(ids=ids)
    assert (told.deleted_count, told.success) == (1, False)
    assert told.errors is not None
    assert [one.id for one in told.errors] == ["no-such-document"]
    assert client.documents.delete_bulk(container_tags=["notes"]).deleted_count == 3
    assert client.documents.list(container_tags=["notes"]).memories == []


@step
def what_is_wrong_is_told() -> None:
    assert "q" in refused(BadRequestError, lambda: client.search.memories(q=""))
    inside = "http://127.0.0.1/page"
    told = refused(BadRequestError, lambda: client.add(content=inside))
    assert "does not read that address" in told
    filters: Any = {"AND": [{"key": "a", "value": "b", "filterType": "sound"}]}
    told = refused(BadRequestError, lambda: client.search.documents(q="x", filters=filters))
    assert "Known: metadata" in told


@step
def what_is_not_built_says_so() -> None:
    assert "does not have this route" in refused(NotFoundError, client.settings.get)
    assert client.connections.list() == []


async def _async() -> None:
    async with AsyncSupermemory(api_key=KEY, base_url=URL) as own:
        added = await own.add(content="I play the oboe.", container_tag="async")
        await asyncio.to_thread(done, added.id)
        found = await own.search.memories(q="oboe", container_tag="async")
        assert found.results
        assert (await own.profile(container_tag="async")).profile.static
        await own.documents.delete(added.id)
        assert (await own.search.memories(q="oboe", container_tag="async")).results == []


@step
def the_async_client_does_the_same() -> None:
    asyncio.run(_async())


for name, act in steps:
    why = ""
    try:
        act()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:500] or "it failed"
    print(json.dumps({"step": name, "ok": not why, "why": why}), flush=True)  # noqa: T201
