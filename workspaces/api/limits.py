"""How much one asker may ask: a bucket of requests that refills evenly, counted per process."""

import threading
import time
from dataclasses import dataclass

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from workspaces.scope import Scope
from workspaces.server_keys import ServerAsker

MOST_ASKERS = 10_000


@dataclass(slots=True)
class Bucket:
    tokens: float
    filled_at: float


_buckets: dict[str, Bucket] = {}
_lock = threading.Lock()


class AskerThrottle(BaseThrottle):
    """`RATE_LIMIT_PER_MINUTE` for each key and each member, shared out among the web processes."""

    pause = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        asker = asker_of(request)
        if asker:
            self.pause = take(asker, settings.RATE_LIMIT_PER_MINUTE / settings.WEB_PROCESSES)
        return self.pause == 0.0

    def wait(self) -> float:
        return self.pause


def asker_of(request: Request) -> str:
    if isinstance(request.auth, Scope | ServerAsker):
        return request.auth.actor
    return f"user:{request.user.pk}" if request.user else ""


def take(asker: str, per_minute: float) -> float:
    """Take one request out of the asker's bucket: 0, or the seconds until there is one again."""
    now, rate = time.monotonic(), per_minute / 60
    capacity = max(1.0, per_minute)
    with _lock:
        if len(_buckets) > MOST_ASKERS:
            _buckets.clear()
        bucket = _buckets.setdefault(asker, Bucket(capacity, now))
        bucket.tokens = min(capacity, bucket.tokens + (now - bucket.filled_at) * rate)
        bucket.filled_at = now
        if bucket.tokens < 1:
            return (1 - bucket.tokens) / rate
        bucket.tokens -= 1
    return 0.0


def forget_askers() -> None:
    """Begin with full buckets."""
    with _lock:
        _buckets.clear()
