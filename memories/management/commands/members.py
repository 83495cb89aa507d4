"""Members of a workspace, from the shell: listed, invited, given another role, removed."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError
from django.core.validators import validate_email
from django.urls import reverse

from memories.management.command_options import CommandWithExamples, add_workspace, one_workspace
from memoryproject.log_lines import printable
from workspaces import members
from workspaces.members import MembershipConflict
from workspaces.models import Membership, Role, Workspace
from workspaces.scope import Scope, owner_scope


class Command(CommandWithExamples):
    help = (
        "List the members of a workspace, invite somebody, give a member another role, or remove\n"
        "one. An invitation is a path below the server's address: no mail is sent."
    )
    examples = (
        "  manage.py members list\n"
        "  manage.py members invite ada@example.org --role admin\n"
        "  manage.py members role ada@example.org --role owner --workspace acme\n"
        "  manage.py members remove ada@example.org --dry-run"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("act", choices=("list", "invite", "role", "remove"))
        parser.add_argument("email", nargs="?", default="")
        add_workspace(parser, "the only one")
        parser.add_argument("--role", choices=Role.values, help="(default: viewer)")
        parser.add_argument("--name", default="", help="what the workspace calls who is invited")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        workspace, act = one_workspace(options["workspace"]), options["act"]
        if act == "list":
            self._list(workspace, as_json=options["json"])
            return
        scope = owner_scope(workspace.pk, "members")
        done: dict[str, Any] = {"act": act, "email": options["email"], "dryRun": options["dry_run"]}
        if act == "role" and not options["role"]:
            raise CommandError("Say which role: --role owner, admin, editor or viewer.")
        try:
            if act == "invite":
                done |= self._invite(scope, options)
            else:
                member = self._member(workspace, options["email"])
                done["role"] = options["role"] if act == "role" else member.role
                if not options["dry_run"] and act == "role":
                    members.change_role(scope, member, options["role"])
                elif not options["dry_run"]:
                    members.remove(scope, member)
        except MembershipConflict as error:
            raise CommandError(error.message) from None
        if options["json"]:
            self.stdout.write(json.dumps(done))
            return
        words = {"invite": "invited", "role": "given a role", "remove": "removed"}[act]
        would = "would be " if options["dry_run"] else "is "
        self.stdout.write(f"{options['email']} ({done['role']}) {would}{words}")
        if "invitePath" in done:
            self.stdout.write(done["invitePath"])

    def _invite(self, scope: Scope, options: dict[str, Any]) -> dict[str, str]:
        try:
            validate_email(options["email"])
        except ValidationError as error:
            raise CommandError(f"email: {error.messages[0]}") from None
        role = options["role"] or Role.VIEWER.value
        if options["dry_run"]:
            return {"role": role}
        row, token = members.invite(scope, options["email"], role, options["name"])
        return {"role": role, "invitePath": reverse("invitation", args=[row.pk, token])}

    @staticmethod
    def _member(workspace: Workspace, email: str) -> Membership:
        rows = Membership.objects.filter(workspace=workspace).select_related("user")
        member = rows.filter(user__email__iexact=email).first()
        if member is None:
            raise CommandError(f"There is no member {email!r}: see `members list`.")
        return member

    def _list(self, workspace: Workspace, *, as_json: bool) -> None:
        rows = Membership.objects.filter(workspace=workspace).select_related("user")
        told = [{"email": row.user.email, "name": row.known_as, "role": row.role} for row in rows.order_by("id")]
        if as_json:
            self.stdout.write(json.dumps(told, indent=2, ensure_ascii=False))
            return
        for each in told:
            self.stdout.write(f"{each['role']:8} {each['email']}  {printable(each['name'])}")
