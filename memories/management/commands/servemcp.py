"""The processes with an event loop, without their front: they speak MCP, and tell what comes."""

import asyncio
import gc
import os
from argparse import ArgumentParser
from typing import Any

from memories.api import chat_routes
from memories.api.chat_routes import LiveChat
from memories.events import live_events
from memories.events.live_events import LiveEvents
from memories.events.webhook_sender import MOST_AT_ONCE, WebhookSender
from memories.index import configured_embedder
from memories.management.command_options import PrintableCommand
from memories.mcp.protocol import McpDoor
from memories.meters import stored_metrics
from memories.reading.extraction import warm_up
from memoryproject.server.front.lanes import CHATS_AT_ONCE, MCP, Lane
from memoryproject.server.front.streams import streams_socket
from memoryproject.server.mcp_process import McpProcess
from memoryproject.server.stream_process import StreamProcess, Threads
from memoryproject.server.web_processes import Parent


class Command(PrintableCommand):
    help = (
        "Run the processes that speak MCP, stream events and call webhooks until SIGTERM, behind"
        " the front that `up` starts."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--front", required=True, help="socket where the front waits for them")
        parser.add_argument("--processes", type=int, default=1, help="how many")

    def handle(self, *, front: str, processes: int, **_: Any) -> None:
        stored_metrics.start()
        warm_up()
        configured_embedder.warm_up()
        gc.collect()
        gc.freeze()  # what is shared stays shared
        Parent(front, [MCP] * processes, serve).run()


def serve(lane: Lane, front: str) -> None:
    """All that a child does; it does not return."""
    asyncio.run(_serve(lane, front))
    os._exit(0)


async def _serve(lane: Lane, front: str) -> None:
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
