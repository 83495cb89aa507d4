"""PDFs that are as they say, and say what hardly another one does."""

import hashlib
import io
import random
import zlib

from PIL import Image, ImageDraw

from bench.pdfs.pdf_writer import (
    BOX,
    FONT,
    PASSWORD_PAD,
    OddPdf,
    drawn,
    page_of,
    plain,
    rc4,
    sentence,
    with_pages,
)

BOMB = 300_000_000  # bytes, of some hundred thousand

# ---- streams


def bomb(chance: random.Random) -> bytes:
    """Megabytes that are packed into some hundred bytes, once or twice."""
    made = with_pages(chance, 1)
    packer = zlib.compressobj(9)
    part = chance.choice((b" ", b"\0", b"q ")) * (1 << 20)
    packed = b"".join(packer.compress(part) for _ in range(BOMB // len(part))) + packer.flush()
    form = b"/FlateDecode"
    if chance.random() < 0.5:
        packed, form = zlib.compress(packed, 9), b"/FlateDecode/FlateDecode"
    head = b"<</Length %d/Filter[%s]>>stream\n" % (len(packed), form)
    made.objects[4] = head + packed + b"\nendstream"
    return made.written()


def wordy(chance: random.Random) -> bytes:
    text = drawn(sentence(chance)) * chance.choice((20_000, 200_000))
    return with_pages(chance, 1, said=lambda _: zlib.compress(text), stream=b"/Filter/FlateDecode").written()


def wrong_length(chance: random.Random) -> bytes:
    lengths = (b"0", b"1", b"99999999", b"-5", b"4 0 R", b"(x)")
    return with_pages(chance, stream=b"/Length " + chance.choice(lengths)).written()


def odd_filter(chance: random.Random) -> bytes:
    forms = (
        b"/FlateDecode",
        b"/LZWDecode",
        b"/ASCII85Decode",
        b"/RunLengthDecode",
        b"/Nothing",
        b"[/ASCIIHexDecode/FlateDecode]",
        b"/JBIG2Decode",
        b"/Crypt",
        b"/DCTDecode",
        b"[" + b"/FlateDecode" * 500 + b"]",
    )
    parms = (b"", b"/DecodeParms<</Predictor 15/Columns 2147483647/Colors 99>>")
    stream = b"/Filter" + chance.choice(forms) + chance.choice(parms)
    return with_pages(chance, stream=stream).written()


def deep_nesting(chance: random.Random) -> bytes:
    depth = chance.choice((400, 30_000, 500_000))
    begin, end = chance.choice(((b"[", b"]"), (b"<</A", b">>"), (b"q ", b"Q "), (b"(", b")")))
    text = begin * depth + end * depth
    if chance.random() < 0.5:
        return with_pages(chance, said=lambda _: text + drawn("The end of it.")).written()
    return with_pages(chance, catalog=b"/Odd " + text).written()


def form_ring(chance: random.Random) -> bytes:
    """Forms that draw themselves, or each other many times."""
    made = with_pages(chance, 1, said=lambda _: b"/X1 Do\n" + drawn("The page itself."))
    levels = chance.choice((1, 3, 24))
    first = len(made.objects) + 1
    for number in range(first, first + levels):
        after = first if number == first + levels - 1 and levels < 24 else number + 1
        form = b"/Type/XObject/Subtype/Form/BBox%s/Resources<</XObject<</X1 %d 0 R>>>>"
        made.stream(b"/X1 Do /X1 Do\n", form % (BOX, after))
    made.objects[5] = page_of(4, b"/XObject<</X1 %d 0 R>>" % first)
    return made.written()


def strange_drawing(chance: random.Random) -> bytes:
    acts = (
        b"Q Q Q ET ET",
        b"BT BT BT",
        b"/F9 1e38 Tf",
        b"1e38 0 0 nan 0 0 cm",
        b"(" * 40,
        b"Tj",
        b"/F1 0 Tf",
        b"-2147483649 Tc",
        b"99999999999 Tr",
        b"BI /W 9 /H 9 ID x EI",
        b"<41 Tj",
        b"[1 2 (x) <<>> null] TJ",
        b"/P <</MCID 99999999>> BDC",
    )
    return with_pages(
        chance, said=lambda _: b"\n".join(chance.choices(acts, k=12)) + b"\n" + drawn("It ends.")
    ).written()


# ---- fonts and words


def no_map(chance: random.Random) -> bytes:
    font = (
        b"<</Type/Font/Subtype/Type0/BaseFont/Odd/Encoding/Identity-H/DescendantFonts["
        b"<</Type/Font/Subtype/CIDFontType2/BaseFont/Odd/CIDSystemInfo<</Registry(Adobe)"
        b"/Ordering(Identity)/Supplement 0>>>>]>>"
    )
    return with_pages(chance, font=font).written()


def odd_encoding(chance: random.Random) -> bytes:
    encodings = (
        b"/MacExpertEncoding",
        b"<</Differences[0/a/b/c 32/uniD800/u110000/.notdef]>>",
        b"<</Differences[97/g1/g2/g3/g4/g5/g6/g7/g8/g9/g10/g11/g12]>>",
        b"/None",
        b"[]",
        b"<</Differences[-5/a 99999/b]>>",
    )
    return with_pages(chance, font=FONT[:-2] + b"/Encoding" + chance.choice(encodings) + b">>").written()


def odd_map(chance: random.Random) -> bytes:
    """Letters that stand for what no database keeps."""
    made = with_pages(chance, 1)
    meant = chance.choice((b"D800", b"0000", b"FFFE", b"FFFF", b"DC00D800", b"0301" * 500, b""))
    text = b"1 beginbfrange\n<20> <7e> <%s>\nendbfrange\n" % meant
    head = b"/CIDInit/ProcSet findresource begin begincmap 1 begincodespacerange <00> <ff>\n"
    number = made.stream(head + b"endcodespacerange\n" + text + b"endcmap end")
    made.objects[3] = FONT[:-2] + b"/ToUnicode %d 0 R>>" % number
    return made.written()


def drawn_letters(chance: random.Random) -> bytes:
    font = (
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 1 1]/FontMatrix[0 0 0 0 0 0]/CharProcs"
        b"<</a 4 0 R>>/Encoding<</Differences[0/a]>>/FirstChar 0/LastChar 255/Widths[]>>"
    )
    return with_pages(chance, font=font).written()


def odd_names(chance: random.Random) -> bytes:
    made = with_pages(chance, 1)
    titles = (
        b"(\xfe\xff\xd8\x00\x00)",
        b"<FEFF" + b"0041" * 90_000 + b">",
        b"(\\000\\001)",
        b"9",
        b"(" + b"A" * 100_000 + b")",
    )
    info = b"<</Title %s/Author %s/CreationDate(D:99999999999999)>>"
    number = made.add(info % (chance.choice(titles), chance.choice(titles)))
    made.trailer = b"/Info %d 0 R" % number
    return made.written()


# ---- what is no text


def no_text(chance: random.Random) -> bytes:
    said = (b"", b" \n", b"0 0 100 100 re f", b"BT /F1 12 Tf (   ) Tj ET")
    return with_pages(chance, said=lambda _: chance.choice(said)).written()


def picture(text: str) -> Image.Image:
    made = Image.new("L", (600, 160), 255)
    ImageDraw.Draw(made).text((20, 50), text, fill=0, font_size=44)
    return made


def only_pictures(chance: random.Random) -> bytes:
    data = io.BytesIO()
    picture("HERON AT NOON").save(data, "JPEG")
    form = b"/Type/XObject/Subtype/Image/Width 600/Height 160/ColorSpace/DeviceGray"
    form += b"/BitsPerComponent 8/Filter/DCTDecode"
    return with_picture(chance, data.getvalue(), form)


def odd_pictures(chance: random.Random) -> bytes:
    form = b"/Type/XObject/Subtype/Image/Width %d/Height %d/ColorSpace%s/BitsPerComponent %d"
    size = chance.choice((0, 3, 60_000, 2**31 - 1))
    spaces = (b"/DeviceGray", b"/Odd", b"[/Indexed/DeviceRGB 99999 ()]", b"[/ICCBased 1 0 R]")
    form %= (size, size, chance.choice(spaces), chance.choice((1, 8, 16, 99)))
    filters = (b"", b"/Filter/JPXDecode", b"/Filter/JBIG2Decode", b"/Filter/CCITTFaxDecode")
    return with_picture(chance, chance.randbytes(400), form + chance.choice(filters))


def with_picture(chance: random.Random, data: bytes, form: bytes) -> bytes:
    made = with_pages(chance, 1, said=lambda _: b"q 600 0 0 160 6 400 cm /X1 Do Q")
    made.objects[5] = page_of(4, b"/XObject<</X1 %d 0 R>>" % made.stream(data, form))
    return made.written()


# ---- locked, and with things inside


def locked(chance: random.Random) -> bytes:
    return encrypted(chance, b"heron")


def locked_by_nothing(chance: random.Random) -> bytes:
    return encrypted(chance, b"")


def encrypted(chance: random.Random, user: bytes) -> bytes:
    """Encrypt by RC4 with 40 bits, as PDF 1.3 does."""
    name = chance.randbytes(16)
    padded = (user + PASSWORD_PAD)[:32]
    owner = rc4(hashlib.md5((b"owner" + PASSWORD_PAD)[:32]).digest()[:5], padded)
    rights = (-44).to_bytes(4, "little", signed=True)
    made = OddPdf()
    made.key = hashlib.md5(padded + owner + rights + name).digest()[:5]
    with_pages(chance, pdf=made)
    own = rc4(made.key, PASSWORD_PAD)
    form = b"/Encrypt<</Filter/Standard/V 1/R 2/O<%s>/U<%s>/P -44>>/ID[<%s><%s>]"
    made.trailer = form % (owner.hex().encode(), own.hex().encode(), *[name.hex().encode()] * 2)
    return made.written()


def locked_oddly(chance: random.Random) -> bytes:
    made = with_pages(chance)
    forms = (
        b"<</Filter/Odd/V 99>>",
        b"<</Filter/Standard/V 5/R 6/O()/U()/P 0>>",
        b"99 0 R",
        b"<</Filter/Standard/V 4/R 4/CF<</StdCF<</CFM/AESV2>>>>/O(x)/U(x)/P -1>>",
    )
    made.trailer = b"/Encrypt" + chance.choice(forms)
    return made.written()


def script(chance: random.Random) -> bytes:
    code = b"<</S/JavaScript/JS(while(true){app.alert\\(1\\)})>>"
    launch = b"<</S/Launch/F(/bin/sh)>>"
    return with_pages(chance, catalog=b"/OpenAction" + chance.choice((code, launch))).written()


def files_inside(chance: random.Random) -> bytes:
    made = with_pages(chance, 1)
    file = made.stream(zlib.compress(plain(chance)), b"/Type/EmbeddedFile/Filter/FlateDecode")
    names = b"/Names<</EmbeddedFiles<</Names[(../../a.pdf)<</Type/Filespec/EF<</F %d 0 R>>>>]>>>>"
    made.objects[1] = b"<</Type/Catalog/Pages 2 0 R%s>>" % (names % file)
    return made.written()


def notes_only(chance: random.Random) -> bytes:
    made = with_pages(chance, 1, said=lambda _: b"")
    note = b"/Annots[<</Subtype/Text/Rect[0 0 9 9]/Contents(%s)>> 5 0 R null]>>"
    made.objects[5] = page_of(4)[:-2] + note % sentence(chance).encode()
    return made.written()


def other_file(chance: random.Random) -> bytes:
    files = (
        b"<html><body>Not found</body></html>",
        b"",
        b"\0" * 4_000,
        b"PK\3\4 no archive",
        b"%PDF",
        b"%PDF-1.4\n%%EOF\n",
        b"%PDF-1.4\n" + b"\n" * 200_000,
    )
    return chance.choice(files)
