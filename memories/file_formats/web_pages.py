"""Web pages: the main text with its headings; if there is none, all that is shown."""

import re
from typing import Any

import trafilatura
from lxml import etree
from lxml import html as lxml_html
from trafilatura.metadata import extract_metadata

from memories.file_formats.assembly import Assembly, FileText, headings_of, storable, table_text, tidied
from memories.file_formats.plain_text_files import decoded

HIDDEN = ("script", "style", "noscript", "template", "head", "svg")
MOST_ROWS_LOOKED_AT = 20
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
    if not made.length or _lost_rows(page, text):
        made = Assembly()
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


def _root_of(page: str) -> Any:
    """Return the page without what it does not show; None where it is no page."""
    try:
        root = lxml_html.fromstring(re.sub(r"^\s*<\?xml[^>]{0,200}\?>", "", page))
    except (etree.LxmlError, ValueError):
        return None
    etree.strip_elements(root, *HIDDEN, etree.Comment, with_tail=False)
    return root


def _lost_rows(page: str, text: str) -> bool:
    """Tell whether the cells of a table's row stand in lines of their own."""
    if "<t" not in page.lower() or (root := _root_of(page)) is None:
        return False
    for row in root.xpath("//table[not(.//table)]//tr[count(td|th) > 1]")[:MOST_ROWS_LOOKED_AT]:
        cells = [" ".join(cell.itertext()).split() for cell in row]
        words = [cell[0] for cell in cells if cell]
        if len(words) > 1 and all(word in text for word in words):
            return not any(all(word in line for word in words) for line in text.split("\n"))
    return False


def _words_of(cell: Any) -> str:
    has_blocks = any(each is not cell and each.tag in BLOCKS for each in cell.iter())
    return " ".join((" " if has_blocks else "").join(cell.itertext()).split())


def shown_text(page: str) -> str:
    """Return all words that a page shows; headings are marked as in Markdown, and a row of a table
    is a line."""
    if (root := _root_of(page)) is None:
        return ""
    for table in root.xpath("//table[not(.//table)]"):  # no mere frame of others
        rows = [[_words_of(cell) for cell in row] for row in table.iter("tr")]
        heads = [" ".join(caption.itertext()) for caption in table.iter("caption")]
        words, tail = "\n".join((*heads, table_text(rows))), table.tail
        table.clear()
        table.text, table.tail = words, tail
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
