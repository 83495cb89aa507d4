"""Lists of addresses that sites publish: sitemaps, and feeds as RSS and Atom. Bytes to entries."""

import zlib
from dataclasses import dataclass
from typing import Any

from memories.file_formats.archive_files import local, own, xml_of
from memories.file_formats.assembly import FileRefused

LARGEST = 50 * 2**20  # bytes unpacked, as the protocol of sitemaps has it
MOST = 50_000  # entries of one file, likewise


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
    """Of whatever is no list an empty one."""
    if data[:2] == b"\x1f\x8b":
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, LARGEST)
        except zlib.error:
            return AddressList("")
    try:
        root = xml_of(data)
    except FileRefused:
        return AddressList("")
    name = local(root)
    if name == "urlset":
        return AddressList("sitemap", tuple(_pages(root)[:MOST]))
    if name == "sitemapindex":
        return AddressList("sitemap", more=tuple(each.url for each in _pages(root)[:MOST]))
    if name in ("rss", "RDF", "feed"):
        return AddressList("feed", tuple(_posts(root)[:MOST]))
    return AddressList("")


def _texts(node: Any) -> dict[str, str]:
    """By the names of a node's children, the first of each."""
    found: dict[str, str] = {}
    for child in node:
        if (name := local(child)) and child.text and child.text.strip():
            found.setdefault(name, child.text.strip())
    return found


def _pages(root: Any) -> list[ListedAddress]:
    texts = (_texts(node) for node in root)
    return [ListedAddress(each["loc"], each.get("lastmod", "")) for each in texts if "loc" in each]


def _posts(root: Any) -> list[ListedAddress]:
    """In RSS and Atom; a post that leads nowhere is none."""
    posts = []
    for node in root.iter():
        if local(node) not in ("item", "entry"):
            continue
        texts = _texts(node)
        links = [child for child in node if local(child) == "link"]
        hrefs = [own(each, "href") for each in links if own(each, "rel") in ("", "alternate")]
        url = next((href for href in hrefs if href), texts.get("link", ""))
        version = texts.get("updated") or texts.get("pubDate") or texts.get("date", "")
        if url:
            posts.append(ListedAddress(url, version, texts.get("title", "")))
    return posts
