"""The example workspace, from the shell."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from memories.management.command_options import CommandWithExamples
from memories.management.demo_story import NAME, tell_story


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
