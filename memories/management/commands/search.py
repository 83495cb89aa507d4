"""A search, from the shell."""

import json
import shutil
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from memories.errors import Forbidden, Invalid
from memories.management.command_options import (
    CommandWithExamples,
    add_workspace,
    one_workspace,
    whole_number,
)
from memories.search import LAYERS, NOTES, RANKINGS, SINGULAR, Hit, SearchRequest, evidence_first, search
from workspaces.models import Subject
from workspaces.scope import worker_scope

NARROWEST = 20  # characters for the text, however small the terminal


class Command(CommandWithExamples):
    help = "Search a workspace as its own backend would: all that is live, the best first."
    examples = (
        "  manage.py search 'what does Ada drink?'\n"
        "  manage.py search tea --user ada --layers memories,episodes --scores\n"
        "  manage.py search tea --ranking keyword --json | jq '.hits[0].content'"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query")
        add_workspace(parser, "the only one")
        parser.add_argument("--user", default="", metavar="ID", help="about whom")
        parser.add_argument("--agent", default="", metavar="ID", help="as this agent sees it")
        parser.add_argument("--thread", default="", metavar="ID", help="with a thread's own")
        parser.add_argument("--ranking", choices=RANKINGS, default="hybrid")
        parser.add_argument(
            "--layers",
            type=layers,
            default=(),
            help="memories, episodes, features, or several (default: memories and messages together, what was"
            " said last first)",
        )
        parser.add_argument("--limit", type=whole_number(1, 100), default=10, help="1 to 100 (default: 10)")
        parser.add_argument("--scores", action="store_true", help="how each score came about")
        parser.add_argument("--json", action="store_true")

    def handle(self, *, query: str, **options: Any) -> None:
        workspace = one_workspace(options["workspace"])
        if not query.strip():
            raise CommandError("There is nothing to look for: the query is empty.")
        request = SearchRequest(
            query,
            limit=options["limit"],
            user_id=options["user"],
            agent_id=options["agent"],
            thread_id=options["thread"],
            ranking=options["ranking"],
            layers=options["layers"] or ("memories",),
            include=frozenset({"scores"} if options["json"] else ()),
        )
        if not options["layers"]:
            request = evidence_first(request)
        try:
            answer = search(worker_scope(workspace.pk, "search"), request)
        except (Invalid, Forbidden) as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            told = {"hits": [as_json(hit) for hit in answer.hits], "tookMs": answer.took_ms}
            self.stdout.write(json.dumps(told, indent=2, default=str, ensure_ascii=False))
            return
        for line in table(answer.hits, with_scores=options["scores"]):
            self.stdout.write(line)
        known = Subject.objects.filter(workspace=workspace, external_id=options["user"])
        if not answer.hits and options["user"] and not known.exists():
            unknown = f"workspace {workspace.slug} knows no user {options['user']!r}"
            self.stdout.write(f"Nothing found: {unknown}.")
        elif not answer.hits:
            self.stdout.write("Nothing found.")
        for note in answer.notes:
            self.stderr.write(NOTES[note])
        self.stderr.write(f"{len(answer.hits)} hits in {answer.took_ms:.1f} ms")


def layers(text: str) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    unknown = [name for name in found if name not in LAYERS]
    if unknown or not found:
        raise ArgumentTypeError(f"choose from {', '.join(LAYERS)}, separated by commas")
    return found


def table(hits: list[Hit], *, with_scores: bool) -> Iterator[str]:
    """A line per hit: place, score, when, of whom, text; then the parts of its score."""
    width = shutil.get_terminal_size((120, 24)).columns
    users = max((len(hit.row.user_external or "") for hit in hits), default=0)
    for place, hit in enumerate(hits, start=1):
        row = hit.row
        user = (row.user_external or "").ljust(min(users, 20))[:20]
        head = f"{place:>3}  {hit.score:6.3f}  {SINGULAR[hit.layer]:<7}"
        head += f"  {_instant(hit):%Y-%m-%d}  {user}  "
        text, room = " ".join(row.content.split()), max(NARROWEST, width - len(head))
        yield head + (text if len(text) <= room else text[: room - 1] + "…")
        if with_scores and hit.scores:
            yield " " * 13 + "  ".join(f"{name} {value:.3f}" for name, value in hit.scores.items())


def as_json(hit: Hit) -> dict[str, Any]:
    row = hit.row
    return {
        "layer": hit.layer,
        "id": str(row.id),
        "score": hit.score,
        "scores": hit.scores,
        "ranks": hit.ranks,
        "content": row.content,
        "userId": row.user_external,
        "agentId": row.agent_external,
        "threadId": row.thread_external,
        "when": _instant(hit),
    }


def _instant(hit: Hit) -> Any:
    if hit.memory:
        return hit.memory.event_date or hit.memory.created_at
    return hit.episode.occurred_at if hit.episode else hit.feature.updated_at
