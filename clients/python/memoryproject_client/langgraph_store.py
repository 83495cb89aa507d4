"""LangGraph's `BaseStore` over a workspace: items are documents, so that each change is kept, and
all are searched by meaning and by words without an index to configure."""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
    tokenize_path,
)

from memoryproject_client.client import Memory
from memoryproject_client.named_texts import NamedText, NamedTexts

MOST = 100  # hits of one search
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda own, given: own == given,
    "$ne": lambda own, given: own != given,
    "$gt": lambda own, given: own is not None and own > given,
    "$gte": lambda own, given: own is not None and own >= given,
    "$lt": lambda own, given: own is not None and own < given,
    "$lte": lambda own, given: own is not None and own <= given,
}


class LangGraphStore(BaseStore):
    """`store = LangGraphStore(Memory(...))`, then `graph.compile(store=store)`.

    All items of a store share its `space`. Items do not expire (`ttl`), and a search with a query
    looks at the best 100 of its namespace.
    """

    __slots__ = ("texts",)

    def __init__(self, memory: Memory, space: str = "langgraph") -> None:
        self.texts = NamedTexts(memory, space)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case PutOp():
                return self._put(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
        raise TypeError(f"{type(op).__name__} is no operation of a store.")

    def _get(self, op: GetOp) -> Item | None:
        one = self.texts.read(name_of(op.namespace, op.key))
        return None if one is None else Item(**_fields(one))

    def _put(self, op: PutOp) -> None:
        name = name_of(op.namespace, op.key)
        if op.value is None:
            one = self.texts.read(name)
            if one is not None:
                self.texts.erase(one)
            return
        if op.ttl is not None:
            raise NotImplementedError("Items of this store do not expire.")
        metadata = {
            "namespace": list(op.namespace),
            "key": op.key,
            "value": dict(op.value),
            "indexed": op.index is not False,
            **{f"level {depth}": part for depth, part in enumerate(op.namespace)},
        }
        self.texts.write(name, _words(op), metadata)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        if op.query:
            levels = {f"level {depth}": part for depth, part in enumerate(op.namespace_prefix)}
            rows = self.texts.search(op.query, {**levels, "indexed": True}, MOST)
        else:
            size = len(op.namespace_prefix)
            rows = [
                one
                for one in self.texts.every()
                if tuple(one.metadata["namespace"][:size]) == tuple(op.namespace_prefix)
            ]
        kept = [one for one in rows if _fits(one.metadata["value"], op.filter or {})]
        page = kept[op.offset : op.offset + op.limit]
        return [SearchItem(**_fields(one), score=one.score) for one in page]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        every = {tuple(one.metadata["namespace"]) for one in self.texts.every()}
        kept = {
            namespace[: op.max_depth]
            for namespace in every
            if all(_matches(namespace, each) for each in op.match_conditions or ())
        }
        return sorted(kept)[op.offset : op.offset + op.limit]


def name_of(namespace: tuple[str, ...], key: str) -> str:
    return "/".join(quote(part, safe="") for part in (*namespace, key))


def _words(op: PutOp) -> str:
    """The searchable part of an item: the fields that are asked for, or all of its value."""
    value = dict(op.value or {})
    if op.index is False:
        return "Not indexed."
    if not op.index:
        return json.dumps(value, ensure_ascii=False)
    texts = [text for path in op.index for text in get_text_at_path(value, tokenize_path(path))]
    return "\n".join(texts)


def _fields(one: NamedText) -> dict[str, Any]:
    return {
        "namespace": tuple(one.metadata["namespace"]),
        "key": one.metadata["key"],
        "value": one.metadata["value"],
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }


def _fits(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    for name, given in wanted.items():
        asked = given if isinstance(given, dict) and given else {"$eq": given}
        if not all(key in COMPARED for key in asked):
            asked = {"$eq": given}
        if not all(COMPARED[op](value.get(name), operand) for op, operand in asked.items()):
            return False
    return True


def _matches(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = tuple(condition.path)
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)]
    if condition.match_type == "suffix":
        part = namespace[len(namespace) - len(path) :]
    return all(asked in ("*", own) for own, asked in zip(part, path, strict=True))
