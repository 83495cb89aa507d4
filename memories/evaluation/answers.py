"""Evaluation of answers: a reader model answers a set's questions out of several contexts, the memory's own
beside others, and the answers are compared with the published ones by token F1 and, if wished, by a grader.

Every answer of a model is kept by its prompt: a run that was broken off goes on, and nothing is paid for twice.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from memories.evaluation.answer_f1 import answer_f1
from memories.evaluation.answer_prompts import (
    UNKNOWN,
    grade_in,
    grader_question,
    last_day,
    line_of,
    lines_of,
    reader_question,
)
from memories.evaluation.kept_answers import KeptAnswers, ModelAnswer, config_of
from memories.evaluation.labelled_conversations import LabelledConversation, Question
from memories.evaluation.plain_bm25 import PlainBM25
from memories.evaluation.retrieval import Advance, scratch
from memories.exchange.import_without_repeats import ImportOptions, import_transcript
from memories.meters.breakers import ProviderLine
from memories.meters.costs import price_of, prices
from memories.models import MemorySession
from memories.providers import chat_model_from, extractor_from
from memories.providers.chat_model import ChatQuestion
from memories.providers.count_tokens import tokens_of
from memories.providers.extractor import Extractor
from memories.search import SearchRequest
from memories.search.context import PACKED, context
from workspaces.scope import Scope

MEMORY, BM25, EVIDENCE, FULL, NOTHING = CONTEXTS = ("memory", "bm25", "evidence", "full", "none")
FOUND = 50  # hits, as a context is packed of
ALL = "all"


@dataclass(frozen=True, slots=True)
class AnswerWish:
    """The questions of a run: what is asked, of whom, and with how many calls at once.

    `tokens` are the budgets of the contexts that have one."""

    reader: str
    grader: str = ""
    contexts: tuple[str, ...] = CONTEXTS
    tokens: tuple[int, ...] = (1_000, 4_000)
    parallel: int = 1


@dataclass(frozen=True, slots=True)
class ReaderPrompt:
    """A question with one context; `tokens` is its budget, 0 without one."""

    case: str
    question: Question
    context: str
    tokens: int
    asked: ChatQuestion


@dataclass(slots=True)
class AnswersRead:
    """A row for each question and context. `left_out` counts the questions that cannot be scored by the reason."""

    reader: str
    grader: str
    conversations: int = 0
    messages: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    rows: list[dict[str, Any]] = field(default_factory=list)

    def groups(self) -> Iterator[tuple[str, int, str, list[dict[str, Any]]]]:
        """Yield context, budget, category (ALL first) and rows."""
        keys = dict.fromkeys((row["context"], row["tokens"]) for row in self.rows)
        for name, tokens in sorted(keys, key=lambda key: (CONTEXTS.index(key[0]), key[1])):
            own = [row for row in self.rows if (row["context"], row["tokens"]) == (name, tokens)]
            yield name, tokens, ALL, own
            for category in sorted({row["category"] for row in own}):
                yield name, tokens, category, [row for row in own if row["category"] == category]


def count(cases: Sequence[LabelledConversation], wish: AnswerWish) -> int:
    """Count the times `evaluate` will advance: the answers of the reader."""
    budgeted = len({MEMORY, BM25} & set(wish.contexts))
    number = sum(len(case.questions) for case in cases)
    return number * (len(wish.contexts) - budgeted + budgeted * len(wish.tokens))


def spread(cases: Sequence[LabelledConversation], most: int) -> list[LabelledConversation]:
    """Return the cases with at most `most` questions together, taken evenly from all; 0: with all."""
    total = sum(len(case.questions) for case in cases)
    if not most or most >= total:
        return list(cases)
    chosen, before, found = {round(at * total / most) for at in range(most)}, 0, []
    for case in cases:
        own = [question for at, question in enumerate(case.questions, before) if at in chosen]
        before += len(case.questions)
        if own:
            found.append(replace(case, questions=tuple(own)))
    return found


def evaluate(
    cases: Sequence[LabelledConversation], wish: AnswerWish, kept: KeptAnswers, advance: Advance
) -> AnswersRead:
    """Raises ProviderError where a model cannot be asked: what was answered before that is kept."""
    config = config_of(wish.reader)
    reader = chat_model_from(config)
    grading = config_of(wish.grader) if wish.grader else None
    grader = extractor_from(grading) if grading else None
    result = AnswersRead(reader.who, grader.who if grader else "")
    price = price_of(ProviderLine("answers", reader.model, config.base_url).place, prices())

    def answered(prompt: ReaderPrompt) -> dict[str, Any]:
        answer = kept.ask(reader.who, prompt.asked, lambda: reader.ask(prompt.asked, lambda _: None))
        row = scored(prompt, answer)
        counts = answer.input_tokens, answer.output_tokens, answer.cached_tokens
        row["cost"] = None if price is None else float(price.of(1, *counts))
        if grader:
            row["grade"] = graded(grader, kept, prompt, answer)
        advance(1)
        return row

    with ThreadPoolExecutor(wish.parallel) as threads:
        for case in cases:
            result.rows += threads.map(answered, list(prompts_of(case, wish)))
            result.conversations += 1
            result.messages += len(case.messages)
            result.left_out.update(case.left_out)
    return result


def graded(grader: Extractor, kept: KeptAnswers, prompt: ReaderPrompt, answer: ModelAnswer) -> float | None:
    if answer.error or not answer.text.strip():
        return 0.0
    question = grader_question(prompt.question, answer.text)
    told = kept.ask(grader.who, question, lambda: grader.ask(question))
    return grade_in(told.text, prompt.question)


def scored(prompt: ReaderPrompt, answer: ModelAnswer) -> dict[str, Any]:
    question = prompt.question
    return {
        "conversation": prompt.case,
        "category": question.category,
        "question": question.text,
        "gold": question.answer,
        "context": prompt.context,
        "tokens": prompt.tokens,
        "answer": answer.text,
        "f1": round(answer_f1(question, answer.text), 4),
        "isUnknown": answer.text.strip().lower().startswith(UNKNOWN),
        "promptTokens": answer.input_tokens,
        "answerTokens": answer.output_tokens,
        "seconds": answer.seconds,
        **({"error": answer.error} if answer.error else {}),
    }


def prompts_of(case: LabelledConversation, wish: AnswerWish) -> Iterator[ReaderPrompt]:
    """Put each question into each context; the memory's are made in a workspace that is gone afterwards."""
    if MEMORY in wish.contexts:
        with scratch() as scope:
            options = ImportOptions(user_id=case.name, extract=MemorySession.Extract.PATTERNS)
            for transcript in case.transcripts:
                for _ in import_transcript(scope, transcript, options):
                    pass
            yield from _prompts(case, wish, scope)
    else:
        yield from _prompts(case, wish, None)


def _prompts(case: LabelledConversation, wish: AnswerWish, scope: Scope | None) -> Iterator[ReaderPrompt]:
    messages, ended = case.messages, last_day(case)
    lines = [line_of(message) for message in messages]
    ranked = PlainBM25(lines)
    for question in case.questions:
        asked_at = question.asked_at or ended
        texts: list[tuple[str, int, str]] = []
        for tokens in wish.tokens:
            if scope is not None:
                wanted = SearchRequest(question.text, limit=FOUND, user_id=case.name, layers=PACKED, now=asked_at)
                texts.append((MEMORY, tokens, context(scope, wanted, tokens).text))
            if BM25 in wish.contexts:
                texts.append((BM25, tokens, packed(lines, ranked.best(question.text), tokens)))
        plain = {
            EVIDENCE: lines_of([message for message in messages if message.id in question.gold]),
            FULL: "\n".join(lines),
            NOTHING: "",
        }
        texts += [(name, 0, text) for name, text in plain.items() if name in wish.contexts]
        for name, tokens, text in texts:
            yield ReaderPrompt(case.name, question, name, tokens, reader_question(question, text, asked_at))


def packed(lines: Sequence[str], best: Sequence[int], tokens: int) -> str:
    """Return the best lines that fit into so many tokens, in the order in which they were said."""
    chosen = []
    for at in best:
        size = tokens_of(lines[at]) + 1
        if size <= tokens:
            chosen.append(at)
            tokens -= size
    return "\n".join(lines[at] for at in sorted(chosen))
