"""Report how much there is, and how much room it takes."""

import json
from argparse import ArgumentParser
from typing import Any

from memories.management.command_options import (
    CommandWithExamples,
    add_workspace,
    one_workspace,
)
from memories.meters.stored_metrics import rows_of, table_sizes
from workspaces.models import Workspace

MOST_TABLES = 12


class Command(CommandWithExamples):
    help = "Count what each workspace has, and the bytes of tables and indexes."
    examples = "  manage.py stats\n  manage.py stats --workspace acme --json\n  manage.py stats --all-tables"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_workspace(parser, "all")
        parser.add_argument("--all-tables", action="store_true", help="not the largest alone")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, **options: Any) -> None:
        slug = options["workspace"]
        chosen = [one_workspace(slug)] if slug else list(Workspace.objects.order_by("slug"))
        rows = {workspace.slug: rows_of(workspace) for workspace in chosen}
        sizes = table_sizes()
        whole = sum(size.bytes for size in sizes)
        if options["json"]:
            tables = {
                size.name: {"rows": size.rows, "tableBytes": size.table_bytes, "indexBytes": size.index_bytes}
                for size in sizes
            }
            told = {"workspaces": rows, "bytes": whole, "tables": tables}
            self.stdout.write(json.dumps(told, indent=2))
            return
        for name, counts in rows.items():
            shown = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
            self.stdout.write(f"{name}: {shown or 'nothing'}")
        memories = sum(counts["liveMemories"] for counts in rows.values())
        each = f", {whole / memories / 1e3:,.1f} kB per live memory" if memories else ""
        self.stdout.write(f"{whole / 1e6:,.1f} MB in {len(sizes)} tables{each if not slug else ''}")
        for size in sizes if options["all_tables"] else sizes[:MOST_TABLES]:
            self.stdout.write(
                f"  {size.name:32} {size.rows:>10,} rows {size.table_bytes / 1e6:>10,.1f} MB"
                f" {size.index_bytes / 1e6:>10,.1f} MB of indexes"
            )
