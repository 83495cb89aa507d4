"""What users of four frameworks do with our client's adapters, each with the framework's own
package, step by step: one line of JSON per step, {"step", "why"}."""

import asyncio
import json
import os
import time
from collections.abc import Callable
from typing import Any

from agents import Agent, Model, ModelResponse, Runner, Session, set_tracing_disabled
from agents.usage import Usage
from anthropic.lib.tools import ToolError
from langgraph.store.base import BaseStore
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory as LlamaMemory
from memoryproject_client import AsyncMemory, Memory
from memoryproject_client.claude_memory_tool import ClaudeMemoryTool
from memoryproject_client.langgraph_store import LangGraphStore
from memoryproject_client.llamaindex_block import LearnedMemoryBlock
from memoryproject_client.openai_session import OpenAISession
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

OWN = (os.environ["BASE_URL"], os.environ["API_KEY"], os.environ["WORKSPACE"])
set_tracing_disabled(True)
memory = Memory(*OWN)
steps: list[tuple[str, Callable[[], Any]]] = []
store: BaseStore = LangGraphStore(memory)
notes = ClaudeMemoryTool(memory, "tests")


def step(act: Callable[[], Any]) -> Callable[[], Any]:
    steps.append((act.__name__, act))
    return act


def refused(act: Callable[[], Any]) -> str:
    try:
        act()
    except ToolError as error:
        return str(error)
    raise AssertionError("this was not refused")


@step
def a_graphs_item_is_put_got_and_replaced() -> None:
    assert store.get(("users", "ada"), "food") is None
    store.put(("users", "ada"), "food", {"text": "likes green tea", "rank": 1})
    store.put(("users", "ada"), "food", {"text": "likes black tea", "rank": 2})
    store.put(("users", "ada"), "home", {"text": "lives in Lisbon", "rank": 3})
    store.put(("users", "otto"), "food", {"text": "likes tea with milk", "rank": 4})
    item = store.get(("users", "ada"), "food")
    assert item is not None
    assert (item.value, item.key) == ({"text": "likes black tea", "rank": 2}, "food")
    assert item.namespace == ("users", "ada")
    assert item.updated_at >= item.created_at


@step
def a_value_may_change_where_its_words_do_not() -> None:
    path, key = ("users", "ada"), "plan"
    store.put(path, key, {"text": "see a play", "rank": 1}, index=["text"])
    store.put(path, key, {"text": "see a play", "rank": 2}, index=["text"])
    item = store.get(path, key)
    assert item is not None
    assert item.value["rank"] == 2


@step
def a_graphs_items_are_searched() -> None:
    best = store.search(("users", "ada"), query="Which tea does she like?")
    assert best[0].key == "food"
    assert best[0].score is not None
    assert {item.namespace for item in best} == {("users", "ada")}
    assert [item.key for item in store.search(("users",), filter={"rank": {"$gte": 3}})] == [
        "food",
        "home",
    ]
    assert len(store.search(("users",), limit=2)) == 2
    assert len(store.search(("users",), limit=2, offset=3)) == 1


@step
def a_graphs_items_are_told_in_nobodys_context() -> None:
    for user in ("ada", "otto", None):
        told = memory.context("Which tea does she like?", user_id=user, floor=0.0)
        assert "black tea" not in told.text
        assert "milk" not in told.text


@step
def what_is_not_indexed_is_listed_and_not_found() -> None:
    store.put(("users", "eve"), "secret", {"text": "likes rum"}, index=False)
    assert not store.search(("users", "eve"), query="rum")
    assert len(store.search(("users", "eve"))) == 1


@step
def a_graphs_namespaces_are_listed() -> None:
    names = store.list_namespaces(prefix=("users",))
    assert names == [("users", "ada"), ("users", "eve"), ("users", "otto")]
    assert store.list_namespaces(suffix=("otto",)) == [("users", "otto")]
    assert store.list_namespaces(max_depth=1) == [("users",)]
    assert store.list_namespaces(prefix=("*", "ada", "x")) == []


@step
def a_graphs_item_is_deleted() -> None:
    store.delete(("users", "ada"), "food")
    assert asyncio.run(store.aget(("users", "ada"), "food")) is None
    store.delete(("users", "ada"), "food")


ANSWER = "Noted: tea it is."


class ScriptedModel(Model):
    async def get_response(self, *args: Any, **kwargs: Any) -> ModelResponse:
        text = ResponseOutputText(annotations=[], text=ANSWER, type="output_text")
        said = ResponseOutputMessage(id="1", content=[text], role="assistant", status="completed", type="message")
        return ModelResponse(output=[said], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


async def run_an_agent() -> None:
    async with AsyncMemory(*OWN) as own:
        session = OpenAISession(own, "agents-1", user_id="nora")
        assert isinstance(session, Session)
        assert await session.get_items() == []
        agent = Agent(name="helper", model=ScriptedModel())
        done = await Runner.run(agent, "I have a parrot called Kiwi.", session=session)
        assert done.final_output == ANSWER
        first, second = await session.get_items()
        assert first == {"content": "I have a parrot called Kiwi.", "role": "user"}
        assert second["content"][0]["text"] == ANSWER
        call = {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}
        await session.add_items([call])
        assert await session.get_items(limit=1) == [call]
        assert await session.pop_item() == call
        assert len(await session.get_items()) == 2
        learned: list[str] = []
        end = time.monotonic() + 300  # a busy server lets the worker learn
        while not any("Kiwi" in each for each in learned) and time.monotonic() < end:
            found = await own.search("What is her parrot called?", user_id="nora", layers=["memories"])
            learned = [hit.memory.content for hit in found.results if hit.memory]
            await asyncio.sleep(0.1)
        assert any("Kiwi" in each for each in learned), learned
        await session.clear_session()
        assert await session.get_items() == []
        assert await session.pop_item() is None


@step
def an_agents_session_keeps_items_and_is_learned_from() -> None:
    asyncio.run(run_an_agent())


def noted(command: str, **said: Any) -> str:
    return str(notes.call({"command": command, **said}))


@step
def claude_makes_reads_and_changes_files() -> None:
    assert notes.to_dict()["type"] == "memory_20250818"
    assert "2 levels deep in /memories" in noted("view", path="/memories")
    text = "One.\nTwo.\nThree.\n"
    noted("create", path="/memories/a.md", file_text=text)
    assert "already exists" in refused(lambda: noted("create", path="/memories/a.md", file_text="x"))
    shown = noted("view", path="/memories/a.md").splitlines()
    assert shown[1:] == ["     1\tOne.", "     2\tTwo.", "     3\tThree.", "     4\t"]
    assert noted("view", path="/memories/a.md", view_range=[2, 2]).endswith("     2\tTwo.")
    told = noted("str_replace", path="/memories/a.md", old_str="Two", new_str="2")
    assert "     2\t2." in told
    noted("insert", path="/memories/a.md", insert_line=1, insert_text="New.\n")
    assert "     2\tNew." in noted("view", path="/memories/a.md")


@step
def claude_is_told_what_it_may_not() -> None:
    noted("create", path="/memories/b/c/d.md", file_text="x x\nx")
    assert "lines: 1, 1, 2" in refused(
        lambda: noted("str_replace", path="/memories/b/c/d.md", old_str="x", new_str="y")
    )
    assert "verbatim" in refused(lambda: noted("str_replace", path="/memories/b/c/d.md", old_str="z", new_str="y"))
    assert "range [0, 2]" in refused(lambda: noted("insert", path="/memories/b/c/d.md", insert_line=9, insert_text="y"))
    assert "does not exist" in refused(lambda: noted("view", path="/memories/none"))
    assert "not a file" in refused(lambda: noted("insert", path="/memories/b", insert_line=0, insert_text="y"))
    assert "escape" in refused(lambda: noted("view", path="/memories/../etc"))
    assert "must start" in refused(lambda: noted("view", path="/etc"))
    assert "itself" in refused(lambda: noted("delete", path="/memories"))
    assert "itself" in refused(lambda: noted("rename", old_path="/memories", new_path="/memories/x"))


@step
def claude_moves_and_deletes_files() -> None:
    noted("create", path="/memories/empty.md", file_text="")
    assert noted("view", path="/memories/empty.md").endswith("     1\t")
    listed = noted("view", path="/memories").splitlines()[1:]
    assert listed == [
        "/memories",
        "/memories/a.md",
        "/memories/b/",
        "/memories/b/c/",
        "/memories/empty.md",
    ]
    assert "already exists" in refused(lambda: noted("rename", old_path="/memories/b", new_path="/memories/a.md"))
    noted("rename", old_path="/memories/b", new_path="/memories/e")
    assert "x x" in noted("view", path="/memories/e/c/d.md")
    noted("delete", path="/memories/e")
    assert "does not exist" in refused(lambda: noted("delete", path="/memories/e"))
    assert notes.clear_all_memory() == "All memory cleared"
    assert noted("view", path="/memories").splitlines()[1:] == ["/memories"]


async def talk() -> None:
    async with AsyncMemory(*OWN) as own:
        block = LearnedMemoryBlock(memory=own, user_id="vera")
        talked = LlamaMemory.from_defaults(session_id="l1", memory_blocks=[block])
        await block.aput([ChatMessage(role="user", content="My cat is called Mochi.")])
        await block.aput([])
        question = ChatMessage(role="user", content="What is my cat called?")
        await talked.aput(question)
        shown = "\n".join(str(one.content) for one in await talked.aget())
        assert "<learned_memory>" in shown
        assert "Mochi" in shown
        assert await block.aget([]) == ""


@step
def a_block_of_llamaindex_learns_and_recalls() -> None:
    asyncio.run(talk())


for name, act in steps:
    why, begun = "", time.monotonic()
    try:
        act()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"[:1500] or "it failed"
        if os.environ.get("TRACE"):
            raise
    took = round(time.monotonic() - begun, 2)
    print(json.dumps({"step": name, "why": why, "took": took}), flush=True)  # noqa: T201
