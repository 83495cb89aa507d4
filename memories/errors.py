"""Errors that every layer may raise. The APIs turn them into problem+json."""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Self, TypeVar

Row = TypeVar("Row")


class ProviderError(Exception):
    """An outside or embedded model could not do its work.

    `permanent`: asking the same again cannot help until a person changes something. `foreign` is
    the text of the other side: the message has it, and `in_own_words` leaves it out. `retry_after`
    is the wait in seconds that the server asked for, if it did. `status` is that of an answer over
    HTTP. `follows_answer`: the call before, of whomever, was answered, so that the fault may be the question's.
    """

    status: int | None = None
    follows_answer = False

    def __init__(self, message: str, permanent: bool, retry_after: float | None = None, *, foreign: str = "") -> None:
        super().__init__(message, permanent, retry_after)
        self.own_words = message
        self.message = f"{message}: {foreign}" if foreign else message
        self.permanent = permanent
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.message

    @property
    def is_outage(self) -> bool:
        """Tell whether the model is away for all: asking later helps, and it is no fault of the question."""
        return not (self.permanent or isinstance(self, CapReached | UnreadableAnswer))

    def in_own_words(self) -> Self:
        """The same error without the text of the other side."""
        error = copy(self)
        error.message = self.own_words
        return error


class Unasked(ProviderError):
    """The model was not called, or not given its full time: this says nothing about its state."""


class CapReached(Unasked):
    """The calls that somebody allowed for a day are used up: no failure, not worth waiting for."""


class BudgetSpent(CapReached):
    """The budget of the workspace for models is used up."""


class TimedOut(ProviderError):
    """The model had its full time and did not answer."""


class UnreadableAnswer(ProviderError):
    """The model answered, and this one answer cannot be used: no JSON, cut off, or a refusal."""


class Misconfigured(ProviderError):
    """The model will answer nobody until a person changes key, address, model or bill."""


class Invalid(Exception):
    """The caller's input cannot be accepted; `field` is its path in the caller's own words.
    `others` are further faults of the same input."""

    def __init__(self, field: str, message: str, code: str = "invalid", others: Iterable["Invalid"] = ()) -> None:
        super().__init__(field, message, code)
        self.field = field
        self.message = message
        self.code = code
        self.others = tuple(others)

    @property
    def all(self) -> list["Invalid"]:
        return [self, *self.others]

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def refuse(faults: Sequence[Invalid]) -> None:
    """Raise Invalid with all of the faults, if there are any."""
    if faults:
        first, *others = faults
        raise Invalid(first.field, first.message, first.code, others)


class Conflict(Exception):
    """The input is fine, but its object has changed or contradicts it."""

    def __init__(self, message: str, code: str = "conflict", field: str = "") -> None:
        super().__init__(message, code, field)
        self.message = message
        self.code = code
        self.field = field

    def __str__(self) -> str:
        return self.message


class NoRoom(Conflict):
    """A file cannot be kept: the disk has less room than the operator wants free."""

    def __init__(
        self,
        message: str = "The server's disk has too little room to keep this.",
        code: str = "no_room",
    ) -> None:
        super().__init__(message, code)


class WorkspaceFull(NoRoom):
    """A file cannot be kept: with it the files of its workspace were more than its share."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="workspace_full")


class NotFound(Exception):
    """There is no such thing, or the caller may not know of it: the two must look the same."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"{self.what} not found"


def needed(row: Row | None, what: str) -> Row:
    """Return the row that was looked for. Raises NotFound where there is none."""
    if row is None:
        raise NotFound(what)
    return row


class Forbidden(Exception):
    """The caller is known and may not do this."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message, field)
        self.message = message
        self.field = field

    def __str__(self) -> str:
        return self.message


def erased() -> Conflict:
    """The error of an ingest whose words were erased while they were read."""
    return Conflict("What was sent was erased meanwhile.", code="erased")


def refuse_narrow(is_narrow: bool) -> None:
    """Raise Forbidden for a key of an agent, or one limited to subjects or spaces."""
    if is_narrow:
        raise Forbidden("This needs a key that sees all of the workspace.")
