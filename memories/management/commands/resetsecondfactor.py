"""The way back in for whoever lost phone and recovery codes."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from memories.management.command_options import CommandWithExamples
from workspaces.login import second_factor
from workspaces.models import User


class Command(CommandWithExamples):
    help = "Turn off the second factor of an account: its password alone lets in again."
    examples = "  manage.py resetsecondfactor ada.lovelace"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *, username: str, **_: Any) -> None:
        user = User.objects.filter(username=username).first()
        if user is None:
            raise CommandError(f"There is no account {username}.")
        was_on = second_factor.turn_off(user)
        second_factor.end_sessions(user)
        self.stdout.write(f"{username}: {'turned off' if was_on else 'there was none'}.")
