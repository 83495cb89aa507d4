"""Pages of a site: those that its sitemap or feed names, else those that its pages lead to."""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from lxml import etree
from lxml import html as lxml_html
from pydantic import Field

from memories.file_formats.plain_text_files import decoded
from memories.providers.web_fetch import AGENT, LONGEST_URL, FetchError, WebAnswer
from memories.settings_objects import SettingsObject, between
from memories.sources.connectors.connector import Changes, Connector, Cursor, FetchedItem, SourceItem, Unlisted
from memories.sources.connectors.site_lists import LARGEST_ROBOTS, ListedAddress, RobotRules, read_list

AT_ONCE = 10  # pages that are asked for their links before the cursor is kept
MOST_LINKS = 1_000  # of one page
MOST_LISTS = 50  # sitemaps that one names
MOST_ASKED = 200  # of one listing: those that name themselves have no end
LARGEST_PAGE = 2 * 2**20  # bytes that are looked through for links
PAGES = frozenset(("text/html", "application/xhtml+xml"))
NO_PAGES = re.compile(
    r"\.(?:css|js|png|jpe?g|gif|svg|webp|ico|woff2?|ttf|mp[34]|avi|mov|zip|gz|tar|exe|dmg|iso)\Z",
    re.IGNORECASE,
)


class WebOptions(SettingsObject):
    """`url` is a page, a sitemap or a feed. Pages are those of its host and below the folder of its
    path, `depth` links away at most, and `maxPages` of them."""

    url: Annotated[str, Field(min_length=1, max_length=LONGEST_URL)]
    depth: Annotated[int, between(0, 10)] = 3
    max_pages: Annotated[int, between(1, 5_000)] = 500
    robots: bool = True


class WebConnector(Connector):
    """The pages of a web site, except those that robots.txt keeps from programs. A page listed with
    a date is fetched when the date changes, any other at each sync, and answered by 304 where it is
    unchanged."""

    Options = WebOptions
    label = "Web site"
    options: WebOptions
    _robots: RobotRules | None = None
    _home = ""

    def changes(self, cursor: Cursor) -> Changes:
        self._home = str(cursor.get("home", self._start))
        if "lists" in cursor:
            return self._of_lists(cursor)
        if "pages" in cursor:
            return self._of_links(cursor)
        start = self.wire.ask(self._start)
        home = self._home = plain_address(start.url)  # where it redirects to, the others are
        left = self.options.max_pages
        if read_list(start.data).kind:
            return self._of_lists({"home": home, "lists": [self._start], "left": left})
        if self.options.depth:
            named = self._robots_of().sitemaps
            maps = [url for url in named if self._is_inside(url, below="/")][:MOST_LISTS]
            if maps := maps or self._at_home():
                return self._of_lists({"home": home, "lists": maps, "left": left})
        return self._of_links({"home": home, "pages": [[home, 0]], "seen": [home]})

    @property
    def _start(self) -> str:
        return plain_address(self.options.url)

    def _at_home(self) -> list[str]:
        """The sitemap where most sites have theirs, if it is one."""
        url = urljoin(self._home, "/sitemap.xml")
        try:
            return [url] if read_list(self.wire.ask(url).data).kind == "sitemap" else []
        except FetchError as error:
            if error.is_passing:
                raise
            return []

    def _of_lists(self, cursor: Cursor) -> Changes:
        """Read one list at a time."""
        first, *rest = cursor["lists"]
        left, asked = int(cursor["left"]), int(cursor.get("asked", 0)) + 1
        read = read_list(self.wire.ask(first).data)
        if not read.kind and not rest and "named" not in cursor:
            raise FetchError("fetch_failed", "The sitemap or feed cannot be read.")
        inner = [url for url in read.more if self._is_inside(url, below="/")]
        lists = [*rest, *inner][: min(MOST_LISTS, max(0, MOST_ASKED - asked))]
        wanted = (each for each in read.entries if self._is_wanted(each.url, read.kind))
        entries = list(islice(wanted, left))
        left -= len(entries)
        items = [item_of(each) for each in entries]
        unlisted = Unlisted.KEPT if read.kind == "feed" else Unlisted.CHECKED
        if not left or not lists:
            return Changes(items, {}, unlisted=unlisted)
        more = {"home": self._home, "lists": lists, "left": left, "named": True, "asked": asked}
        return Changes(items, more, False, unlisted)

    def _of_links(self, cursor: Cursor) -> Changes:
        """Read a few pages, and note their links."""
        pages: list[list[Any]] = cursor["pages"]
        left = list(pages[AT_ONCE:])
        seen = dict.fromkeys(cursor["seen"])
        items = []
        for url, depth in pages[:AT_ONCE]:
            try:
                answer = self.wire.ask(url)
            except FetchError as error:
                if error.is_passing or url == self._home:
                    raise
                continue
            items.append(SourceItem(url, "", url=url, type="webpage"))
            if depth >= self.options.depth:
                continue
            for link in links_of(answer):
                is_new = len(seen) < self.options.max_pages and link not in seen
                if is_new and self._is_wanted(link, "page"):
                    seen[link] = None
                    left.append([link, depth + 1])
        if left:
            more = {"home": self._home, "pages": left, "seen": [*seen]}
            return Changes(items, more, False, Unlisted.CHECKED)
        return Changes(items, {}, unlisted=Unlisted.CHECKED)

    def _is_wanted(self, url: str, kind: str) -> bool:
        """Tell whether an address is read. A feed may name pages of other hosts, which are not; an
        address with a query string is, where a list names it."""
        if len(url) > LONGEST_URL or NO_PAGES.search(urlsplit(url).path):
            return False
        if not self._is_inside(url, below="/" if kind != "page" else None):
            return False
        if kind == "page" and urlsplit(url).query:
            return False
        return not self.options.robots or self._robots_of().may_read(url)

    def _is_inside(self, url: str, *, below: str | None) -> bool:
        own, other = urlsplit(self._home), urlsplit(url)
        folder = below or own.path[: own.path.rfind("/") + 1] or "/"
        is_same = other.netloc == own.netloc and other.scheme in ("http", "https")
        return is_same and (other.path or "/").startswith(folder)

    def _robots_of(self) -> RobotRules:
        if self._robots is None:
            text = b""
            try:
                text = self.wire.ask(urljoin(self._home, "/robots.txt")).data[:LARGEST_ROBOTS]
            except FetchError as error:
                if error.is_passing:
                    raise  # else there is none: all may be read
            self._robots = RobotRules(decoded(text), AGENT)
        return self._robots

    def fetch(self, item_id: str, marks: Mapping[str, str]) -> FetchedItem | None:
        return fetched_page(self.wire.ask(item_id, headers=conditions(marks)))

    def test(self) -> str:
        answer = self.wire.ask(self._start)
        found = read_list(answer.data)
        if found.kind:
            return f"A {found.kind} with {len(found.entries) or len(found.more)} entries."
        return f"A page of {len(answer.data):,} bytes, with {len(links_of(answer))} links."


def plain_address(url: str) -> str:
    """Return the address without its fragment, and percent-encoded where needed."""
    parts = urlsplit(urldefrag(url.strip())[0])
    path = quote(unquote(parts.path), safe="/%:@!$&'()*+,;=-._~") or "/"
    return parts._replace(path=path).geturl()


def item_of(entry: ListedAddress) -> SourceItem:
    url = plain_address(entry.url)
    return SourceItem(url, entry.version, entry.title, url, type="webpage")


def links_of(answer: WebAnswer) -> list[str]:
    """Return the links of a page in their order, without repeats, up to the limits of what is
    read."""
    if answer.media_type not in PAGES:
        return []
    try:
        root = lxml_html.fromstring(decoded(answer.data[:LARGEST_PAGE]))
    except (etree.LxmlError, ValueError):
        return []
    base = next(iter(root.xpath("//base/@href")), "")
    found: dict[str, None] = {}
    for href in root.xpath("//a/@href")[:MOST_LINKS]:
        try:
            url = plain_address(urljoin(urljoin(answer.url, base), href))
        except ValueError:
            continue
        if url.startswith(("http://", "https://")):
            found[url] = None
    return list(found)


def conditions(marks: Mapping[str, str]) -> dict[str, str]:
    """Return the headers by which an unchanged page is answered with 304."""
    names = {"etag": "if-none-match", "last-modified": "if-modified-since"}
    return {names[name]: value for name, value in marks.items() if name in names}


def fetched_page(answer: WebAnswer) -> FetchedItem | None:
    """A page as what it says of itself; None where it is as it was."""
    if answer.status == 304:
        return None
    names = ("etag", "last-modified")
    marks = {name: answer.headers[name][:300] for name in names if name in answer.headers}
    return FetchedItem(in_utf8(answer), name_of(answer.url), answer.url, marks=marks)


def name_of(url: str) -> str:
    """Return the last part of its path, as a file's name."""
    return unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2])[:255]


def in_utf8(answer: WebAnswer) -> bytes:
    """Texts whose header names an encoding: it counts for more than what stands in them."""
    header = answer.headers.get("content-type", "")
    named = re.search(r"charset=[\"']?([A-Za-z0-9_.:-]{1,40})", header, re.IGNORECASE)
    if named is None or not answer.media_type.startswith(("text/", "application/xhtml")):
        return answer.data
    try:
        return answer.data.decode(named[1]).encode()
    except (LookupError, UnicodeError):
        return answer.data
