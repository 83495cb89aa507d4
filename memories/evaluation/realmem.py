"""RealMem's labels: the facts that a person's turns say, in talk with an assistant."""

import json
import re
from pathlib import Path

from memories.evaluation.locomo import LabelledConversation, LabelledFact
from memories.transcripts import Transcript, Unreadable, read

_heading = re.compile(r"^【.*?】\s*")


def cases(path: Path, limit: int = 0) -> list[LabelledConversation]:
    """The person's conversation of a file with its labels; `limit` is for other formats.

    Raises Unreadable for a file that is not RealMem's.
    """
    parts = tuple(part for part in read(path, "realmem") if isinstance(part, Transcript))
    known = {message.id for part in parts for message in part.messages}
    facts = []
    try:
        for number, dialogue in enumerate(json.loads(path.read_text())["dialogues"]):
            for label in dialogue["extracted_memory"]:
                if label["source_role_snapshot"] == "User" and isinstance(label["content"], str):
                    gold = frozenset({f"{number}:{label['source_turn']}"} & known)
                    facts.append(LabelledFact(_heading.sub("", label["content"]), gold))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"the labels are not as RealMem writes them: {error}") from error
    return [LabelledConversation(path.stem, parts, (), tuple(facts))]
