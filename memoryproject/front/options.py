"""What `up` tells the front, which reads no settings of its own."""

import json
import os
from dataclasses import asdict, dataclass

VARIABLE = "FRONT_OPTIONS"


@dataclass(frozen=True, slots=True)
class Options:
    """`socket` is where the web processes come to, `streams` where the ASGI process listens (empty:
    there is none). Bodies in bytes, times in seconds, caps in requests per minute (0: none)."""

    socket: str
    largest_body: int
    body_seconds: float
    most_connections: int = 32_768
    behind_proxy: bool = False
    key_cap: int = 0
    workspace_cap: int = 0
    anonymous_cap: int = 0
    streams: str = ""
    log_level: str = "INFO"
    log_format: str = "text"

    def as_variable(self) -> dict[str, str]:
        return {VARIABLE: json.dumps(asdict(self))}

    @classmethod
    def of_variable(cls) -> "Options":
        return cls(**json.loads(os.environ[VARIABLE]))
