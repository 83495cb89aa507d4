"""Web pages: the main text with its headings; if there is none, all that is shown."""

import re
from typing import Any

import trafilatura
from lxml import etree
from lxml import html as lxml_html
from trafilatura.metadata import extract_metadata

from memories.file_formats.assembly import Assembly, FileText, headings_of, storable, tidied
from memories.file_formats.plain_text_files import decoded

HIDDEN = ("script", "style", "noscript", "template", "head", "svg")
BLOCKS = frozenset("p div br li tr h1 h2 h3 h4 h5 h6 section article header footer table ul ol pre dd dt".split())


def read_html(data: bytes) -> FileText:
    page = decoded(data)
    text = ""
    try:
        text = (
            trafilatura.extract(
                page,
                output_format="markdown",
                include_tables=True,
                include_comments=False,
                favor_recall=True,
            )
            or ""
        )
        told = extract_metadata(page)
    except (ValueError, TypeError, etree.LxmlError, RecursionError):
        told = None
    made = Assembly()
    made.add(text)
    if not made.length:
        made.add(shown_text(page))
    made.parts = headings_of(made.text)
    return made.done(
        type="webpage",
        extractor="trafilatura",
        title=_named(told, "title"),
        author=_named(told, "author"),
        published_at=_named(told, "date"),
        language=_named(told, "language"),
    )


def _named(told: Any, name: str) -> str:
    return str(getattr(told, name, None) or "")[:500]


def shown_text(page: str) -> str:
    """Return all words that a page shows; headings are marked as in Markdown."""
    try:
        root = lxml_html.fromstring(re.sub(r"^\s*<\?xml[^>]{0,200}\?>", "", page))
    except (etree.LxmlError, ValueError):
        return ""
    etree.strip_elements(root, *HIDDEN, etree.Comment, with_tail=False)
    said: list[str] = []
    for event, node in etree.iterwalk(root, events=("start", "end")):
        name = node.tag if isinstance(node.tag, str) else ""
        if name in BLOCKS:
            said.append("\n\n")
        if event == "start":
            if re.fullmatch(r"h[1-6]", name):
                said.append(f"{'#' * int(name[1])} ")
            said.append(" ".join((node.text or "").split(" ")))
        else:
            said.append(node.tail or "")
    lines = (" ".join(line.split()) for line in "".join(said).split("\n"))
    return tidied(storable("\n".join(lines)))
