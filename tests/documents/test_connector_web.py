"""Pages of a site: named by its lists, or found by their links; and a list's odd shapes."""

import gzip
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.providers.web_fetch import FetchError, WebAnswer
from memories.sources.connectors.connector import Changes, Connector, Unlisted
from memories.sources.connectors.site_lists import LARGEST_ROBOTS, MOST_ELEMENTS, RobotRules, read_list
from memories.sources.connectors.web_site import MOST_ASKED, links_of, plain_address
from tests.source_stubs import Stub, listed

ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>One</title>
<link rel="self" href="http://localhost:{port}/self"/>
<link href="http://localhost:{port}/posts/1"/><updated>2026-01-02T00:00:00Z</updated></entry>
<entry><title>Nowhere</title></entry></feed>"""


@pytest.fixture
def pages() -> dict[str, str | bytes]:
    return {
        "/docs/": '<a href="a.html">A</a> <a href="/docs/b.html#part">B</a> <a href="/other">O</a>'
        '<a href="x.zip">Z</a> <a href="?sort=1">S</a> <a href="http://elsewhere.example/">E</a>'
        '<a href="mailto:a@example.org">M</a> <a href="http://[broken">X</a>',
        "/docs/a.html": '<p>Alpha</p><a href="c.html">C</a>',
        "/docs/b.html": "<p>Beta</p>",
        "/docs/c.html": '<p>Gamma</p><a href="d.html">D</a>',
        "/docs/d.html": "<p>Delta</p>",
    }


@pytest.fixture
def stub(httpserver: HTTPServer, pages: dict[str, str | bytes]) -> Stub:
    def answers(request: Request) -> Response | None:
        body = pages.get(request.path)
        if body is None:
            return None
        if isinstance(body, str):
            body = body.replace("{port}", str(httpserver.port))
        kind = "application/xml" if body[:1] == "<" and body[1:2] in "?uosfr" else "text/html"
        etag = f'"{len(body)}"'
        is_known = request.headers.get("if-none-match") == etag
        return Response(body, 304 if is_known else 200, {"ETag": etag}, content_type=kind)

    return Stub(httpserver, answers)


def site(stub: Stub, path: str = "docs/", **options: Any) -> Connector:
    return stub.connector("web", {"url": stub.url + path, **options})


def paths(connector: Connector) -> list[str]:
    versions, _, _ = listed(connector, {})
    return sorted(url.partition("/docs/")[2] or url.rpartition("/")[2] for url in versions)


def test_links_are_followed_inside_of_the_folder_and_so_deep(stub: Stub) -> None:
    assert paths(site(stub, depth=1)) == ["", "a.html", "b.html"]
    assert paths(site(stub, depth=2)) == ["", "a.html", "b.html", "c.html"]
    assert paths(site(stub, depth=0)) == [""]
    assert len(paths(site(stub, maxPages=2))) == 2


def test_what_robots_keep_away_is_not_asked(stub: Stub, pages: dict[str, str | bytes]) -> None:
    pages["/robots.txt"] = "User-agent: *\nDisallow: /docs/b"
    assert paths(site(stub, depth=1)) == ["", "a.html"]
    assert "/docs/b.html" not in stub.asked
    assert "b.html" in paths(site(stub, depth=1, robots=False))


def test_the_sitemap_that_robots_name_says_which_pages_there_are(stub: Stub, pages: dict[str, str | bytes]) -> None:
    at = "http://localhost:{port}"
    pages["/robots.txt"] = f"Sitemap: {at}/index.xml\nSitemap: http://elsewhere.example/s.xml"
    pages["/index.xml"] = f"<sitemapindex><sitemap><loc>{at}/one.xml.gz</loc></sitemap>" + (
        f"<sitemap><loc>{at}/broken.xml</loc></sitemap></sitemapindex>"
    )
    one = f"<urlset><url><loc>{at}/docs/a.html</loc><lastmod>2026-01-02</lastmod></url>" + (
        f"<url><loc>{at}/docs/b.html?x=1</loc></url><url><loc>ftp://a</loc></url></urlset>"
    )
    pages["/one.xml.gz"] = gzip.compress(one.replace("{port}", str(stub.server.port)).encode())
    pages["/broken.xml"] = "<urlset><url>"
    versions, _, last = listed(site(stub), {})
    assert list(versions.values()) == ["2026-01-02", ""]
    assert last.unlisted == Unlisted.CHECKED
    assert "/docs/a.html" not in stub.asked


def test_a_sitemap_at_home_is_found(stub: Stub, pages: dict[str, str | bytes]) -> None:
    pages["/sitemap.xml"] = "<urlset><url><loc>http://localhost:{port}/docs/d.html</loc></url>" + ("</urlset>")
    assert paths(site(stub)) == ["d.html"]


def test_a_feed_names_its_posts_and_keeps_the_old_ones(stub: Stub, pages: dict[str, str | bytes]) -> None:
    pages["/feed"] = ATOM
    versions, _, last = listed(site(stub, "feed"), {})
    assert list(versions.values()) == ["2026-01-02T00:00:00Z"]
    assert [item.title for item in last.items] == ["One"]
    assert last.unlisted == Unlisted.KEPT
    assert site(stub, "feed").test() == "A feed with 1 entries."


def test_a_page_that_is_as_it_was_is_not_sent_again(stub: Stub) -> None:
    source = site(stub)
    url = stub.url + "docs/a.html"
    fetched = source.fetch(url, {})
    assert fetched is not None
    assert (fetched.filename, fetched.marks) == ("a.html", {"etag": '"34"'})
    assert source.fetch(url, fetched.marks) is None
    with pytest.raises(FetchError) as gone:
        source.fetch(stub.url + "docs/none.html", {})
    assert gone.value.code == "source_gone"


def test_a_site_that_redirects_is_read_where_it_leads(stub: Stub, pages: dict[str, str | bytes]) -> None:
    answers = stub.answers

    def moved(request: Request) -> Response | None:
        if request.path == "/":
            return Response("", 301, {"Location": "/docs/"})
        return answers(request)

    stub.answers = moved
    assert paths(site(stub, "", depth=1)) == ["", "a.html", "b.html"]
    assert site(stub, "").test().endswith("with 6 links.")


def test_a_site_that_fails_fails_the_sync_and_a_page_that_fails_is_left_out(
    stub: Stub, pages: dict[str, str | bytes]
) -> None:
    stub.faults = [Response("down", 500)]
    with pytest.raises(FetchError):
        site(stub).changes({})
    pages["/docs/"] = '<a href="none.html">N</a><a href="b.html">B</a>'
    assert paths(site(stub)) == ["", "b.html"]


def test_rss_of_both_kinds_is_read() -> None:
    rss = b"""<rss version="2.0"><channel><title>News</title><item><title>A</title>
    <link>https://a.example/1</link><pubDate>Mon, 05 Jan 2026 10:00:00 GMT</pubDate></item>
    </channel></rss>"""
    [entry] = read_list(rss).entries
    assert (entry.url, entry.title) == ("https://a.example/1", "A")
    rdf = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><item>
    <title>B</title><link>https://b.example/</link><dc:date>2026-01-01</dc:date></item></rdf:RDF>"""
    assert read_list(rdf).entries[0].version == "2026-01-01"


@pytest.mark.parametrize(
    "data",
    [b"", b"<html></html>", b"\x1f\x8bbroken", b"<!DOCTYPE a [<!ENTITY b 'c'>]><rss>&b;</rss>"],
)
def test_what_is_no_list_has_nothing(data: bytes) -> None:
    assert read_list(data).kind == ""


class CountingDict(dict[str, int]):
    """How often one looked into the rules."""

    looks = 0

    def __getitem__(self, path: str) -> int:
        CountingDict.looks += 1
        return super().__getitem__(path)


def test_an_address_is_not_compared_with_each_rule_of_robots() -> None:
    lines = ["User-agent: *", *(f"Disallow:/{number:x}/" for number in range(31_000))]
    assert len(text := "\n".join(lines)) < LARGEST_ROBOTS
    rules = RobotRules(text, "memoryproject")
    assert len(rules._lengths) < 10
    assert not rules.may_read("http://a.example/7917/page")
    assert rules.may_read("http://a.example/y/page")
    rules._places = CountingDict(rules._places)
    assert not rules.may_read("http://a.example/7/page")
    assert CountingDict.looks == 1


@pytest.mark.parametrize(
    ("text", "kept_away"),
    [
        ("User-agent: *\nDisallow: /b", {"/b", "/b/", "/b/c?d=1"}),
        ("User-agent: *\nDisallow: /b/\nAllow: /b/c", {"/b/", "/b/c?d=1"}),
        ("User-agent: *\nAllow: /b/c\nDisallow: /b", {"/b", "/b/"}),
        ("User-agent: *\nDisallow:", set()),
        ("User-agent: *\nDisallow: *", {"/", "/b", "/b/", "/b/c?d=1", "/gr%C3%BC%C3%9Fe"}),
        (
            "User-Agent: x\nUser-agent: MemoryProject\n\nDisallow: /b/c?d # here\nUser-agent: *\nDisallow: /",
            {"/b/c?d=1"},
        ),
        ("User-agent: other\nDisallow: /\n", set()),
        ("Disallow: /\nnonsense", set()),
        ("User-agent: *\nDisallow: /gr\u00fc\u00dfe", {"/gr%C3%BC%C3%9Fe"}),
    ],
)
def test_robots_rules_count_by_their_order_for_whom_they_name(text: str, kept_away: set[str]) -> None:
    rules = RobotRules(text, "memoryproject")
    paths = ["/", "/b", "/b/", "/b/c?d=1", "/gr%C3%BC%C3%9Fe"]
    assert {path for path in paths if not rules.may_read(f"http://a.example{path}")} == kept_away


def test_lists_that_name_themselves_come_to_an_end(stub: Stub, pages: dict[str, str | bytes]) -> None:
    named = "<sitemap><loc>http://localhost:{port}/docs/all.xml</loc></sitemap>"
    pages["/docs/all.xml"] = f"<sitemapindex>{named * 3}</sitemapindex>"
    source, page = site(stub, "docs/all.xml"), Changes([], {}, False)
    for _ in range(MOST_ASKED):
        page = source.changes(page.cursor)
        assert page.items == []
    assert page.is_last


def test_a_list_is_read_without_a_tree_and_entries_are_kept_alone() -> None:
    url = b"<url><loc> http://a.example/1 </loc><loc>http://a.example/2</loc><lastmod>2026</lastmod>"
    deep = b"<b>" * 200 + b"</b>" * 200
    data = b"<urlset><!-- c --><x/>" + url + deep + b"</url><url><loc/></url></urlset>"
    [entry] = read_list(data).entries
    assert (entry.url, entry.version) == ("http://a.example/1", "2026")
    laughs = b"<!DOCTYPE r [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]>"
    bomb = b"<!--" + b"x" * 5000 + b"-->" + laughs + b"<urlset><url><loc>&b;</loc></url></urlset>"
    assert read_list(bomb).entries == ()
    assert read_list(bomb.decode().encode("utf-16")).entries == ()
    junk = b"<urlset>" + b"<a/>" * MOST_ELEMENTS + url + b"</url></urlset>"
    assert read_list(junk).entries == ()


def test_addresses_are_written_in_one_way() -> None:
    assert plain_address(" http://a.example/ä b#c ") == "http://a.example/%C3%A4%20b"
    assert plain_address("http://a.example") == "http://a.example/"


def test_words_are_decoded_as_the_header_says(stub: Stub) -> None:
    def answers(request: Request) -> Response:
        return Response("Grüße".encode("cp1252"), content_type="text/plain; charset=windows-1252")

    stub.answers = answers
    fetched = site(stub).fetch(stub.url, {})
    assert fetched is not None
    assert fetched.data.decode() == "Grüße"
    stub.answers = lambda request: Response(b"\xff", content_type="text/plain; charset=none-such")
    odd = site(stub).fetch(stub.url, {})
    assert odd is not None
    assert odd.data == b"\xff"


def test_a_page_that_cannot_be_parsed_leads_nowhere() -> None:
    answer = WebAnswer("http://a.example/", 200, {"content-type": "text/html"}, b"")
    assert links_of(answer) == []
