"""A command whose --help ends with examples, line by line as they are written."""

from argparse import RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand, CommandParser, DjangoHelpFormatter


class Formatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    pass


class CommandWithExamples(BaseCommand):
    examples = ""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        kwargs |= {"epilog": f"examples:\n{self.examples}", "formatter_class": Formatter}
        return super().create_parser(prog_name, subcommand, **kwargs)
