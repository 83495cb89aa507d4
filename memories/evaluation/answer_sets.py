"""Published sets of questions with their answers: LoCoMo's, LongMemEval's and BEAM's files."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memories.evaluation.labelled_conversations import LabelledConversation, Question, locomo_cases
from memories.transcripts import Transcript, TranscriptMessage, Unreadable, read

# Where the sets come from: none is part of this software.
PUBLISHED = {
    "locomo": "data/locomo10.json of https://github.com/snap-research/locomo",
    "longmemeval": "a file of https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned",
    "beam": "a folder of chats of https://github.com/mohammadtavakoli78/BEAM",
}
CHAT, PROBES = "chat.json", "probing_questions.json"
ANSWERS = ("answer", "ideal_answer", "ideal_response", "ideal_summary", "expected_compliance")
ASKED = "%Y/%m/%d (%a) %H:%M"
ABSTENTION = "_abs"  # ends the id of a question that has no answer


def answer_cases(path: Path, limit: int = 0) -> list[LabelledConversation]:
    """The conversations of a file, or a folder of BEAM's, whose questions have answers; the first `limit` of
    them where it is not 0.

    Raises Unreadable where it is none of the sets.
    """
    if not path.exists() and str(path) in PUBLISHED:
        raise Unreadable(f"it is not part of this software: fetch {PUBLISHED[str(path)]}, and name that")
    if path.is_dir() or path.name == CHAT:
        chats = sorted(path.rglob(CHAT), key=_by_number) if path.is_dir() else [path]
        found = [_beam(chat) for chat in chats[: limit or None]]
    else:
        data = json.loads(path.read_text())
        first = data[0] if isinstance(data, list) and data else data
        is_long = isinstance(first, dict) and "haystack_sessions" in first
        found = _longmemeval(data[: limit or None]) if is_long else locomo_cases(path, limit)
    answered = [replace(case, questions=tuple(q for q in case.questions if q.answer)) for case in found]
    return [case for case in answered if case.questions]


def _by_number(chat: Path) -> tuple[int, str]:
    name = chat.parent.name
    return int(name) if name.isdecimal() else 0, str(chat)


def _longmemeval(data: list[dict[str, Any]]) -> list[LabelledConversation]:
    """Each question has a history of its own."""
    try:
        return [_of_history(row) for row in data]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"the questions are not as LongMemEval writes them: {error}") from error


def _of_history(row: Mapping[str, Any]) -> LabelledConversation:
    gold, parts, evident = set(), [], set(row["answer_session_ids"])
    sessions = zip(row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True)
    for session, date, turns in sorted(sessions, key=lambda one: _at(one[1])):
        marked = any(turn.get("has_answer") for turn in turns)
        messages = []
        for number, turn in enumerate(turns):
            name = f"{session}:{number}"
            if turn.get("has_answer", False) if marked else session in evident:
                gold.add(name)
            if turn["content"].strip():
                said = TranscriptMessage(name, turn["role"], turn["content"], created_at=_at(date), kind=turn["role"])
                messages.append(said)
        parts.append(Transcript(session, session, row["question_id"], tuple(messages)))
    category = "abstention" if row["question_id"].endswith(ABSTENTION) else row["question_type"]
    asked = Question(row["question"], category, frozenset(gold), str(row["answer"]), asked_at=_at(row["question_date"]))
    return LabelledConversation(row["question_id"], tuple(parts), (asked,), ())


def _at(text: str) -> datetime:
    return datetime.strptime(text, ASKED).replace(tzinfo=UTC)


def _beam(chat: Path) -> LabelledConversation:
    """One chat with the questions that stand beside it."""
    probes = chat.with_name(PROBES)
    if not probes.exists():
        raise Unreadable(f"{probes} is not there")
    parts = tuple(part for part in read(chat, "beam") if isinstance(part, Transcript))
    known = {message.id for part in parts for message in part.messages}
    try:
        questions = tuple(
            Question(
                asked["question"],
                category,
                frozenset(map(str, _numbers(asked.get("source_chat_ids")))) & known,
                next((str(asked[name]) for name in ANSWERS if asked.get(name)), ""),
                tuple(map(str, asked.get("rubric", ()))),
            )
            for category, group in json.loads(probes.read_text()).items()
            for asked in group
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unreadable(f"the questions are not as BEAM writes them: {error}") from error
    return LabelledConversation(chat.parent.name, parts, questions, ())


def _numbers(found: Any) -> Iterator[int]:
    """Numbers of messages, as a list or by what each says."""
    if isinstance(found, int):
        yield found
    elif isinstance(found, list | dict):
        for each in found.values() if isinstance(found, dict) else found:
            yield from _numbers(each)
