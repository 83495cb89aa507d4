"""Errors speak in sentences, and survive the queue, which pickles them."""

import pickle

import pytest

from memories.errors import Conflict, Forbidden, Invalid, NotFound, ProviderError


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ProviderError("the model is down", permanent=False, retry_after=2.0), "the model is down"),
        (Invalid("messages[0].role", "unknown role"), "messages[0].role: unknown role"),
        (Conflict("it changed meanwhile"), "it changed meanwhile"),
        (NotFound("memory"), "memory not found"),
        (Forbidden("this key cannot write"), "this key cannot write"),
    ],
)
def test_an_error_says_the_same_after_a_trip_through_the_queue(error: Exception, says: str) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert str(error) == str(copy) == says
    assert vars(error) == vars(copy)
