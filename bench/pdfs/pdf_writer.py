"""Writing PDFs by hand, right ones and others. A seed decides each byte."""

import hashlib
import random
import zlib
from collections.abc import Callable

WORDS = "heron copper valve winter harbour crown engine letter oil meadow north keeper".split()
HEAD = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
BOX = b"[0 0 612 792]"
PASSWORD_PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


class OddPdf:
    """Objects by their numbers, from 1; a page tree is 2 and the catalog 1, unless it is said
    otherwise."""

    def __init__(self) -> None:
        self.objects: dict[int, bytes] = {}
        self.trailer = b""
        self.key = b""

    def add(self, body: bytes) -> int:
        number = len(self.objects) + 1
        self.objects[number] = body
        return number

    def stream(self, data: bytes, more: bytes = b"", *, packed: bool = False) -> int:
        if packed:
            data, more = zlib.compress(data, 9), more + b"/Filter/FlateDecode"
        if self.key:
            number = len(self.objects) + 1
            own = hashlib.md5(self.key + number.to_bytes(3, "little") + b"\0\0").digest()
            data = rc4(own[: len(self.key) + 5], data)
        length = b"" if b"/Length" in more else b"/Length %d" % len(data)
        return self.add(b"<<%s%s>>stream\n%s\nendstream" % (length, more, data))

    def written(self, head: bytes = HEAD, table: bytes | None = None, root: int = 1) -> bytes:
        """The file; `table` in place of the cross-reference table and the trailer."""
        out, places = bytearray(head), {}
        for number, body in self.objects.items():
            places[number] = len(out)
            out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        start = len(out)
        if table is None:
            rows = b"".join(b"%010d 00000 n \n" % place for place in places.values())
            size = len(places) + 1
            table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, rows)
            table += b"trailer\n<</Size %d/Root %d 0 R%s>>\n" % (size, root, self.trailer)
        return bytes(out) + table + b"startxref\n%d\n%%%%EOF\n" % start


def rc4(key: bytes, data: bytes) -> bytes:
    state, at = list(range(256)), 0
    for n in range(256):
        at = (at + state[n] + key[n % len(key)]) % 256
        state[n], state[at] = state[at], state[n]
    out, one, two = bytearray(), 0, 0
    for byte in data:
        one = (one + 1) % 256
        two = (two + state[one]) % 256
        state[one], state[two] = state[two], state[one]
        out.append(byte ^ state[(state[one] + state[two]) % 256])
    return bytes(out)


def sentence(chance: random.Random, words: int = 9) -> str:
    return "The " + " ".join(chance.choices(WORDS, k=words)) + "."


def drawn(text: str, y: int = 700) -> bytes:
    return b"BT /F1 12 Tf 72 %d Td (%s) Tj ET\n" % (y, text.encode("latin-1", "replace"))


def page_of(contents: int, more: bytes = b"", parent: int = 2, box: bytes = BOX) -> bytes:
    text = b"<</Type/Page/Parent %d 0 R/MediaBox%s/Resources<</Font<</F1 3 0 R>>%s>>"
    return text % (parent, box, more) + (b"/Contents %d 0 R>>" % contents if contents else b">>")


def with_pages(
    chance: random.Random,
    pages: int = 2,
    *,
    catalog: bytes = b"",
    count: bytes | None = None,
    font: bytes = FONT,
    box: bytes = BOX,
    said: Callable[[int], bytes] | None = None,
    stream: bytes = b"",
    pdf: OddPdf | None = None,
) -> OddPdf:
    made = pdf or OddPdf()
    made.add(b"<</Type/Catalog/Pages 2 0 R%s>>" % catalog)
    made.add(b"")
    made.add(font)
    kids = []
    for number in range(pages):
        text = said(number) if said else drawn(sentence(chance)) + drawn(sentence(chance), 680)
        kids.append(made.add(page_of(made.stream(text, stream), box=box)))
    names = b" ".join(b"%d 0 R" % kid for kid in kids)
    many = b"%d" % pages if count is None else count
    made.objects[2] = b"<</Type/Pages/Kids[%s]/Count %s>>" % (names, many)
    return made


def plain(chance: random.Random) -> bytes:
    return with_pages(chance, chance.randint(1, 4)).written()
