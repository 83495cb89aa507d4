"""What can go wrong, in words that every floor may use. Doors turn these into problem+json."""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Self, TypeVar

Row = TypeVar("Row")


class ProviderError(Exception):
    """An outside or embedded model could not do its work.

    `permanent` when asking the same again cannot help until a person changes something. `foreign`
    is what the other side wrote: the message has it, and `in_own_words` leaves it out.
    `retry_after` is the wait in seconds that the server asked for, where it did. `status` is that
    of an answer over HTTP.
    """

    status: int | None = None

    def __init__(
        self, message: str, permanent: bool, retry_after: float | None = None, *, foreign: str = ""
    ) -> None:
        super().__init__(message, permanent, retry_after)
        self.own_words = message
        self.message = f"{message}: {foreign}" if foreign else message
        self.permanent = permanent
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.message

    def in_own_words(self) -> Self:
        """The same, without what the other side wrote."""
        error = copy(self)
        error.message = self.own_words
        return error


class Unasked(ProviderError):
    """It was not asked, or not given its full time: this says nothing about how it does."""


class CapReached(Unasked):
    """The calls that somebody allowed for a day are used up: no failure, and not worth waiting."""


class BudgetSpent(CapReached):
    """What the workspace may spend on models is spent."""


class TimedOut(ProviderError):
    """It had its full time and did not answer."""


class UnreadableAnswer(ProviderError):
    """It answered, and this one answer cannot be used."""


class Misconfigured(ProviderError):
    """It will answer nobody until a person changes key, address, model or bill."""


class Invalid(Exception):
    """The caller's input cannot be accepted; `field` is its path in the caller's own words.
    `others` are what else is wrong with the same input."""

    def __init__(
        self, field: str, message: str, code: str = "invalid", others: Iterable["Invalid"] = ()
    ) -> None:
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
    """Raise Invalid with all of them, where there are any."""
    if faults:
        first, *others = faults
        raise Invalid(first.field, first.message, first.code, others)


class Conflict(Exception):
    """The input is fine, but what it is about has changed or says otherwise."""

    def __init__(self, message: str, code: str = "conflict", field: str = "") -> None:
        super().__init__(message, code, field)
        self.message = message
        self.code = code
        self.field = field

    def __str__(self) -> str:
        return self.message


class NoRoom(Conflict):
    """A file cannot be kept: the disk has less room than the operator wants free."""

    def __init__(self) -> None:
        super().__init__("The server's disk has too little room to keep this.", code="no_room")


class NotFound(Exception):
    """There is no such thing, or the caller may not know of it: the two must look the same."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"{self.what} not found"


def needed(row: Row | None, what: str) -> Row:
    """The row that was looked for. Raises NotFound where there is none."""
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
    """What an ingest says whose words went while they were read."""
    return Conflict("What was sent was erased meanwhile.", code="erased")


def refuse_narrow(is_narrow: bool) -> None:
    """Raises Forbidden for a key of an agent, or one limited to subjects or spaces."""
    if is_narrow:
        raise Forbidden("This needs a key that sees all of the workspace.")
