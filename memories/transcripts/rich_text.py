"""Words of messages that come as HTML: lines, quotations as `>`, nothing that is not shown."""

import re
from html.parser import HTMLParser

UNSHOWN = frozenset({"script", "style", "head", "title"})
BLOCKS = frozenset({"p", "div", "br", "li", "tr", "table", "ul", "ol", "blockquote", "h1", "h2", "h3", "h4", "pre"})
QUOTES = frozenset({"blockquote", "quote"})  # the second is Skype's and Teams'
BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")


class Words(HTMLParser):
    """The text so far, and how deep in quotations and unshown parts it goes on."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.quoted = self.unshown = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNSHOWN:
            self.unshown += 1
        if tag in QUOTES:
            self.quoted += 1
        if tag in BLOCKS | QUOTES:
            self.parts.append("\n")
        if tag == "img" and (alt := dict(attrs).get("alt")):
            self.handle_data(alt)

    def handle_endtag(self, tag: str) -> None:
        if tag in UNSHOWN:
            self.unshown = max(0, self.unshown - 1)
        if tag in BLOCKS | QUOTES and tag != "br":
            self.parts.append("\n")
        if tag in QUOTES:
            self.quoted = max(0, self.quoted - 1)

    def handle_data(self, data: str) -> None:
        words = " ".join(data.split())
        if self.unshown or not words:
            self.parts.append(" " if data and not self.unshown else "")
            return
        before, after = " " * data[:1].isspace(), " " * data[-1:].isspace()
        is_new_line = not self.parts or self.parts[-1].endswith("\n")
        mark = "> " if self.quoted and is_new_line else ""
        self.parts.append(f"{mark}{'' if is_new_line else before}{words}{after}")


def words_of_html(html: str) -> str:
    words = Words()
    words.feed(html)
    words.close()
    lines = [line.strip() for line in "".join(words.parts).split("\n")]
    return BLANK.sub("\n\n", "\n".join(lines)).strip()


def quoted(text: str, of: str) -> str:
    """Return what somebody passed on as a quotation, with whose it is: nobody who passes it on says
    it."""
    lines = "\n".join(f"> {line}" for line in text.splitlines())
    return f"Forwarded from {of}:\n{lines}" if of else f"Forwarded:\n{lines}"
