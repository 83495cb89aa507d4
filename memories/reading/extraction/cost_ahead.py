"""The most that reading many messages with a model can cost, told before it is begun: by the prompt's tokens and the
ledger's prices."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from memories.meters import costs
from memories.providers import network
from memories.providers.message_pieces import PIECE
from memories.providers.prompts import ExtractionRequest, FactsAnswer, extraction_rules
from memories.reading.extraction.fallback_chain import FallbackChain, line_of

ASK_FROM = Decimal(1)  # in the currency of the prices: what is dearer is begun only once a person says so
ENVELOPE = 24  # tokens of a message's index, role, speaker and time
BEFORE = 6  # messages of a thread that a call has as context
WRITTEN = 50  # tokens of the answer for each message


class TalkSize(NamedTuple):
    """The messages of a conversation, and their bytes."""

    messages: int
    size: int


@dataclass(frozen=True, slots=True)
class CostAhead:
    """The most that it will cost. Without a `model` none is asked; `cost` is None where nobody set a price."""

    model: str = ""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal | None = None

    @property
    def is_dear(self) -> bool:
        """Tell whether it is begun only once a person says so."""
        return self.cost is not None and self.cost >= ASK_FROM

    def __str__(self) -> str:
        if not self.calls:
            return "No model is asked."
        told = "nobody set its price" if self.cost is None else f"{self.cost:.2f} by its price"
        return (
            f"At most {self.calls:,} calls of {self.model}: {self.input_tokens:,} tokens read,"
            f" {self.output_tokens:,} written, {told}."
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "calls": self.calls,
            "inputTokens": self.input_tokens,
            "outputTokens": self.output_tokens,
            "cost": None if self.cost is None else float(self.cost),
        }


def cost_ahead(chain: FallbackChain | None, talks: Iterable[TalkSize], batch: int) -> CostAhead:
    """Return what reading these conversations costs with the first model of a workspace, so many messages in each
    ingest. It is less where patterns cover messages, where some are known, and by what servers find in their caches."""
    if chain is None or not chain.models:
        return CostAhead()
    calls = read = written = 0
    for talk in talks:
        own = max(-(-talk.messages // batch), -(-talk.size // PIECE))
        each = talk.size // network.BYTES_PER_TOKEN // max(1, talk.messages) + ENVELOPE
        calls += own
        read += own * _rules() + each * (talk.messages + BEFORE * max(0, own - 1))
        written += WRITTEN * talk.messages
    model = line_of(chain, chain.models[0]).place
    price = costs.price_of(model, costs.prices())
    return CostAhead(model, calls, read, written, price.of(calls, read, written) if price else None)


@cache
def _rules() -> int:
    """The tokens of rules and schema, which each call has."""
    return network.estimate([extraction_rules(ExtractionRequest(())), json.dumps(FactsAnswer.model_json_schema())])
