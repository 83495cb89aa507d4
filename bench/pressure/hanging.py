"""A model server that takes every request and never answers."""

import socket
import threading
from collections import deque
from contextlib import suppress
from types import TracebackType
from typing import Self

MOST = 500  # connections held at a time; the oldest is given up


class HangingServer:
    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.held: deque[socket.socket] = deque()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listening.getsockname()[1]}/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._hold, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.listening.close()
        for each in self.held:
            each.close()

    def _hold(self) -> None:
        with suppress(OSError):  # closed: that is the end
            while True:
                self.held.append(self.listening.accept()[0])
                if len(self.held) > MOST:
                    self.held.popleft().close()
