"""Texts as they stand: plain ones, Markdown, tables, JSON, notebooks, RTF, XML; source code by its
definitions."""

import csv
import io
import json
import re
from contextlib import suppress
from typing import Any

from memories.file_formats.archive_files import xml_of
from memories.file_formats.assembly import Assembly, FileRefused, FileText, TextPlace, headings_of
from memories.file_formats.encodings import encoding_of


def decoded(data: bytes) -> str:
    """Return the text of bytes in whatever encoding; what cannot be read becomes U+FFFD."""
    return data.decode(encoding_of(data), errors="replace")


def read_text(data: bytes) -> FileText:
    made = Assembly()
    made.add(decoded(data), tidy=False)
    return made.done(extractor="text")


def read_markdown(data: bytes) -> FileText:
    text = decoded(data)
    title = ""
    if text.startswith("---\n") and (end := text.find("\n---", 4)) > 0:
        named = re.search(r"^title:[ \t]*(\S[^\n]{0,300})$", text[:end], re.MULTILINE)
        title, text = (named[1].strip(" \"'") if named else ""), text[end + 4 :]
    made = Assembly()
    made.add(text, tidy=False)
    made.parts = headings_of(made.text)
    return made.done(extractor="markdown", title=title)


def read_csv(data: bytes) -> FileText:
    """Read each row as a line; if a row of names is above, each value stands behind its name."""
    text = decoded(data)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:20_000], ",;\t|")
    except csv.Error:
        dialect = csv.excel
    csv.field_size_limit(10_000_000)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), dialect) if any(row)]
    except csv.Error as error:
        raise FileRefused("damaged", f"The table cannot be read: {error}.") from error
    made = Assembly()
    names = rows[0] if len(rows) > 1 and not any(cell.isdigit() for cell in rows[0]) else None
    if names is None:
        made.add("\n".join(" | ".join(row) for row in rows))
    else:
        lines = [
            "; ".join(
                f"{names[at]}: {cell}" if at < len(names) and names[at] else cell for at, cell in enumerate(row) if cell
            )
            for row in rows[1:]
        ]
        made.add("\n".join([" | ".join(names), *lines]))
    return made.done(extractor="csv")


def read_json(data: bytes) -> FileText:
    """Write JSON out in lines; return text that is not JSON as it stands."""
    text = decoded(data)
    with suppress(ValueError, RecursionError):
        text = json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    made = Assembly()
    made.add(text)
    return made.done(extractor="json")


def read_notebook(data: bytes) -> FileText:
    try:
        cells = json.loads(decoded(data))["cells"]
        made = Assembly()
        for number, cell in enumerate(cells, 1):
            said = [_joined(cell.get("source"))]
            for output in cell.get("outputs") or ():
                shown = output.get("text") or (output.get("data") or {}).get("text/plain")
                said.append(_joined(shown))
            made.add_part("cell", f"cell {number}", "\n".join(filter(None, said)))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FileRefused("damaged", "This notebook cannot be read.") from error
    made.parts += headings_of(made.text)
    return made.done(extractor="notebook")


def _joined(value: Any) -> str:
    return "".join(value) if isinstance(value, list) else str(value or "")


def read_xml(data: bytes) -> FileText:
    root, made = xml_of(data), Assembly()
    for text in root.itertext():
        made.add(text, "\n")
    return made.done(extractor="xml")


# A control word with its number, a hex byte, a sign, a brace, or plain text.
_RTF = re.compile(r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)")
_RTF_HIDDEN = frozenset(
    "fonttbl colortbl stylesheet info pict object themedata colorschememapping latentstyles"
    " datastore header footer headerl headerr footerl footerr listtable listoverridetable rsidtbl"
    " generator xmlnstbl fldinst".split()
)
_RTF_WORDS = {
    "par": "\n",
    "line": "\n",
    "sect": "\n\n",
    "page": "\n\n",
    "row": "\n",
    "cell": " | ",
    "tab": "\t",
    "emdash": "—",
    "endash": "–",
    "lquote": "‘",
    "rquote": "’",
    "ldblquote": "“",
    "rdblquote": "”",
    "bullet": "•",
}


def read_rtf(data: bytes) -> FileText:
    text, page = data.decode("latin-1"), "cp1252"
    if coded := re.search(r"\\ansicpg(\d{3,5})", text[:1000]):
        page = f"cp{coded[1]}"
    said: list[str] = []
    hidden, stack, skip = False, [], 0
    for mark in _RTF.finditer(text):
        word, number, byte, sign, brace, plain = mark.groups()
        if brace == "{":
            stack.append(hidden)
        elif brace == "}":
            hidden = stack.pop() if stack else False
        elif word in _RTF_HIDDEN or sign == "*":
            hidden = True
        elif not hidden:
            if skip and (byte or plain):
                plain, byte, skip = (plain or "")[1:] if plain else None, None, skip - 1
            said.append(_rtf_sign(word, number, byte, sign, page) or plain or "")
            skip = 1 if word == "u" else skip
    made = Assembly()
    made.add("".join(said))
    return made.done(extractor="rtf")


def _rtf_sign(word: str | None, number: str | None, byte: str | None, sign: str | None, page: str) -> str:
    if word == "u" and number:
        return chr(int(number) % 65_536)
    if byte:
        try:
            return bytes.fromhex(byte).decode(page, errors="replace")
        except LookupError:
            return bytes.fromhex(byte).decode("cp1252", errors="replace")
    if sign:
        return {"~": "\u00a0", "_": "-", "\\": "\\", "{": "{", "}": "}"}.get(sign, "")
    return _RTF_WORDS.get(word or "", "")


# What begins a definition, in the languages that people use most; its name is the last group.
_DEFINITION = re.compile(
    r"^(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub"
    r"|pub\(crate\)|unsafe|inline|override|virtual|sealed|data|open|extern)[ \t]+){0,4}"
    r"(?:def|class|func|fn|function\*?|interface|struct|enum|trait|impl|type|module|namespace|record"
    r"|object|protocol|extension|sub|procedure|macro_rules!|defmodule|defp?)[ \t]+"
    r"(?:\([^)\n]{0,100}\)[ \t]*)?([A-Za-z_$][\w$.<>]{0,120})",
    re.MULTILINE,
)
_HEAD = re.compile(r"(?:^[ \t]*(?:@|#\[|///?|#(?!!)|\*|/\*\*?|--)[^\n]*\n){1,60}\Z", re.MULTILINE)
_LEAD = 4_000  # characters before a definition in which its comments are looked for


def read_source(data: bytes) -> FileText:
    made = Assembly()
    made.add(decoded(data), tidy=False)
    text = made.text
    starts = []
    for mark in _DEFINITION.finditer(text):
        low = max(0, mark.start() - _LEAD)
        head = _HEAD.search(text[low : mark.start()])
        starts.append((low + head.start() if head else mark.start(), mark[1]))
    ends = [*(start for start, _ in starts[1:]), len(text)][: len(starts)]
    made.parts = [
        TextPlace("definition", n, name, start, end)
        for n, ((start, name), end) in enumerate(zip(starts, ends, strict=True), 1)
        if end > start
    ]
    return made.done(extractor="source")
