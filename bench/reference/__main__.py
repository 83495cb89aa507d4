"""Write docs/reference anew: `.venv/bin/python -m bench.reference`."""

import os
import sys
from pathlib import Path

import django

ROOT = Path(__file__).resolve().parents[2]
INDEX = """# Reference

Made out of the code by `.venv/bin/python -m bench.reference`; a test fails where these pages say anything else.

- [Settings](settings.md): environment variables of the server.
- [Commands](commands.md) of `manage.py`, and [trials and benchmarks](trials.md) of the repository.
- [API](api/index.md): every operation with its fields and an example.
- [MCP tools](mcp-tools.md) that agents call.
- [Errors](errors.md): status codes and the codes in problems.
- [Metrics](metrics.md) for Prometheus.
"""


def pages() -> dict[str, str]:
    """Return the pages by path below docs/reference."""
    from bench.reference import (
        command_page,
        error_page,
        metric_page,
        route_pages,
        setting_page,
        tool_page,
    )

    return {
        "index.md": INDEX,
        "settings.md": setting_page.page(ROOT),
        "commands.md": command_page.page(*command_page.APPS, head=command_page.HEAD),
        "trials.md": command_page.page("bench", head=command_page.TRIALS),
        "mcp-tools.md": tool_page.page(),
        "errors.md": error_page.page(ROOT),
        "metrics.md": metric_page.page(ROOT),
        **{f"api/{name}": text for name, text in route_pages.pages(ROOT).items()},
    }


def write() -> None:
    folder = ROOT / "docs" / "reference"
    made = pages()
    for old in folder.rglob("*.md"):
        if str(old.relative_to(folder)) not in made:
            old.unlink()
    for name, text in made.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    sys.stdout.write(f"{len(made)} pages below {folder}\n")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    django.setup()
    write()
