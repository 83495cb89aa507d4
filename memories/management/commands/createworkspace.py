"""A new workspace, from the shell."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email
from django.urls import reverse

from memories.management.command_options import CommandWithExamples
from memories.settings.workspace_templates import TEMPLATES
from workspaces.models import Workspace
from workspaces.new_workspace import NewWorkspace, SlugTaken, create_workspace, fault_of_slug


class Command(CommandWithExamples):
    help = "Make a workspace, and what is needed to begin with it."
    examples = (
        "  manage.py createworkspace acme --name 'Acme Ltd'\n"
        "  manage.py createworkspace acme --key              with a first key, shown once\n"
        "  manage.py createworkspace helpdesk --template support\n"
        "  manage.py createworkspace acme --owner ada@example.org\n"
        "  manage.py createworkspace acme --owner ada@example.org --dry-run\n"
        "  manage.py createworkspace acme --key --json       one line of JSON for a script"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", help="its name in addresses")
        parser.add_argument("--name", default="", help="its name for people (default: the slug)")
        parser.add_argument("--key", action="store_true", help="make a first key and print it")
        parser.add_argument("--template", choices=sorted(TEMPLATES), help="settings to begin with")
        parser.add_argument("--owner", default="", metavar="EMAIL", help="invite somebody as its owner")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be made")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        slug, name, owner = options["slug"], options["name"] or options["slug"], options["owner"]
        if fault := fault_of_slug(slug):
            raise CommandError(f"slug: {fault}")
        if len(name) > 200 or "\0" in name:
            raise CommandError("name: 200 characters at most.")
        if owner:
            try:
                validate_email(owner)
            except ValidationError as error:
                raise CommandError(f"owner: {error.messages[0]}") from error
        if options["dry_run"]:
            if Workspace.objects.filter(slug=slug).exists():
                raise CommandError(f"There is a workspace {slug!r} already.")
            self._show(options, {"slug": slug, "name": name, "owner": owner, "dryRun": "yes"})
            return
        try:
            chosen = TEMPLATES.get(options["template"], {})
            new = NewWorkspace(slug, name, owner_email=owner, with_key=options["key"], settings=chosen)
            made = create_workspace(new, actor="createworkspace")
        except SlugTaken:
            raise CommandError(f"There is a workspace {slug!r} already.") from None
        told = {"slug": slug, "id": str(made.workspace.pk), "name": name}
        if made.key:
            told["key"] = made.key
        if made.invitation:
            told["invitePath"] = reverse("invitation", args=[made.invitation.pk, made.token])
        self._show(options, told)

    def _show(self, options: dict[str, Any], told: dict[str, str]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(told))
            return
        self.stdout.write("\n".join(f"{what:12}{value}" for what, value in told.items()))
