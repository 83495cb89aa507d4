#!/usr/bin/env python3
"""Hand in the text files of a folder, and show the passages that answer a question.

    python3 examples/document_search.py FOLDER "When does the harbour open?"

A file's name is its id: running this again changes nothing, and a changed file is a new revision.
"""

import os
import sys
from pathlib import Path

from memoryproject_client import Memory

SPACE = "examples"


def main(folder: Path, question: str) -> None:
    with Memory(os.environ["MEMORY_URL"], os.environ["MEMORY_KEY"], "demo") as memory:
        for file in sorted([*folder.glob("*.md"), *folder.glob("*.txt")]):
            body = {
                "title": file.stem,
                "customId": file.name,
                "content": file.read_text(),
                "containerTags": [SPACE],
                "mode": "sync",
            }
            print(f"{file.name}: {memory.call('POST', '/documents', body)['status']}")
        asked = {"query": question, "containerTags": [SPACE], "limit": 3}
        for hit in memory.call("POST", "/documents/search", asked)["results"]:
            print(f"{hit['score']:.2f} {hit['document']['title']}")
            for chunk in hit["chunks"][:1]:
                print(f"     {' '.join(chunk['content'].split())}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
