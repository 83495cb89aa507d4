"""PDFs that were damaged on their way, or whose tables and pages are not as they say."""

import random
import zlib

from bench.pdfs.pdf_writer import FONT, OddPdf, drawn, page_of, plain, sentence, with_pages

# ---- broken by an accident of the disk or the network


def truncated(chance: random.Random) -> bytes:
    data = plain(chance)
    return data[: chance.randrange(8, len(data))]


def flipped(chance: random.Random) -> bytes:
    data = bytearray(plain(chance))
    for _ in range(chance.choice((1, 5, 20, 80))):
        data[chance.randrange(8, len(data))] = chance.randrange(256)
    return bytes(data)


def hole(chance: random.Random) -> bytes:
    data = bytearray(plain(chance))
    start = chance.randrange(8, len(data) // 2)
    data[start : start + chance.randrange(20, 400)] = bytes(chance.randrange(20, 400))
    return bytes(data)


def shuffled(chance: random.Random) -> bytes:
    data = plain(chance)
    parts = [data[at : at + 97] for at in range(0, len(data), 97)]
    chance.shuffle(parts)
    return b"%PDF-1.4\n" + b"".join(parts)


def noise(chance: random.Random) -> bytes:
    return b"%PDF-1.5\n" + chance.randbytes(chance.choice((0, 1, 500, 50_000)))


def twice(chance: random.Random) -> bytes:
    return plain(chance) + plain(chance)


def line_ends(chance: random.Random) -> bytes:
    return plain(chance).replace(b"\n", chance.choice((b"\r\n", b"\r")))


# ---- head, table and trailer


def wrong_head(chance: random.Random) -> bytes:
    heads = (b"%PDF-9.9\n", b"%PDF-\n", b"\n\n  %PDF-1.4\n", b"%!PS-Adobe-3.0 PDF-1.4\n")
    return with_pages(chance).written(chance.choice(heads))


def junk_before(chance: random.Random) -> bytes:
    return b"HTTP/1.1 200 OK\r\n\r\n" + chance.randbytes(chance.choice((10, 900))) + plain(chance)


def no_table(chance: random.Random) -> bytes:
    return with_pages(chance).written(table=b"")


def wrong_table(chance: random.Random) -> bytes:
    rows = b"".join(b"%010d 00000 n \n" % chance.randrange(10**9) for _ in range(8))
    table = b"xref\n0 9\n0000000000 65535 f \n%strailer\n<</Size 9/Root 1 0 R>>\n" % rows
    return with_pages(chance).written(table=table)


def huge_table(chance: random.Random) -> bytes:
    size = chance.choice((8_388_607, 2**31 - 1, 2**63))
    table = b"xref\n0 %d\n0000000000 65535 f \ntrailer\n<</Size %d/Root 1 0 R>>\n" % (size, size)
    return with_pages(chance).written(table=table)


def table_ring(chance: random.Random) -> bytes:
    made = with_pages(chance)
    start = made.written().index(b"xref\n")
    made.trailer = b"/Prev %d" % (start - chance.choice((0, 1)))
    return made.written()


def no_root(chance: random.Random) -> bytes:
    return with_pages(chance).written(root=chance.choice((0, 3, 99)))


def updated(chance: random.Random) -> bytes:
    """A second version of a page behind the end, and sometimes one that does not fit."""
    made = with_pages(chance, 1)
    data = made.written()
    number = chance.choice((4, 4, 77))
    body = b"<</Length 44>>stream\n" + drawn("The new words of it.") + b"endstream"
    place = len(data)
    data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(data)
    data += b"xref\n%d 1\n%010d 00000 n \n" % (number, place)
    previous = made.written().index(b"xref\n") + chance.choice((0, 0, 3))
    end = b"trailer\n<</Size 9/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n"
    return data + end % (previous, start)


def packed_objects(chance: random.Random) -> bytes:
    """Objects inside of a stream, with a table that is one; `broken` ones lie about themselves."""
    broken = chance.choice((None, "N", "First", "W", "Extends"))
    inner = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[4 0 R]/Count 1>>",
        FONT,
        page_of(5),
    ]
    heads, at = [], 0
    for number, body in enumerate(inner, 1):
        heads.append(b"%d %d" % (number, at))
        at += len(body) + 1
    head = b" ".join(heads) + b" "
    first = 10**6 if broken == "First" else len(head)
    number = 10**7 if broken == "N" else len(inner)
    more = b"/Extends 6 0 R" if broken == "Extends" else b""
    made = OddPdf()
    made.objects = dict.fromkeys(range(1, 5), b"null")
    made.stream(drawn(sentence(chance)))
    form = b"/Type/ObjStm/N %d/First %d%s" % (number, first, more)
    made.stream(head + b"\n".join(inner), form, packed=True)
    made.objects = {n: body for n, body in made.objects.items() if n > 4}
    data = made.written(table=b"")
    data = data[: data.rindex(b"startxref")]
    places = {n: data.index(b"%d 0 obj" % n) for n in (5, 6)}
    rows = [b"\0\0\0\0\0", *(b"\2\0\0\6" + bytes([n]) for n in range(4))]
    rows += [b"\1" + places[n].to_bytes(3, "big") + b"\0" for n in (5, 6)]
    rows.append(b"\1" + len(data).to_bytes(3, "big") + b"\0")
    wide = b"[1 9999 1]" if broken == "W" else b"[1 3 1]"
    table = zlib.compress(b"".join(rows))
    form = b"<</Type/XRef/Size 8/Root 1 0 R/W%s/Filter/FlateDecode/Length %d>>" % (wide, len(table))
    end = b"7 0 obj\n%sstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n"
    return data + end % (form, table, len(data))


# ---- the tree of pages


def page_ring(chance: random.Random) -> bytes:
    made = with_pages(chance, 1)
    kids = chance.choice((b"[2 0 R]", b"[2 0 R 5 0 R 2 0 R]", b"[5 0 R 5 0 R 5 0 R]", b"2 0 R"))
    made.objects[2] = b"<</Type/Pages/Kids %s/Count 3/Parent 2 0 R>>" % kids
    return made.written()


def wrong_count(chance: random.Random) -> bytes:
    counts = (b"2147483647", b"-1", b"0", b"4000", b"1e9", b"(two)", b"3 0 R", b"99999999999999")
    return with_pages(chance, count=chance.choice(counts)).written()


def no_pages(chance: random.Random) -> bytes:
    return with_pages(chance, 0, count=chance.choice((b"0", b"1", b"7"))).written()


def deep_tree(chance: random.Random) -> bytes:
    made = with_pages(chance, 1)
    depth = chance.choice((50, 1_000, 20_000))
    first = len(made.objects) + 1
    for number in range(first, first + depth):
        kid = 5 if number == first + depth - 1 else number + 1
        made.add(b"<</Type/Pages/Kids[%d 0 R]/Count 1/Parent %d 0 R>>" % (kid, number - 1))
    made.objects[2] = b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % first
    return made.written()


def many_pages(chance: random.Random) -> bytes:
    return with_pages(chance, chance.choice((700, 6_000))).written()


def odd_box(chance: random.Random) -> bytes:
    boxes = (
        b"[0 0 1e30 1e30]",
        b"[0 0 0 0]",
        b"[612 792 0 0]",
        b"[0 0]",
        b"[(a) /b null true]",
        b"[0 0 2147483647 2147483647]",
        b"[-1e9 -1e9 1e9 1e9]",
        b"9 0 R",
    )
    return with_pages(chance, box=chance.choice(boxes)).written()


def odd_page(chance: random.Random) -> bytes:
    made = with_pages(chance, 2)
    bodies = (b"null", b"[]", b"<<>>", b"(page)", b"<</Type/Page/Contents 5 0 R>>", page_of(0))
    made.objects[5] = chance.choice(bodies)
    return made.written()
