"""What the front answers by itself: RFC 9457 problems, in the shape that the API has."""

import json
from http import HTTPStatus

PROBLEM = "application/problem+json"


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class Refusal(Exception):
    """An answer that is an error; `wait` in seconds, for Retry-After."""

    def __init__(self, status: int, detail: str, code: str, *, wait: float = 0) -> None:
        super().__init__(detail)
        self.status, self.detail, self.code, self.wait = status, detail, code, wait

    def headers(self, request_id: str) -> list[tuple[str, str]]:
        headers = [("content-type", PROBLEM), ("x-request-id", request_id)]
        if self.wait:
            headers.append(("retry-after", str(max(1, round(self.wait)))))
        return headers

    def body(self, request_id: str) -> str:
        return json.dumps(
            {
                "type": "about:blank",
                "title": HTTPStatus(self.status).phrase,
                "status": self.status,
                "detail": self.detail,
                "code": self.code,
                "errors": [],
                "requestId": request_id,
            }
        )
