"""The RSGI application of the front."""

import asyncio
import gc
import json
import logging
import os
import resource
import sys
import tempfile
from collections.abc import Coroutine
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any

from granian.rsgi import ProtocolClosed  # type: ignore[attr-defined]

from memoryproject.log_lines import LONGEST_PATH, JSONLines, TextLines
from memoryproject.server.front.lanes import BESIDE, LANES, MCP, READ, WAITING, Lane, Options
from memoryproject.server.front.pools import Gone, Pool, PoolConnection, PoolReply, Queued, Waits
from memoryproject.server.front.rate_limits import Tenants
from memoryproject.server.front.requests import (
    Bodies,
    ClientGone,
    Disk,
    Refusal,
    Request,
    close_excess,
    no_room,
    request_of,
)
from memoryproject.server.front.streams import StreamConnection, Streams, streams_socket
from memoryproject.server.front.wire import POSITION, SESSION

log = logging.getLogger("memoryproject.server.front")

LIVE = json.dumps({"status": "ok"})
# A refused client that retries at once would keep us busy with refusals.
BREATH, MOST_BREATHING = 0.5, 1000
PATIENT = 1.0  # seconds; a client that goes sooner is answered all the same
OPENED_BY = 20.0  # seconds after which an answer's file is open, and its name can go
# Seconds for which a tenant's requests of a kind go directly to the other lane.
SERVED_ELSEWHERE = 60.0
COUNTED_EVERY = 0.25  # seconds between two counts of connections
# A larger body is read only once its sender is known: unknown senders may send no more.
UNPROVEN = 2**16
WHO = "/api/v1/workspaces"  # shows whose a credential is, and changes nothing


class Front:
    def __init__(self, options: Options) -> None:
        self.options = options
        self.pools: dict[str, Pool] = {name: Pool(lane) for name, lane in LANES.items()}
        self.tenants = Tenants()
        self.disk = Disk(options.least_free)
        self.bodies = Bodies(options.largest_body, options.body_seconds, self.disk)
        self.waits = Waits(self.pools[BESIDE.name])
        self.streams = Streams()
        self.elsewhere: dict[tuple[str, str], float] = {}
        self.breathing = 0
        self.refused: dict[str, int] = {}

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        most = self.options.most_connections
        if files != resource.RLIM_INFINITY:
            most = min(most, files)
        for path, connection in (
            (self.options.socket, lambda: PoolConnection(self.pools)),
            (streams_socket(self.options.socket), lambda: StreamConnection(self.streams)),
        ):
            with suppress(FileNotFoundError):
                os.unlink(path)
            loop.run_until_complete(loop.create_unix_server(connection, path))
        self.bound_connections(loop, most * 3 // 4)
        gc.freeze()  # what is loaded stays, and is not looked through again

    def bound_connections(self, loop: asyncio.AbstractEventLoop, most: int) -> None:
        """Close excess connections, now and regularly, below the limit at which clients wait."""
        if closed := close_excess(most):
            log.warning("%d connections were closed: there were more than %d", closed, most)
        loop.call_later(COUNTED_EVERY, self.bound_connections, loop, most)

    async def __rsgi__(self, scope: Any, proto: Any) -> None:
        if scope.path == "/health/live":
            proto.response_str(200, [("content-type", "application/json")], LIVE)
            return
        request = request_of(scope, behind_proxy=self.options.behind_proxy)
        try:
            await self.serve(request, scope, proto)
        except Refusal as refusal:
            await self.refuse(request, refusal, proto)
        except ClientGone:
            proto.response_empty(408, [])
        except ProtocolClosed:
            log.debug("request %s: its client went", request.request_id)
        except Exception:
            log.exception("request %s failed in the front", request.request_id)
            await self.refuse(request, Refusal(500, "The server failed.", "internal"), proto)

    async def serve(self, request: Request, scope: Any, proto: Any) -> None:
        known = await self.tenants.known(request)
        options = self.options
        self.tenants.check_caps(
            request,
            known=known,
            key=options.key_cap,
            workspace=options.workspace_cap,
            anonymous=options.anonymous_cap,
        )
        with nullcontext() if known else self.tenants.asking(request):
            headers = scope.headers
            length = headers.get("content-length", "")
            if not known and length.isdigit() and int(length) > UNPROVEN:
                if refusal := await self.refusal_of_unknown(request):
                    await self.bodies.drain(proto)
                    await self.send(request, refusal, proto)
                    return
                known = True
            self.check_share(request, known=known)
            holder = request.tenant
            has_body = (length and length != "0") or "transfer-encoding" in headers
            if has_body and request.is_upload:
                largest = max(options.largest_upload, options.largest_body)
                request.spooled = await self.bodies.spool(proto, length, holder, largest)
            elif has_body:
                request.body = await self.bodies.read(proto, length, holder, known=known)
            try:
                if has_body:
                    self.check_share(request, known=known)  # other bodies came meanwhile
                reply = await self.unless_gone(self.answer(request), proto)
            finally:
                self.bodies.release(len(request.body), holder)
                if request.spooled is not None:
                    os.unlink(request.spooled[0])
                    self.disk.give_back(holder, request.spooled[1])
        if "stream" in reply.head:
            await self.streams.pass_on(request, reply, proto)
            return
        await self.send(request, reply, proto)

    async def refusal_of_unknown(self, request: Request) -> PoolReply | None:
        """Ask a process about an unknown credential: its refusal, or None if it is valid."""
        environ = {**request.environ, "REQUEST_METHOD": "GET", "PATH_INFO": WHO}
        question = replace(
            request,
            method="GET",
            path=WHO,
            lane=READ,
            environ={**environ, "QUERY_STRING": "limit=1", "CONTENT_TYPE": ""},
        )
        self.check_share(question, known=False)
        reply = await self.work(question, READ)
        return None if self.tenants.name(request) else reply

    def check_share(self, request: Request, *, known: bool) -> None:
        """Raise Refusal where this tenant already has its share of the lane."""
        pool = self.pools[request.lane.name]
        if known:
            pool.queue.saw(request.tenant)
        if pool.queue.is_full(request.tenant):
            detail = "Others wait too: this asks for too much at once."
            raise Refusal(429, detail, "share", wait=pool.pause(request.tenant))

    async def answer(self, request: Request) -> PoolReply:
        """The reply of a process, from any lane that can give it."""
        kind = (request.tenant, request.path)
        loop = asyncio.get_running_loop()
        lane = WAITING if self.elsewhere.get(kind, 0.0) > loop.time() else request.lane
        reply = await self.work(request, lane)
        if "elsewhere" in reply.head:
            if len(self.elsewhere) > 10_000:
                self.elsewhere.clear()
            self.elsewhere[kind] = loop.time() + SERVED_ELSEWHERE
            reply = await self.work(request, LANES[reply.head["elsewhere"]])
        wait = reply.head.get("wait")
        if wait and await self.waits.until_settled(*wait):
            request.environ[SESSION] = wait[0]
            reply = await self.work(request, MCP if request.lane is MCP else READ)
        return reply

    async def work(self, request: Request, lane: Lane) -> PoolReply:
        name = f"{request.method} {request.path[:LONGEST_PATH]}, request {request.request_id}"
        request.environ[POSITION] = self.tenants.position_of(request.tenant)
        for attempt in (1, 2):
            try:
                reply = await self.pools[lane.name].reply_to(
                    request.frame, tenant=request.tenant, asker=request.asker, name=name
                )
            except Queued:
                raise Refusal(503, "The server is busy: no turn came.", "busy", wait=5) from None
            except Gone as gone:
                if gone.stuck:
                    detail = f"This took longer than {lane.work:.0f} seconds and was ended."
                    raise Refusal(504, detail, "stuck") from None
                if lane is READ and attempt == 1:  # it changed nothing: another one can answer
                    continue
                detail = "The process that had this ended before it answered."
                raise Refusal(503, detail, "process_ended", wait=1) from None
            tenant = reply.head.get("tenant")
            if tenant:
                self.tenants.learn(request.credential, tenant, reply.head.get("cap"))
            if position := reply.head.get("position"):
                self.tenants.saw(tenant or request.tenant, position)
            return reply
        raise AssertionError

    async def unless_gone(self, answer: Coroutine[Any, Any, PoolReply], proto: Any) -> PoolReply:
        """The reply; given up if the client leaves while it waits."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        watching: list[asyncio.Task[None]] = []
        gone = False

        async def watch() -> None:
            nonlocal gone
            await proto.client_disconnect()
            gone = True
            if task:
                task.cancel()

        timer = loop.call_later(PATIENT, lambda: watching.append(loop.create_task(watch())))
        try:
            return await answer
        except asyncio.CancelledError:
            if not gone:
                raise
            raise ClientGone from None
        finally:
            timer.cancel()
            for watcher in watching:
                watcher.cancel()

    async def send(self, request: Request, reply: PoolReply, proto: Any) -> None:
        status = reply.head["status"]
        headers = [(name.lower(), value) for name, value in reply.head["headers"]]
        body = reply.body
        if request.path == "/metrics" and status == 200:
            body += self.metrics().encode()
            headers = [header for header in headers if header[0] != "content-length"]
        if reply.parts is None:
            proto.response_bytes(status, headers, body)
            return
        # Received completely before any of it is sent: no process waits for a client that reads
        # slowly, and an answer that breaks off is none.
        path, size = await self.spooled(body, reply, request.tenant)
        loop = asyncio.get_running_loop()
        loop.call_later(OPENED_BY, os.unlink, path)
        loop.call_later(OPENED_BY, self.disk.give_back, request.tenant, size)
        proto.response_file(status, headers, path)

    async def spooled(self, body: bytes, reply: PoolReply, tenant: str) -> tuple[str, int]:
        """Write a long answer to a file; its path and its size."""
        size = 0
        with tempfile.NamedTemporaryFile(prefix="memoryproject-", delete=False) as file:
            try:
                self.disk.take(tenant, len(body))
                size += file.write(body)
                async for part in reply.rest():
                    self.disk.take(tenant, len(part), size)
                    size += file.write(part)
            except BaseException as error:
                os.unlink(file.name)
                self.disk.give_back(tenant, size)
                if isinstance(error, Gone):
                    detail = "The process that had this ended before it answered."
                    raise Refusal(503, detail, "process_ended", wait=1) from None
                if isinstance(error, OSError):
                    raise no_room() from error
                raise
        return file.name, size

    async def refuse(self, request: Request, refusal: Refusal, proto: Any) -> None:
        self.refused[refusal.code] = self.refused.get(refusal.code, 0) + 1
        log.warning(
            "%s %s %s: %s (%s) for %s key %s, request %s",
            refusal.status,
            request.method,
            request.path[:LONGEST_PATH],
            refusal.detail,
            refusal.code,
            request.address,
            request.key_prefix or "-",
            request.request_id,
            extra={"request_id": request.request_id},
        )
        if refusal.status == 429 and self.breathing < MOST_BREATHING:
            self.breathing += 1
            try:
                await asyncio.sleep(BREATH)
            finally:
                self.breathing -= 1
        proto.response_str(refusal.status, refusal.headers(request.request_id), refusal.body(request.request_id))

    def metrics(self) -> str:
        """The metrics of the front alone, in Prometheus' text format."""
        lines = []
        counted = {
            "waiting": {name: pool.queue.waiting for name, pool in self.pools.items()},
            "busy": {name: len(p.connections) - len(p.idle) for name, p in self.pools.items()},
            "places": {name: len(pool.connections) for name, pool in self.pools.items()},
            "killed_total": {name: pool.killed for name, pool in self.pools.items()},
        }
        for name, values in counted.items():
            kind = "counter" if name.endswith("_total") else "gauge"
            lines.append(f"# TYPE memory_front_{name} {kind}")
            lines += [f'memory_front_{name}{{lane="{lane}"}} {v}' for lane, v in values.items()]
        lines.append("# TYPE memory_front_refused_total counter")
        lines += [
            f'memory_front_refused_total{{code="{code}"}} {count}' for code, count in sorted(self.refused.items())
        ]
        lines.append("# TYPE memory_front_bodies_bytes gauge")
        lines.append(f"memory_front_bodies_bytes {self.bodies.held}")
        lines.append("# TYPE memory_front_streams gauge")
        lines.append(f"memory_front_streams {self.streams.open}")
        lines.append("# TYPE memory_front_streams_dropped_total counter")
        lines.append(f"memory_front_streams_dropped_total {self.streams.dropped}")
        return "\n".join([*lines, ""])


def application() -> Front:
    options = Options.of_variable()
    handler = logging.StreamHandler(sys.stderr)
    text = TextLines("%(asctime)s %(levelname)s %(name)s: %(message)s")
    handler.setFormatter(JSONLines() if options.log_format == "json" else text)
    logging.basicConfig(handlers=[handler], level=options.log_level)
    return Front(options)
