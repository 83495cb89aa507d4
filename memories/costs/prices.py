"""What models cost: the prices that were known when this version was made, and those that the
operator wrote down, which win."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from memories.models import ModelPrice

MILLION, THOUSAND = Decimal(1_000_000), Decimal(1_000)


@dataclass(frozen=True, slots=True)
class Price:
    """In the operator's currency; those below are US dollars."""

    input_per_million: Decimal = Decimal(0)
    output_per_million: Decimal = Decimal(0)
    per_thousand_calls: Decimal = Decimal(0)

    def of(self, calls: int, input_tokens: int, output_tokens: int) -> Decimal:
        tokens = self.input_per_million * input_tokens + self.output_per_million * output_tokens
        return tokens / MILLION + self.per_thousand_calls * calls / THOUSAND


def _known(input_price: str, output_price: str = "0") -> Price:
    return Price(Decimal(input_price), Decimal(output_price))


# Of the services themselves: the same model on a machine of one's own costs what it costs there.
KNOWN_PRICES = {
    "text-embedding-3-small": _known("0.02"),
    "text-embedding-3-large": _known("0.13"),
    "text-embedding-ada-002": _known("0.10"),
    "gpt-5": _known("1.25", "10"),
    "gpt-5-mini": _known("0.25", "2"),
    "gpt-5-nano": _known("0.05", "0.40"),
    "claude-haiku-4-5": _known("1", "5"),
    "claude-sonnet-4-5": _known("3", "15"),
}


def prices() -> dict[str, Price]:
    """By model, as the ledger writes it (`model at host`) or by its name alone."""
    rows = ModelPrice.objects.values_list(
        "model", "input_per_million", "output_per_million", "per_thousand_calls"
    )
    return KNOWN_PRICES | {name: Price(*values) for name, *values in rows}


def price_of(model: str, known: Mapping[str, Price]) -> Price | None:
    """None where nobody said what it costs. A host's own price comes before that of the name, and
    what is known of a service holds for no other host."""
    name, _, host = model.partition(" at ")
    found = known.get(model) or known.get(name)
    return None if host and found is KNOWN_PRICES.get(name) else found
