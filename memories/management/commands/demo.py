"""The example workspace, from the shell: one person's spring and summer, told through the same
verbs that agents and people use, so that each idea of the product has something that shows it.

Every message has an id of its own and every act looks whether it is done: told again, nothing is
doubled, and what was stopped goes on."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.core.management.base import CommandParser
from django.urls import reverse
from django.utils import timezone

from memories import ingest
from memories.belief import review
from memories.documents import document_store
from memories.documents.document_store import NewDocument
from memories.ingest import IngestRequest, NewMessage
from memories.management.command_options import CommandWithExamples
from memories.models import Case, Document, Memory, MemorySession
from memoryproject.postgres import visible
from workspaces.models import Subject, User, Workspace
from workspaces.new_workspace import NewWorkspace, create_workspace
from workspaces.scope import Scope, owner_scope

SLUG, NAME = "demo-mira", "Example: Mira's bakery"
PERSON = "mira"
BEGINS = 90  # days before it is told


@dataclass(frozen=True, slots=True)
class StoryTurn:
    """One turn of the story: Mira's words so many days after its beginning, and the answer."""

    day: int
    said: str
    answered: str


SPRING = (
    StoryTurn(0, "Hi! I live in Ghent and I work as a baker.", "Nice to meet you."),
    StoryTurn(1, "I prefer tea to coffee.", "Tea it is."),
    StoryTurn(3, "I swim at the Blaarmeersen pool because it's close to my flat.", "That sounds good."),
    StoryTurn(5, "I'm allergic to walnuts.", "I will keep that in mind for recipes."),
    StoryTurn(8, "My oven supplier is Verhulst.", "Noted."),
)
SUMMER = (
    StoryTurn(60, "Big news: I moved to Antwerp.", "Congratulations!"),
    StoryTurn(61, "I prefer coffee to tea.", "Shall I change that?"),
    StoryTurn(62, "Always answer me in metric units.", "I will."),
)
HANDBOOK = """# Handbook of the bakery

## Opening hours

The bakery opens at six in the morning from Tuesday to Saturday. It is closed on Sunday and Monday.

## Sourdough

The starter is fed at nine in the evening, one part of starter to two parts of flour and two of
water. Loaves rest for fourteen hours at twelve degrees and are baked at 245 degrees.

## Walnuts

Bread with walnuts is baked last, on trays of its own, because of allergies.
"""


@dataclass(frozen=True, slots=True)
class StoryPlace:
    """A page of the admin, and the idea that is to be seen there."""

    idea: str
    path: str


def tell_story() -> list[StoryPlace]:
    """Make or complete the workspace of the story, and say where to look."""
    row = Workspace.objects.filter(slug=SLUG).first()
    if row is None:  # who runs the server owns it
        owner = User.objects.filter(is_superuser=True).order_by("date_joined").first()
        row = create_workspace(NewWorkspace(SLUG, NAME, owner=owner), actor="demo").workspace
    visible.narrow(row.pk)
    # No agent has part in it: what is said in the playground is compared with what was said here.
    Subject.objects.get_or_create(workspace=row, external_id=PERSON, defaults={"name": "Mira"})
    scope = owner_scope(row.pk, "demo")
    begins = timezone.now() - timedelta(days=BEGINS)
    _say(scope, "spring", SPRING, begins)
    # A person's acts in spring: one memory pinned, another corrected by hand.
    live = Memory.objects.visible_to(scope).live()
    tea = live.filter(content__contains="tea to coffee", pinned=False).first()
    if tea is not None and tea.version == 1:
        review.edit(scope, tea.pk, {"pinned": True})
    supplier = live.filter(content__contains="Verhulst", version=1).first()
    if supplier is not None:
        content = supplier.content.replace("Verhulst", "Verhaeghe")
        review.edit(scope, supplier.pk, {"content": content})
    _say(scope, "summer", SUMMER, begins)
    text = NewDocument(
        [HANDBOOK.encode()],
        filename="handbook.md",
        title="Handbook of the bakery",
        custom_id="handbook",
        container_tags=("bakery",),
        user_id=PERSON,
    )
    document = document_store.receive(scope, text).document
    return _places(scope, document, begins)


def _say(scope: Scope, thread: str, turns: tuple[StoryTurn, ...], begins: datetime) -> None:
    for turn in turns:
        at = begins + timedelta(days=turn.day)
        said = NewMessage(turn.said, "user", "Mira", created_at=at, id=f"{thread}-{turn.day}")
        answered = NewMessage(
            turn.answered,
            "assistant",
            created_at=at + timedelta(seconds=20),
            id=f"{thread}-{turn.day}-answer",
        )
        request = IngestRequest(
            messages=(said, answered),
            user_id=PERSON,
            thread_id=thread,
            extract=MemorySession.Extract.PATTERNS,
        )
        ingest.ingest(scope, request)


def _places(scope: Scope, document: Document, begins: datetime) -> list[StoryPlace]:
    """Return pages of what exists; what a person has removed since is left out."""
    rows = Memory.objects.visible_to(scope).filter(subject__external_id=PERSON).order_by("-pk")
    home = rows.filter(content__contains="Ghent").first()
    moved = rows.filter(content__contains="Antwerp").first()
    corrected = rows.filter(content__contains="Verhaeghe").first()
    cases = {case.kind: case for case in Case.objects.visible_to(scope).order_by("rank")}
    then = urlencode(
        {
            "workspace": SLUG,
            "user": PERSON,
            "query": "Where does Mira live?",
            "valid_at": f"{begins + timedelta(days=30):%Y-%m-%dT%H:%M}",
        }
    )
    pages = {
        "A chain: Mira moved, and both versions are kept, with the rule that decided": moved,
        "A correction by hand, which holds against what is said later": corrected,
        "A citation: the exact words that a memory was read from": home,
        "An ended ground: the pool was near a flat that she has left": cases.get(Case.Kind.UNCERTAIN),
        "A case: what contradicts a pinned memory waits for a person": cases.get(Case.Kind.HELD),
        "A document, cut into parts that are searched and quoted": document,
    }
    places = [
        StoryPlace(idea, reverse(f"admin:memories_{row._meta.model_name}_change", args=[row.pk]))
        for idea, row in pages.items()
        if row is not None
    ]
    search = reverse("admin:memories_search")
    travel = StoryPlace("Time travel: where she lived two months ago", f"{search}?{then}")
    return [*places, travel]


class Command(CommandWithExamples):
    help = (
        "Fill a workspace of its own with a story that shows every idea, and say where to look.\n"
        "Again, it completes what is missing and doubles nothing. `removeworkspace demo-mira`\n"
        "takes it away."
    )
    examples = (
        "  manage.py demo\n"
        "  manage.py demo --url http://127.0.0.1:8000    links instead of paths\n"
        "  manage.py up --demo                           the same, before the server starts"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default="", help="where the server answers")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        places = tell_story()
        if options["json"]:
            self.stdout.write(json.dumps([asdict(place) for place in places]))
            return
        self.stdout.write(f"{NAME}. Where to look:")
        url = options["url"].rstrip("/")
        for place in places:
            self.stdout.write(f"  {place.idea}\n    {url}{place.path}")
