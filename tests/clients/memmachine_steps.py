"""What a user of MemMachine's official client does, step by step, against BASE_URL with API_KEY:
one line of JSON per step, {"step", "why"}."""

import json
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from memmachine_client import MemMachineClient
from memmachine_common.api import EpisodeType, MemoryType
from requests import HTTPError

URL, KEY = os.environ["BASE_URL"], os.environ["API_KEY"]
logging.disable(logging.CRITICAL)
client = MemMachineClient(base_url=URL, api_key=KEY)
steps: list[tuple[str, Callable[[], Any]]] = []
kept: dict[str, Any] = {}
TEA = "I prefer tea to coffee."


def step(act: Callable[[], Any]) -> Callable[[], Any]:
    steps.append((act.__name__, act))
    return act


def refused(status: int, act: Callable[[], Any]) -> str:
    try:
        act()
    except HTTPError as error:
        answer = error.response
    else:
        raise AssertionError("this was not refused")
    assert answer.status_code == status, answer.text
    return str(answer.json()["detail"])


def memory(user: str = "ruth", session: str = "s1", project: str = "project") -> Any:
    return kept[project].memory(metadata={"user_id": user, "session_id": session})


def episodes(found: Any) -> list[Any]:
    return list(found.content.episodic_memory.long_term_memory.episodes)


@step
def the_server_is_healthy() -> None:
    assert client.health_check()["status"] == "healthy"


@step
def a_wrong_key_is_refused() -> None:
    wrong = MemMachineClient(base_url=URL, api_key="mp_no")
    assert refused(401, wrong.list_projects)


@step
def a_project_that_is_not_there_is_not_found() -> None:
    assert refused(404, lambda: client.get_project("acme", "harbour"))


@step
def a_project_is_made() -> None:
    made = client.create_project("acme", "harbour", description="Ships", embedder="default")
    assert (made.org_id, made.project_id, made.description) == ("acme", "harbour", "Ships")
    assert made.config.embedder == "default"


@step
def the_same_project_is_not_made_twice() -> None:
    assert refused(409, lambda: client.create_project("acme", "harbour"))


@step
def a_project_is_got_or_made() -> None:
    kept["project"] = client.get_or_create_project("acme", "harbour")
    kept["other"] = client.get_or_create_project("acme", "workshop")
    assert kept["project"].description == "Ships"
    kept["project"].refresh()


@step
def projects_are_listed() -> None:
    assert {one.project_id for one in client.list_projects()} == {"harbour", "workshop"}


@step
def a_saying_is_added() -> None:
    [added] = memory().add(TEA, role="user")
    kept["tea"] = str(added.uid)


@step
def a_saying_is_added_with_all_that_there_is_to_say() -> None:
    said = datetime(2026, 5, 1, 10, tzinfo=UTC)
    memory().add(
        "You moved to Lisbon, I hear.",
        role="assistant",
        producer="bot",
        produced_for="ruth",
        episode_type=EpisodeType.MESSAGE,
        metadata={"place": "O'Hara's"},
        timestamp=said,
    )
    memory("otto").add("I prefer milk.")
    memory(project="other").add("Tea is for the workshop.")


@step
def it_is_found() -> None:
    best = episodes(memory().search("What does she drink, tea or coffee?"))[0]
    assert (best.content, str(best.uid)) == (TEA, kept["tea"])
    assert best.producer_role == "user"
    assert 0 < best.score <= 1


@step
def a_search_keeps_to_its_user_session_and_project() -> None:
    assert not any("milk" in one.content for one in episodes(memory().search("milk")))
    assert not episodes(memory(session="s2").search("tea"))
    assert not any("workshop" in one.content for one in episodes(memory().search("tea")))


@step
def a_search_is_narrowed_by_filters() -> None:
    named = {"metadata.place": "O'Hara's"}
    [hit] = episodes(memory().search("Lisbon", filter_dict=named))
    assert (hit.producer_id, hit.produced_for_id) == ("bot", "ruth")
    assert hit.metadata["place"] == "O'Hara's"
    raw = "producer_role = 'assistant' OR metadata.place IS NOT NULL"
    assert len(episodes(memory().search("Lisbon", filter=raw))) == 1


@step
def a_search_takes_limit_threshold_and_context() -> None:
    assert len(episodes(memory().search("tea", limit=1))) == 1
    assert len(episodes(memory().search("tea", limit=1, expand_context=2))) == 2
    assert not episodes(memory().search("tea", score_threshold=1.0))


@step
def a_filter_that_is_none_is_refused() -> None:
    assert "field" in refused(400, lambda: memory().search("tea", filter="colour = 'red'"))


@step
def messages_are_listed_in_pages() -> None:
    rows = memory().list(MemoryType.Episodic).content.episodic_memory
    assert {row.content for row in rows} == {TEA, "You moved to Lisbon, I hear."}
    assert {row.session_key for row in rows} == {"acme/harbour"}
    pages = [memory().list(MemoryType.Episodic, page_size=1, page_num=at).content.episodic_memory for at in range(3)]
    assert [len(page) for page in pages] == [1, 1, 0]


@step
def messages_are_counted() -> None:
    assert kept["project"].get_episode_count() == 3


@step
def the_set_of_a_user_is_found() -> None:
    about = {"metadata_tags": ["user_id"], "set_metadata": {"user_id": "ruth"}}
    kept["set"] = memory().get_semantic_set_id(**about)
    assert kept["set"] in {one.id for one in memory().list_semantic_set_ids()}


@step
def a_feature_is_added() -> None:
    kept["feature"] = memory().add_feature(
        set_id=kept["set"],
        category_name="identity",
        tag="home",
        feature="city",
        value="Lisbon",
        feature_metadata={"by": "form"},
        citations=[kept["tea"]],
    )


@step
def it_is_got_with_its_citations() -> None:
    found = memory().get_feature(kept["feature"], load_citations=True)
    assert (found.category, found.tag, found.feature_name) == ("identity", "home", "city")
    assert [str(one) for one in found.metadata.citations] == [kept["tea"]]
    assert found.metadata.other == {"by": "form"}


@step
def it_is_updated() -> None:
    assert memory().update_feature(feature_id=kept["feature"], value="Porto")
    assert memory().get_feature(kept["feature"]).value == "Porto"


@step
def features_are_searched_and_listed() -> None:
    found = memory().search("Which city does she live in?").content.semantic_memory
    assert any(one.value == "Porto" for one in found)
    rows = memory().list(MemoryType.Semantic).content.semantic_memory
    assert any(row.metadata.id == kept["feature"] for row in rows)


@step
def features_of_another_user_and_project_stay_apart() -> None:
    assert not any(
        one.value == "Porto"
        for user, project in (("otto", "project"), ("ruth", "other"))
        for one in memory(user, project=project).list(MemoryType.Semantic).content.semantic_memory
    )


@step
def a_feature_is_deleted() -> None:
    assert memory().delete_semantic(kept["feature"])
    assert memory().get_feature(kept["feature"]) is None


@step
def a_message_is_deleted() -> None:
    assert memory().delete_episodic(kept["tea"])
    assert kept["tea"] not in {str(one.uid) for one in episodes(memory().search("tea"))}


@step
def what_is_not_built_is_refused() -> None:
    assert refused(404, memory().list_semantic_set_types)
    assert refused(404, memory().get_episodic_memory_config)
    assert refused(400, lambda: memory().search("tea", agent_mode=True))


@step
def a_project_is_deleted() -> None:
    assert kept["project"].delete()
    assert refused(404, lambda: client.get_project("acme", "harbour"))
    assert [one.project_id for one in client.list_projects()] == ["workshop"]


for name, act in steps:
    why = ""
    try:
        act()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:1500] or "it failed"
    print(json.dumps({"step": name, "why": why}), flush=True)  # noqa: T201
