#!/usr/bin/env python3
"""The share of the evidence that is served: questions with the span of their answer, over HTTP.

    python3 bench/document_search.py INFO SET.json [...] [--questions N] [--context]

INFO is the file that `up --info` writes. A set is {name, documents: [{id, title, text}], questions:
[{text, spans: [[document, start, end]]}]}. Its documents are handed in once, into a space of the
set's name. Printed are, as means over the questions: e1k and e2k, the share of the evidence's
characters inside the first 1,000 and 2,000 tokens of chunks served (best first, the last cut where
the room ends); docR1, the right document first; docN, nDCG@10 of documents. `--context`: the share
of the evidence's words in the text of /memories/context.
"""

import argparse
import json
import math
import random
import re
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from memories.providers.count_tokens import start_of, tokens_of

ROOMS = (1_000, 2_000)


class Api:
    def __init__(self, info: Path) -> None:
        told = json.loads(info.read_text())
        self.root = f"{told['url']}/api/v1/workspaces/{told['workspace']}"
        self.key = told["key"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.root + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)


def hand_in(api: Api, data: dict[str, Any]) -> dict[str, str]:
    """The server's id of each document, by the set's own."""
    ids = {}
    for one in data["documents"]:
        body = {
            "content": one["text"],
            "title": one["title"],
            "filename": f"{one['title'][:80]}.txt",
            "customId": f"{data['name']}:{one['id']}",
            "containerTags": [data["name"]],
            "extract": "none",
        }
        ids[str(one["id"])] = api.call("POST", "/documents", body)["id"]
    left = set(ids.values())
    while left:
        time.sleep(1)
        for row in sorted(left):
            document = api.call("GET", f"/documents/{row}")
            if document["status"] == "failed":
                raise SystemExit(f"{document['title']}: {document['errorCode']}")
            if document["status"] == "completed":
                left.discard(row)
    return ids


def covered(chunks: list[dict[str, Any]], spans: list[tuple[str, int, int]], room: int, offset: Any) -> float:
    got: list[set[int]] = [set() for _ in spans]
    left = room
    for chunk in chunks:
        size = tokens_of(chunk["content"])
        text = chunk["content"] if size <= left else start_of(chunk["content"], left)
        start = offset(chunk)
        for own, (document, first, last) in zip(got, spans, strict=True):
            if document == chunk["document"]:
                own.update(range(max(start, first), min(start + len(text), last)))
        left -= size
        if left <= 0:
            break
    return sum(map(len, got)) / max(1, sum(last - first for _, first, last in spans))


def measure(api: Api, data: dict[str, Any], most: int, *, in_context: bool) -> None:
    ids = hand_in(api, data)
    texts = {ids[str(one["id"])]: one["text"] for one in data["documents"]}
    questions = data["questions"]
    if len(questions) > most:
        questions = random.Random(7).sample(questions, most)
    sums: dict[str, float] = dict.fromkeys(("e1k", "e2k", "docR1", "docN", "context"), 0.0)
    for question in questions:
        spans = [(ids[str(d)], s, e) for d, s, e in question["spans"]]
        body = {
            "query": question["text"],
            "limit": 10,
            "chunkLimit": 30,
            "threshold": 0,
            "containerTags": [data["name"]],
        }
        results = api.call("POST", "/documents/search", body)["results"]
        chunks = [{**chunk, "document": each["document"]["id"]} for each in results for chunk in each["chunks"]]
        chunks.sort(key=lambda chunk: -chunk["score"])

        def offset(chunk: dict[str, Any]) -> int:
            # What was handed in may differ from what is kept in its blanks: the place nearest to
            # where it stands there, for a line of it may be repeated.
            text, start = texts[chunk["document"]], int(chunk["start"])
            if text.startswith(chunk["content"], start):
                return start
            forms = (chunk["content"], chunk["content"][:120], chunk["content"][:40])
            for form in forms:
                places = (text.find(form, start), text.rfind(form, 0, start + len(form)))
                if found := [place for place in places if place >= 0]:
                    return min(found, key=lambda place: abs(place - start))
            return start

        for room, name in zip(ROOMS, ("e1k", "e2k"), strict=True):
            sums[name] += covered(chunks, spans, room, offset)
        right = {document for document, _, _ in spans}
        order = [each["document"]["id"] for each in results]
        sums["docR1"] += bool(order) and order[0] in right
        gains = sum(1 / math.log2(n + 2) for n, one in enumerate(order[:10]) if one in right)
        sums["docN"] += gains / sum(1 / math.log2(n + 2) for n in range(min(10, len(right))))
        if in_context:
            body = {"query": question["text"], "layers": ["chunks"], "tokens": 2000, "floor": 0}
            told = plain(api.call("POST", "/memories/context", body)["text"])
            parts = [plain(texts[d][s:e]) for d, s, e in spans]
            sums["context"] += sum(part in told for part in parts) / len(parts)
    shown = {name: round(value / len(questions), 3) for name, value in sums.items()}
    sys.stdout.write(f"{data['name']:12} {len(questions)} questions  {shown}\n")
    sys.stdout.flush()


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("info", type=Path)
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--context", action="store_true")
    wanted = parser.parse_args()
    api = Api(wanted.info)
    for path in wanted.sets:
        measure(api, json.loads(path.read_text()), wanted.questions, in_context=wanted.context)


if __name__ == "__main__":
    main()
