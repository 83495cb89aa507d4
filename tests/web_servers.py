"""Servers that no library would be: answers byte by byte, over a real socket."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Answer = Callable[[socket.socket], None]


@contextmanager
def raw_server(answer: Answer) -> Iterator[str]:
    """Its address; every connection is handed to `answer`, once its request came."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.1)
    is_over = threading.Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.recv(65_536)
            answer(connection)

    def accept() -> None:
        while not is_over.is_set():
            with suppress(TimeoutError):
                connection, _ = listener.accept()
                connection.settimeout(5)
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{listener.getsockname()[1]}/"
    finally:
        is_over.set()
        thread.join()
        listener.close()


def dripping(start: bytes) -> Answer:
    """After `start` a byte now and then, without an end."""

    def answer(connection: socket.socket) -> None:
        connection.sendall(start)
        while True:
            connection.sendall(b"a")
            time.sleep(0.02)

    return answer


def endless(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
    while True:
        connection.sendall(b"and on and on " * 4_000)


def hinting(connection: socket.socket) -> None:
    """One interim answer after the other, and never one."""
    while True:
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n")
        time.sleep(0.02)


def telling(answer: Answer, has_ended: threading.Event) -> Answer:
    """As `answer`; `has_ended` is set when the other side shut the connection."""

    def told(connection: socket.socket) -> None:
        try:
            answer(connection)
        except ConnectionError:
            has_ended.set()

    return told
