"""A bucket that speaks S3: every sync lists it; requests are signed as Amazon documents."""

from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from memories.providers.web_fetch import FetchError
from memories.sources.connectors.connector import Connector, Unlisted, Wire
from memories.sources.connectors.s3_bucket import S3Connector, S3Credentials, S3Options, sign
from tests.source_stubs import Stub, listed

NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/"
KEYS = {"notes/a b.md": ("1", b"Alpha"), "notes/c+d.txt": ("2", b"Beta"), "pic.png": ("3", b"x")}


class Bucket:
    def __init__(self) -> None:
        self.keys = dict(KEYS)
        self.page = 2
        self.signatures: list[str] = []

    def answer(self, request: Request) -> Response | None:
        self.signatures.append(request.headers.get("authorization", ""))
        key = request.path.removeprefix("/pumps/")
        if key in self.keys:
            return Response(self.keys[key][1])
        if request.args.get("list-type") != "2":
            return None
        start = int(request.args.get("continuation-token", "0"))
        names = [k for k in sorted(self.keys) if k.startswith(request.args["prefix"])]
        page = names[start : start + self.page]
        rows = "".join(f'<Contents><Key>{k}</Key><ETag>"{self.keys[k][0]}"</ETag></Contents>' for k in page)
        after = start + self.page
        is_cut = after < len(names)
        more = f"<NextContinuationToken>{after}</NextContinuationToken>" if is_cut else ""
        return Response(
            f'<ListBucketResult xmlns="{NAMESPACE}"><IsTruncated>{str(is_cut).lower()}'
            f"</IsTruncated>{more}{rows}</ListBucketResult>"
        )


@pytest.fixture
def bucket() -> Bucket:
    return Bucket()


@pytest.fixture
def stub(httpserver: HTTPServer, bucket: Bucket) -> Stub:
    return Stub(httpserver, bucket.answer)


def source(stub: Stub, **options: Any) -> Connector:
    given = {"accessKey": "A", "secretKey": "S", "sessionToken": "T"}
    return stub.connector("s3", {"bucket": "pumps", **options}, given)


def test_the_bucket_is_listed_page_by_page(stub: Stub, bucket: Bucket) -> None:
    versions, _, last = listed(source(stub), {})
    assert versions == {"notes/a b.md": "1", "notes/c+d.txt": "2"}
    assert (last.unlisted, last.cursor) == (Unlisted.GONE, {})
    assert len(bucket.signatures) == 2
    assert [*listed(source(stub, prefix="notes/c"), {})[0]] == ["notes/c+d.txt"]
    assert [*listed(source(stub, endings=["png"]), {})[0]] == ["pic.png"]
    assert source(stub).test() == "2 files and more."


def test_a_key_is_fetched_whatever_signs_it_has(stub: Stub) -> None:
    for key in ("notes/a b.md", "notes/c+d.txt"):
        found = source(stub).fetch(key, {})
        assert found is not None
        assert (found.data, found.filename) == (KEYS[key][1], key.removeprefix("notes/"))
    with pytest.raises(FetchError) as gone:
        source(stub).fetch("none.md", {})
    assert gone.value.code == "source_gone"


def test_an_open_bucket_needs_no_signature(stub: Stub, bucket: Bucket) -> None:
    stub.connector("s3", {"bucket": "pumps"}).changes({})
    assert bucket.signatures == [""]


def test_a_bucket_that_is_asked_too_often_is_left_alone(stub: Stub) -> None:
    stub.faults = [Response("<Error><Code>SlowDown</Code></Error>", 503)]
    with pytest.raises(FetchError) as limit:
        source(stub).changes({})
    assert limit.value.code == "rate_limited"
    for status, code in ((403, "login_required"), (500, "fetch_status")):
        stub.faults = [Response("<Error/>", status)]
        with pytest.raises(FetchError) as refusal:
            source(stub).changes({})
        assert refusal.value.code == code
    for odd in ("<html/>", "no xml"):
        stub.faults = [Response(odd)]
        with pytest.raises(FetchError) as shape:
            source(stub).changes({})
        assert shape.value.code == "fetch_failed"


def test_without_the_operators_word_it_stands_at_the_endpoint_or_at_amazon() -> None:
    own = S3Options(bucket="pumps", endpoint="https://s3.example.org/")
    assert S3Connector(own, None, Wire())._root == "https://s3.example.org/pumps"
    at_home = S3Connector(S3Options(bucket="pumps", region="eu-north-1"), None, Wire())
    assert at_home._root == "https://s3.eu-north-1.amazonaws.com/pumps"


def test_a_request_is_signed_as_in_amazons_own_example() -> None:
    """ "GET Object" of the chapter on signatures in headers, without its Range."""
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    headers = {
        "host": "examplebucket.s3.amazonaws.com",
        "x-amz-content-sha256": empty,
        "x-amz-date": "20130524T000000Z",
        "range": "bytes=0-9",
    }
    keys = S3Credentials(access_key="AKIAIOSFODNN7EXAMPLE", secret_key="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
    signed = sign(keys, "us-east-1", headers, ("GET", "/test.txt", ""), "20130524")
    assert signed["authorization"].endswith(
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )
