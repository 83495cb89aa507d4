"""The web processes, without their front: those that answer requests, and those with an event loop, which speak MCP,
stream events and call webhooks. All are forked from one that has loaded what they share."""

import asyncio
import gc
import os
from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.urls import get_resolver

from memories.api import chat_routes
from memories.api.chat_routes import LiveChat
from memories.events import live_events
from memories.events.live_events import LiveEvents
from memories.events.webhook_sender import MOST_AT_ONCE, WebhookSender
from memories.management.command_options import PrintableCommand
from memories.mcp.protocol import McpDoor
from memoryproject.server.front.lanes import CHATS_AT_ONCE, MCP, Lane
from memoryproject.server.front.streams import streams_socket
from memoryproject.server.mcp_process import McpProcess
from memoryproject.server.stream_process import StreamProcess, Threads
from memoryproject.server.web_processes import Application, Parent, lanes_of_web, serve_lane


class Command(PrintableCommand):
    help = "Run the web processes until SIGTERM, behind the front that `up` starts beside them."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--front", required=True, help="socket where the front waits for them")
        parser.add_argument("--processes", type=int, default=1, help="so many that read, and as many that write")

    def handle(self, *, front: str, processes: int, **_: Any) -> None:
        # Only here: its import starts this process's timer and fills its caches.
        from memoryproject.wsgi import application

        get_resolver().url_patterns  # noqa: B018  every view is loaded once, for all
        gc.collect()
        gc.freeze()  # what is shared stays shared
        # Rings are few here: to look for them at every few hundred objects took a twentieth of the
        # time of a search.
        gc.set_threshold(10_000)
        Parent(front, lanes_of_web(processes), partial(serve, application=application)).run()


def serve(lane: Lane, front: str, application: Application) -> None:
    """Run a child; it does not return."""
    if lane is MCP:
        asyncio.run(_serve_streams(lane, front))
        os._exit(0)
    serve_lane(lane, front, application)


async def _serve_streams(lane: Lane, front: str) -> None:
    streams = StreamProcess(streams_socket(front))
    # Apart from each other: whoever opens many of one kind keeps none of another waiting.
    live = LiveEvents(streams.send, Threads(1, "events").run, Threads(2, "events before").run)
    streams.kinds[live_events.KIND] = live.serve
    streams.kinds[chat_routes.KIND] = LiveChat(
        streams.send, Threads(CHATS_AT_ONCE, "chat").run, Threads(1, "chat askers").run
    ).serve
    async with McpDoor().open() as door:
        sender = WebhookSender(Threads(MOST_AT_ONCE + 1, "webhooks").run)
        beside = [asyncio.create_task(each) for each in (streams.run(), sender.run())]
        await McpProcess(lane, front, door.respond).run()
        for task in beside:
            task.cancel()
