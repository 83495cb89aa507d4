"""Forms in which servers are asked for JSON of a given shape. No two of them take the same ones: the first
that a server takes is kept for its address and model, as long as the process lives.

A refused form costs nothing and is followed by the next. Once a form was taken, a later refusal is about
something else."""

import json
from collections.abc import Callable, Hashable, Iterable
from itertools import islice
from typing import Any, TypeVar

from memories.errors import ProviderError

Form = TypeVar("Form")
Answer = TypeVar("Answer")

# By servers to a form that they do not know; llama-cpp-python's fails.
NOT_KNOWN = (400, 415, 422, 500, 501)
BOUNDS = frozenset(("minItems", "maxItems", "minLength", "maxLength"))
MOST_LINES = 1_000
IN_WORDS = "\n\nAnswer with one JSON object of this JSON schema, and with nothing else:\n{schema}"

_taken: dict[Hashable, Any] = {}
# Where every form failed the server itself may be ill: until one is taken the first alone is asked in.
_refused: dict[Hashable, Any] = {}


def ask_in_forms(line: Hashable, forms: Iterable[Form], call: Callable[[Form], Answer]) -> Answer:
    """Return the answer to the first form that is taken. Raises ProviderError: where none is, that of the
    first."""
    if line in _taken:
        return call(_taken[line])
    refusal: ProviderError | None = None
    for form in islice(forms, 1 if line in _refused else None):
        try:
            answer = call(form)
        except ProviderError as error:
            if error.status not in NOT_KNOWN or error.retry_after is not None:
                raise
            refusal = refusal or error
        else:
            _refused.pop(line, None)
            _remember(_taken, line, form)
            return answer
    if refusal is None:
        raise ValueError("no form to ask in")
    _remember(_refused, line, True)
    raise refusal


def _remember(known: dict[Hashable, Any], line: Hashable, value: Any) -> None:
    if len(known) >= MOST_LINES:
        known.clear()
    known[line] = value


def without_bounds(schema: Any) -> Any:
    """Return the schema without bounds of lists and texts, which some strict modes refuse."""
    if isinstance(schema, dict):
        return {name: without_bounds(each) for name, each in schema.items() if name not in BOUNDS}
    return [without_bounds(each) for each in schema] if isinstance(schema, list) else schema


def in_words(schema: dict[str, Any]) -> str:
    """Return what is added to the rules where a server takes no schema."""
    return IN_WORDS.format(schema=json.dumps(schema, ensure_ascii=False))
