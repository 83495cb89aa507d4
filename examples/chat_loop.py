#!/usr/bin/env python3
"""A chat that remembers: what is known goes before each answer, and what was said is learned from.

    python3 examples/chat_loop.py ada

Each line of standard input is a message. Put your model in the place of `answer`.
"""

import os
import sys
from datetime import date

from memoryproject_client import Memory


def answer(question: str, known: str) -> str:
    """The place of your model: send it `known` as data, and then the question."""
    return f"(what I know)\n{known}" if known else "(nothing is known about that yet)"


def main(user: str) -> None:
    thread = f"chat-{date.today()}"
    with Memory(os.environ["MEMORY_URL"], os.environ["MEMORY_KEY"], "demo") as memory:
        for line in sys.stdin:
            question = line.strip()
            if not question:
                continue
            reply = answer(question, memory.context(question, user_id=user, tokens=500).text)
            print(reply)
            told = memory.ingest([{"role": "user", "content": question}], user_id=user, thread_id=thread)
            for made in told.memories or ():
                print(f"(learned) {made.content}")


if __name__ == "__main__":
    main(sys.argv[1] if sys.argv[1:] else "ada")
