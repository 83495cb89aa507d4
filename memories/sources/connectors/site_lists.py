"""Files that sites publish for programs: lists of addresses (sitemaps, feeds as RSS and Atom), and
robots.txt. Strangers write them: what reading one takes is bounded, and a list makes no tree."""

import io
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from lxml import etree

from memories.file_formats.archive_files import local, own, refuse_entities
from memories.file_formats.assembly import FileRefused

LARGEST = 50 * 2**20  # bytes unpacked, as the protocol of sitemaps has it
MOST = 50_000  # entries of one file, likewise
MOST_ELEMENTS = 1_000_000  # likewise: what stands behind them is not read
LARGEST_ROBOTS = 500_000  # bytes: what lies behind them is not read
SAFELY: dict[str, Any] = {
    "remove_comments": True,
    "remove_pis": True,
    "resolve_entities": False,
    "no_network": True,
    "load_dtd": False,
    "huge_tree": False,
}
KINDS = {
    "urlset": "sitemap",
    "sitemapindex": "sitemap",
    "rss": "feed",
    "RDF": "feed",
    "feed": "feed",
}


@dataclass(frozen=True, slots=True)
class ListedAddress:
    """`version` is when it changed last, in the words of the list; "" where it says nothing."""

    url: str
    version: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class AddressList:
    """`more` are other lists that this one names."""

    kind: str  # sitemap, feed, "" for neither
    entries: tuple[ListedAddress, ...] = ()
    more: tuple[str, ...] = ()


def read_list(data: bytes) -> AddressList:
    """Read a sitemap or feed; return an empty list for anything else."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, LARGEST)
        except zlib.error:
            return AddressList("")
    nodes = etree.iterparse(io.BytesIO(data[:LARGEST]), ("start", "end"), **SAFELY)
    try:
        refuse_entities(data)
        _, root = next(iter(nodes))
        name = local(root)
        entries = tuple(islice(entries_in(nodes, KINDS.get(name, "")), MOST))
    except (FileRefused, etree.XMLSyntaxError, StopIteration):
        return AddressList("")
    if name == "sitemapindex":
        return AddressList("sitemap", more=tuple(each.url for each in entries))
    return AddressList(KINDS.get(name, ""), entries)


def entries_in(nodes: Iterable[tuple[str, Any]], kind: str) -> Iterator[ListedAddress]:
    """Yield the entries of a list whose root has begun, as they are read; memory is freed on the
    way."""
    depth = 1
    for event, node in islice(nodes, 2 * MOST_ELEMENTS if kind else 0):
        if event == "start":
            depth += 1
            continue
        depth -= 1
        if kind == "feed" and local(node) not in ("item", "entry"):
            continue
        if kind == "sitemap" and depth != 1:
            continue
        texts = texts_in(node)
        if kind == "sitemap" and "loc" in texts:
            yield ListedAddress(texts["loc"], texts.get("lastmod", ""))
        elif kind == "feed":
            # In RSS and Atom; a post that leads nowhere is none.
            links = [child for child in node if local(child) == "link"]
            hrefs = [own(each, "href") for each in links if own(each, "rel") in ("", "alternate")]
            version = texts.get("updated") or texts.get("pubDate") or texts.get("date", "")
            if url := next((href for href in hrefs if href), texts.get("link", "")):
                yield ListedAddress(url, version, texts.get("title", ""))
        node.clear()
        while node.getprevious() is not None:
            del node.getparent()[0]


def texts_in(node: Any) -> dict[str, str]:
    """Return the text of the first child of each name, by name."""
    texts: dict[str, str] = {}
    for child in node:
        if (name := local(child)) and child.text and child.text.strip():
            texts.setdefault(name, child.text.strip())
    return texts


class RobotRules:
    """The rules of robots.txt for one program. Of the rules that match the beginning of an address
    the first counts; an address is looked up, not compared with each rule."""

    def __init__(self, text: str, agent: str) -> None:
        self.sitemaps: list[str] = []
        groups: list[tuple[list[str], dict[str, bool]]] = []
        is_named = False  # the line before named a program, too
        for line in text.splitlines():
            name, _, value = (part.strip() for part in line.partition("#")[0].partition(":"))
            name = name.lower()
            if name == "user-agent":
                if not is_named:
                    groups.append(([], {}))
                groups[-1][0].append(value.lower())
            elif name in ("allow", "disallow") and groups:
                # To forbid nothing is to allow all.
                path = "" if value == "*" else in_one_way(value)
                groups[-1][1].setdefault(path, name == "allow" or not value)
            elif name == "sitemap":
                self.sitemaps.append(value)
            is_named = name == "user-agent" or (is_named and not name)
        named = [rules for names, rules in groups if any(name and name in agent for name in names)]
        every = [rules for names, rules in groups if "*" in names]
        self._allowed = next(iter(named or every), {})
        self._places = {path: place for place, path in enumerate(self._allowed)}
        self._lengths = sorted({len(path) for path in self._allowed})

    def may_read(self, url: str) -> bool:
        parts = urlsplit(url)
        path = in_one_way(urlunsplit(("", "", parts.path or "/", parts.query, "")))
        fitting = {path[:length] for length in self._lengths if length <= len(path)}
        first = min(fitting & self._places.keys(), key=self._places.__getitem__, default=None)
        return first is None or self._allowed[first]


def in_one_way(path: str) -> str:
    return quote(unquote(path))
