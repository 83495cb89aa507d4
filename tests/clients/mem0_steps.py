"""What a user of mem0's official client does, step by step, against BASE_URL with API_KEY: one line
of JSON per step, {"step", "ok", "why"}. It runs where the package is, and knows nothing of us."""

import asyncio
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

warnings.simplefilter("ignore")

from mem0 import AsyncMemoryClient, MemoryClient  # noqa: E402

URL, KEY = os.environ["BASE_URL"], os.environ["API_KEY"]
IS_OLD = sys.argv[1] == "1"
ADA = {"user_id": "ada"}
# What was forgotten of them is not learned again: of each version its own.
BATCH, ASYNC = f"batch-{sys.argv[1]}", f"async-{sys.argv[1]}"
steps: list[tuple[str, Callable[[], Any]]] = []
kept: dict[str, Any] = {}


def step(act: Callable[[], Any]) -> Callable[[], Any]:
    steps.append((act.__name__, act))
    return act


def client() -> MemoryClient:
    if "client" not in kept:
        kept["client"] = MemoryClient(api_key=KEY, host=URL)
    return kept["client"]


def results(answer: Any) -> list[dict[str, Any]]:
    return list(answer["results"])


def fails(act: Callable[[], Any]) -> str:
    """What is said of what must fail."""
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("this was not refused")


@step
def a_client_is_let_in() -> None:
    assert client().user_email


@step
def a_wrong_key_is_refused_at_once() -> None:
    assert "unknown" in fails(lambda: MemoryClient(api_key="mp_no_key", host=URL))


@step
def messages_are_learned_from() -> None:
    said = [
        {"role": "user", "content": "I live in Lisbon and I am allergic to peanuts."},
        {"role": "assistant", "content": "I will remember that."},
    ]
    added = results(client().add(said, user_id="ada", metadata={"source": "chat"}))
    assert added
    assert all(one["event"] == "ADD" and one["id"] for one in added)
    kept["ids"] = [one["id"] for one in added]


@step
def a_text_is_taken_for_a_message() -> None:
    assert results(client().add("I play the cello.", user_id="ada"))


@step
def infer_false_keeps_every_word() -> None:
    words = "The code of the gate is on the blue card."
    [one] = results(client().add(words, user_id="ada", infer=False))
    assert one["memory"] == words
    kept["verbatim"] = one["id"]


@step
def what_says_nothing_comes_to_nothing() -> None:
    assert results(client().add("Hello!", user_id="ada")) == []


@step
def search_finds_it_for_its_user() -> None:
    found = results(client().search("Where does she live?", filters=ADA))
    assert any("Lisbon" in one["memory"] for one in found)
    assert all(one["user_id"] == "ada" and 0 <= one["score"] <= 1 for one in found)


@step
def search_finds_nothing_for_another_user() -> None:
    assert results(client().search("Where does she live?", filters={"user_id": "eve"})) == []


@step
def top_k_bounds_what_is_found() -> None:
    assert len(results(client().search("cello gate Lisbon", filters=ADA, top_k=1))) == 1


@step
def filters_are_joined_and_denied() -> None:
    both = {"AND": [ADA, {"created_at": {"gte": "2020-01-01", "lte": "2099-01-01"}}]}
    assert results(client().search("cello", filters=both))
    either = {"OR": [ADA, {"user_id": "eve"}]}
    assert results(client().search("cello", filters=either))
    without = {"AND": [{"user_id": "*"}, {"NOT": [ADA]}]}
    assert results(client().search("cello", filters=without)) == []
    assert results(client().search("Lisbon", filters={"AND": [ADA, {"metadata": {"source": "chat"}}]}))


@step
def an_empty_filter_is_refused() -> None:
    assert "Name whose" in fails(lambda: client().search("cello", filters={}))


@step
def all_of_a_user_are_listed() -> None:
    listed = results(client().get_all(filters=ADA))
    kept["all"] = [one["id"] for one in listed]
    assert len(set(kept["all"])) == len(kept["all"]) >= 3
    assert all({"id", "memory", "metadata", "categories", "created_at"} <= one.keys() for one in listed)


@step
def pages_are_whole() -> None:
    first = client().get_all(filters=ADA, page=1, page_size=2)
    second = client().get_all(filters=ADA, page=2, page_size=2)
    assert first["count"] == len(kept["all"])
    assert first["next"]
    assert not first["previous"]
    assert second["previous"]
    ids = [one["id"] for one in results(first) + results(second)]
    assert ids == kept["all"][:4]


@step
def one_is_read() -> None:
    one = client().get(kept["verbatim"])
    assert one["id"] == kept["verbatim"]
    assert "blue card" in one["memory"]


@step
def an_update_keeps_the_id() -> None:
    client().update(kept["verbatim"], text="The code of the gate is on the red card.")
    one = client().get(kept["verbatim"])
    assert one["id"] == kept["verbatim"]
    assert "red card" in one["memory"]


@step
def metadata_is_updated() -> None:
    client().update(kept["verbatim"], metadata={"colour": "red"})
    assert client().get(kept["verbatim"])["metadata"]["colour"] == "red"
    assert results(client().get_all(filters={"AND": [ADA, {"metadata": {"colour": "red"}}]}))


@step
def the_history_tells_both() -> None:
    events = client().history(kept["verbatim"])
    assert [one["event"] for one in events] == ["ADD", "UPDATE"]
    assert "blue" in events[1]["old_memory"]
    assert "red" in events[1]["new_memory"]
    assert {one["memory_id"] for one in events} == {kept["verbatim"]}


@step
def a_list_shows_an_updated_memory_once() -> None:
    texts = [one["memory"] for one in results(client().get_all(filters=ADA))]
    assert sum("card" in text for text in texts) == 1


@step
def a_changed_mind_keeps_the_id() -> None:
    client().add("I moved to Porto.", user_id="ada")
    texts = {one["id"]: one["memory"] for one in results(client().get_all(filters=ADA))}
    [home] = [one for one, text in texts.items() if "Porto" in text]
    assert home in kept["ids"], "a changed mind is another version of the same memory"
    assert not any("Lisbon" in text for text in texts.values())


@step
def runs_and_agents_are_kept_apart() -> None:
    client().add("The trial runs on port 9000.", run_id="r1", user_id="tom", infer=False)
    client().add("The bot answers in French.", agent_id="bot", infer=False)
    assert len(results(client().get_all(filters={"run_id": "r1"}))) == 1
    assert len(results(client().get_all(filters={"agent_id": "bot"}))) == 1
    assert results(client().get_all(filters={"AND": [{"user_id": "tom"}, {"run_id": "r2"}]})) == []


@step
def what_expired_is_not_listed() -> None:
    day = {"expiration_date": "2020-01-01"}
    client().add("The visitor's badge is number 7.", user_id="bill", infer=False, **day)
    assert results(client().get_all(filters={"user_id": "bill"})) == []


@step
def batches_are_updated_and_deleted() -> None:
    ids = [
        results(client().add(text, user_id=BATCH, infer=False))[0]["id"]
        for text in ("The first box is green.", "The second box is grey.")
    ]
    client().batch_update([{"memory_id": one, "text": f"Box {one}"} for one in ids])
    assert client().get(ids[0])["memory"] == f"Box {ids[0]}"
    client().batch_delete([{"memory_id": one} for one in ids])
    assert results(client().get_all(filters={"user_id": BATCH})) == []


@step
def one_is_deleted() -> None:
    client().delete(kept["verbatim"])
    told = fails(lambda: client().get(kept["verbatim"]))
    assert told.startswith("MemoryNotFoundError") or "404" in told or "not found" in told
    assert client().history(kept["verbatim"])[-1]["event"] == "DELETE"


@step
def what_there_is_not_is_not_found() -> None:
    assert "not found" in fails(lambda: client().get("no-such-memory"))


@step
def users_are_listed() -> None:
    named = {(one["type"], one["name"]): one for one in results(client().users())}
    assert named["user", "ada"]["total_memories"] >= 3
    assert ("agent", "bot") in named
    assert ("run", "r1") in named


@step
def all_of_a_user_are_deleted() -> None:
    client().add("I have a boat.", user_id="short")
    client().delete_all(user_id="short")
    assert results(client().get_all(filters={"user_id": "short"})) == []


@step
def a_user_is_deleted_with_what_was_said() -> None:
    client().add("I have a canoe.", user_id="canoe/owner ü" if not IS_OLD else "canoe")
    client().delete_users(user_id="canoe/owner ü" if not IS_OLD else "canoe")
    assert not [one for one in results(client().users()) if one["name"].startswith("canoe")]


@step
def what_is_not_built_says_so() -> None:
    told = fails(lambda: client().feedback(memory_id=kept["ids"][0], feedback="POSITIVE"))
    assert "does not have this route" in told


async def _async() -> None:
    async with AsyncMemoryClient(api_key=KEY, host=URL) as own:
        added = await own.add("I have a violin.", user_id=ASYNC)
        [one] = added["results"]
        found = await own.search("violin", filters={"user_id": ASYNC})
        assert found["results"][0]["id"] == one["id"]
        assert (await own.get(one["id"]))["memory"] == one["memory"]
        await own.update(one["id"], text="Has two violins")
        assert len(await own.history(one["id"])) == 2
        assert (await own.get_all(filters={"user_id": ASYNC}))["results"]
        await own.delete(one["id"])
        assert (await own.get_all(filters={"user_id": ASYNC}))["results"] == []


@step
def the_async_client_does_the_same() -> None:
    asyncio.run(_async())


@step
def a_reset_leaves_nothing() -> None:
    client().reset()
    assert results(client().users()) == []


for name, act in steps:
    began, why = time.monotonic(), ""
    try:
        act()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:500]
    print(json.dumps({"step": name, "ok": not why, "why": why}), flush=True)  # noqa: T201
