"""API keys of a workspace, from the shell: listed, revoked, rotated."""

import json
from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError

from memories.management.command_options import (
    CommandWithExamples,
    add_workspace,
    one_workspace,
    span,
)
from memoryproject.log_lines import printable
from workspaces.keys import KeyOver, revoke_key, rotate_key
from workspaces.models import ApiKey, Workspace

ACTOR = "keys"


class Command(CommandWithExamples):
    help = (
        "List the API keys of a workspace, revoke one, or rotate one: a new key that may do the\n"
        "same, while the old one ends. `createkey` makes keys."
    )
    examples = (
        "  manage.py keys list\n"
        "  manage.py keys list --all --json                  revoked and expired ones, too\n"
        "  manage.py keys revoke 3f9a01bc22de\n"
        "  manage.py keys rotate 3f9a01bc22de --overlap 24h  the old one is good for a day more\n"
        "  manage.py keys revoke 3f9a01bc22de --dry-run"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("act", choices=("list", "revoke", "rotate"))
        parser.add_argument("prefix", nargs="?", default="", help="the key's, as `list` shows it")
        add_workspace(parser, "the only one")
        parser.add_argument("--all", action="store_true", help="list what is over, too")
        parser.add_argument(
            "--overlap",
            type=span,
            default=timedelta(),
            metavar="TIME",
            help="how long a rotated key is still good: 30m, 24h, 7d (default: not at all)",
        )
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        workspace = one_workspace(options["workspace"])
        if options["act"] == "list":
            self._list(workspace, options)
            return
        rows = ApiKey.objects.filter(workspace=workspace)
        key = rows.filter(prefix=options["prefix"].removeprefix("mp_")).first()
        if key is None:
            raise CommandError(f"There is no key {options['prefix']!r}: see `keys list`.")
        what = {"revoke": "is revoked", "rotate": "is rotated"}[options["act"]]
        text = ""
        if not options["dry_run"] and options["act"] == "revoke":
            revoke_key(key, actor=ACTOR)
        elif not options["dry_run"]:
            try:
                key, text = rotate_key(key, actor=ACTOR, overlap=options["overlap"])
            except KeyOver as error:
                raise CommandError(str(error)) from None
        would = "would be: it " if options["dry_run"] else ""
        if options["json"]:
            done = {"act": options["act"], "prefix": key.prefix, "dryRun": options["dry_run"]}
            self.stdout.write(json.dumps(done | ({"key": text} if text else {})))
            return
        self.stderr.write(f"Key {options['prefix']} ({printable(key.name)}) {would}{what}.")
        if text:
            self.stdout.write(text)

    def _list(self, workspace: Workspace, options: dict[str, Any]) -> None:
        rows = ApiKey.objects.filter(workspace=workspace).select_related("agent")
        keys = [key for key in rows.order_by("id") if options["all"] or key.is_active]
        if options["json"]:
            self.stdout.write(json.dumps([as_json(key) for key in keys], indent=2))
            return
        for key in keys:
            told = as_json(key)
            agent = told["agent"] or "all of the workspace"
            spaces = f", spaces {', '.join(key.container_tags)}" if key.container_tags else ""
            cap = f", {key.per_minute} a minute" if key.per_minute else ""
            used = f"last used {told['lastUsedAt']}" if told["lastUsedAt"] else "never used"
            self.stdout.write(
                f"{key.prefix}  {told['state']:8} {printable(key.name)}: {agent};"
                f" {', '.join(key.capabilities)}{spaces}{cap}; {used}"
            )


def as_json(key: ApiKey) -> dict[str, Any]:
    is_over = "revoked" if key.revoked_at else "expired"
    times = {
        "expiresAt": key.expires_at,
        "revokedAt": key.revoked_at,
        "lastUsedAt": key.last_used_at,
    }
    return {
        "prefix": key.prefix,
        "name": key.name,
        "state": "active" if key.is_active else is_over,
        "agent": key.agent.external_id if key.agent else None,
        "containerTags": key.container_tags,
        "capabilities": key.capabilities,
        "perMinute": key.per_minute,
        **{name: at.isoformat() if at else None for name, at in times.items()},
    }
