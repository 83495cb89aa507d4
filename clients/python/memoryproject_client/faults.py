"""Errors that a server answers with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldFault:
    """A fault of one field of a request; `field` is its path."""

    field: str
    message: str
    code: str


class MemoryFault(Exception):
    """The server's refusal. `status` is 0 where it could not be reached."""

    def __init__(
        self,
        detail: str,
        *,
        status: int = 0,
        code: str = "",
        errors: Sequence[FieldFault] = (),
        request_id: str = "",
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.request_id = status, code, request_id
        self.errors = tuple(errors)

    @property
    def fields(self) -> list[str]:
        """The paths of what is wrong."""
        return [error.field for error in self.errors]


def fault_of(status: int, body: Any) -> MemoryFault:
    """Make the error of a problem (RFC 9457), or of whatever a proxy in between says instead."""
    said = body if isinstance(body, dict) else {}
    errors = [
        FieldFault(str(e.get("field", "")), str(e.get("message", "")), str(e.get("code", "")))
        for e in said.get("errors", ())
    ]
    detail = str(said.get("detail") or f"The server answered {status}.")
    told = [f"{one.field}: {one.message}" for one in errors if one.message not in detail]
    return MemoryFault(
        " ".join([detail, *told]),
        status=status,
        code=str(said.get("code", "")),
        errors=errors,
        request_id=str(said.get("requestId", "")),
    )
