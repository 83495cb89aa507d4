#!/usr/bin/env python3
"""Ingest, search and correct over plain HTTP, with nothing but Python's standard library.

python3 examples/plain_http.py
"""

import json
import os
import urllib.request
from typing import Any

WORKSPACE = f"{os.environ['MEMORY_URL']}/api/v1/workspaces/demo"


def ask(method: str, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        WORKSPACE + path,
        data=json.dumps(body).encode(),
        method=method,
        headers={
            "Authorization": f"Bearer {os.environ['MEMORY_KEY']}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def main() -> None:
    said = [{"role": "user", "content": "I work as a baker."}]
    ask("POST", "/memories/ingest", {"userId": "paul", "messages": said})
    question = {"query": "What is Paul's job?", "userId": "paul", "include": ["citations"]}
    hit = ask("POST", "/memories/search", question)["results"][0]
    print(hit["memory"]["content"], "|", hit["citations"][0]["quote"])
    new = ask("PATCH", f"/memories/{hit['memory']['id']}", {"content": "Paul works as a cook"})
    print("version", new["version"], "says", new["content"])


if __name__ == "__main__":
    main()
