"""A place in a text that holds a secret or an order."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["secret", "order"]
SECRET: Kind = "secret"
ORDER: Kind = "order"
KINDS = (SECRET, ORDER)
# Whose words a text is: a person's own, an assistant's, a tool's or a document's.
Whose = Literal["own", "assistant", "other"]
OWN: Whose = "own"
ASSISTANT: Whose = "assistant"
OTHER: Whose = "other"
# What a finding may be, in words for people; a workspace allows them by these names.
LABELS: dict[str, str] = {
    "password": "a password",
    "code": "a PIN or an access code",
    "key": "a key or token",
    "card": "a card number",
    "account": "a bank account",
    "identity": "an identity number",
    "order": "an order to whoever reads it",
}


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """`text[start:end]` is what must not be shown; `label` is one of LABELS."""

    start: int
    end: int
    label: str

    @property
    def kind(self) -> Kind:
        return ORDER if self.label == "order" else SECRET


def reason_of(found: Iterable[Finding]) -> str:
    """Why a text is held, in words for people; empty where nothing was found."""
    named = dict.fromkeys(LABELS[finding.label] for finding in found)
    return f"it holds {', '.join(named)}" if named else ""
