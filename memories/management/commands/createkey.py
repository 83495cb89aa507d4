"""A new API key, from the shell."""

import json
import re
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError

from memories.management.command_options import (
    CommandWithExamples,
    add_workspace,
    moment,
    one_workspace,
    whole_number,
)
from workspaces import keys
from workspaces.keys import KeyOptions, issue_key
from workspaces.models import ApiKey, Capability, ServerKey
from workspaces.models.key import CONTAINER_TAG
from workspaces.scope import agent_to_write, subject_to_write, worker_scope

OF_A_WORKSPACE = ("workspace", "agent", "subject", "space", "capability", "per_minute")


class Command(CommandWithExamples):
    help = (
        "Make an API key and print it, once: it is stored as a digest alone.\n"
        "The key stands alone on standard output; what it may do is told on standard error."
    )
    examples = (
        "  manage.py createkey                              the workspace's own backend\n"
        "  manage.py createkey --agent support-bot --name 'Support bot'\n"
        "  manage.py createkey --subject ada --subject bob --capability read --expires 30d\n"
        "  manage.py createkey --space handbook             documents of one space alone\n"
        "  manage.py createkey --json                       one line of JSON for a script\n"
        "  KEY=$(manage.py createkey --workspace demo)\n"
        "  manage.py createkey --server                     makes and removes workspaces"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "the only one")
        parser.add_argument("--name", default="", help="what people see in the list of keys")
        parser.add_argument("--agent", default="", metavar="ID", help="the agent it belongs to (default: none)")
        parser.add_argument(
            "--subject",
            nargs="+",
            action="extend",
            metavar="ID",
            help="limit it to these users (default: all)",
        )
        parser.add_argument(
            "--space",
            nargs="+",
            action="extend",
            type=container_tag,
            metavar="TAG",
            help="limit it to the documents of these spaces (default: all)",
        )
        parser.add_argument(
            "--capability",
            nargs="+",
            action="extend",
            choices=Capability.values,
            help="what it may do (default: all)",
        )
        parser.add_argument("--expires", type=moment, metavar="WHEN", help="30d, 12h, 2w, or a date")
        parser.add_argument(
            "--per-minute",
            type=whole_number(1, 10_000_000),
            metavar="N",
            help="requests a minute (default: no cap)",
        )
        parser.add_argument(
            "--server",
            action="store_true",
            help="a key of the server: it makes and removes workspaces, and does nothing else",
        )
        parser.add_argument("--revoke", default="", metavar="PREFIX", help="with --server: revoke that key")

        parser.add_argument("--json", action="store_true", help="print JSON, with the key in it")

    def handle(self, **options: Any) -> None:
        if options["server"]:
            self._server_key(options)
            return
        if options["revoke"]:
            raise CommandError("A workspace's keys are revoked by `keys revoke PREFIX`.")
        workspace = one_workspace(options["workspace"])
        scope = worker_scope(workspace.pk, "createkey")
        agent = agent_to_write(scope, options["agent"])
        names = None if options["subject"] is None else tuple(dict.fromkeys(options["subject"]))
        subjects = None if names is None else [subject_to_write(scope, name) for name in names]
        wanted = KeyOptions(
            name=options["name"] or options["agent"] or "made by createkey",
            capabilities=tuple(dict.fromkeys(options["capability"] or ())),
            agent=agent,
            subjects=None if subjects is None else tuple(s for s in subjects if s is not None),
            expires_at=options["expires"],
            per_minute=options["per_minute"],
            container_tags=tuple(dict.fromkeys(options["space"] or ())) or None,
        )
        key, text = issue_key(workspace.pk, wanted, actor=scope.actor)
        if options["json"]:
            self.stdout.write(_as_json(key, text, workspace=workspace.slug))
            return
        expires = f"{key.expires_at:%Y-%m-%d %H:%M} UTC" if key.expires_at else "never"
        self.stderr.write(
            f"Key {key.prefix} ({key.name}) of workspace {workspace.slug}; it is shown only now.\n"
            f"  agent    {agent.external_id if agent else 'none: sees all of the workspace'}\n"
            f"  users    {', '.join(names) if names else 'all'}\n"
            f"  spaces   {', '.join(key.container_tags) if key.container_tags else 'all'}\n"
            f"  may      {', '.join(key.capabilities)}\n"
            f"  expires  {expires}"
        )
        self.stdout.write(text)

    def _server_key(self, options: dict[str, Any]) -> None:
        if named := [name for name in OF_A_WORKSPACE if options[name]]:
            raise CommandError(f"A server key is of no workspace: leave out --{named[0].replace('_', '-')}.")
        if prefix := options["revoke"]:
            if not keys.revoke_server_key(prefix):
                raise CommandError(f"No server key {prefix!r} is in use.")
            self.stdout.write(f"Server key {prefix} is revoked.")
            return
        key, text = keys.issue_server_key(
            options["name"] or "made by createkey", actor="createkey", expires_at=options["expires"]
        )
        if options["json"]:
            self.stdout.write(_as_json(key, text))
            return
        expires = f"{key.expires_at:%Y-%m-%d %H:%M} UTC" if key.expires_at else "never"
        self.stderr.write(
            f"Server key {key.prefix} ({key.name}); it is shown only now.\n"
            f"  may      make and remove workspaces\n  expires  {expires}"
        )
        self.stdout.write(text)


def _as_json(key: ApiKey | ServerKey, text: str, **more: str) -> str:
    expires = key.expires_at.isoformat() if key.expires_at else None
    return json.dumps({"key": text, "prefix": key.prefix, "name": key.name, "expiresAt": expires, **more})


def container_tag(text: str) -> str:
    """For argparse."""
    if not re.fullmatch(CONTAINER_TAG, text):
        raise ArgumentTypeError(f"{text!r} is no tag of a space: up to 100 of A-Z a-z 0-9 _ : . -")
    return text
