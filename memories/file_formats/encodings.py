"""The encoding of a text that does not say it: by its mark, by where its zero bytes stand, and by how
usual its letters are in the languages that are written so."""

import re

from charset_normalizer import from_bytes

MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
LONGEST_QUESTION = 500  # characters
LOOKED_AT = 20_000  # bytes by which a text's encoding is told
LEAST_ZEROS = 0.2  # of the bytes at even, or at odd places: so many has UTF-16 of a Latin script
LEAST_FIT = 0.6
# The letters beyond ASCII of languages, the most frequent first, by the encoding of their texts, the
# most usual first: of two that fit as well, the first is meant.
LATIN = {
    "cp1252": (
        "üäöß",  # German, and so on: French, Spanish, Portuguese, Italian, Nordic, Icelandic, Dutch
        "éèàêçâîôûùïëüœæÿ",
        "óíáéñúüºª",
        "ãçáéõíóêâúàôü",
        "èàùòéìîóíú",
        "åøäöæéóôâü",
        "áíóðþéúæýö",
        "éëïèöüáóíúàç",
        "šž",  # names
    ),
    "cp1250": ("łęąóżśćńź", "íáéěřčýžšůúťďňó", "áíéčšžýúťľôňäďóŕĺ", "áéóöőíüúű", "ăîâşţ", "čšžćđ", "üäöß"),
    "cp1254": ("ıişğüçöâîûİ",),
    "cp1257": ("ėšąųžįūčę", "āīēšūņļķžčģ", "õäüöšž"),
}
LATIN["iso8859_2"] = LATIN["cp1250"]
# Of other scripts, the most frequent letters first.
OTHER = {
    "cp1251": ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё", "оаиніветрсклдмупяьзгбчйхцжїюєшщфґ"),
    "koi8_r": ("оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",),
    "cp1253": ("αοιετσνηυρπκμλςωίόθγδάχέφήύβξζώψϊϋ",),
    "cp1255": ("יוהלאבמרתשנםדקחפעכטגצזןסךףץ",),
    "cp1256": ("اليمنورتبةعدسفهكقأحجشصىخإطزثئضغذءظؤآ،؟",),
    "cp874": ("านรกอเง่ลยมสทวด้ตคัิปบหขีพจชะผไแืุูซใถธโำณศ",),
}
# Of East Asia: a character here is a word of every text; any other is one of thousands.
WIDE = {
    "gb18030": "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下会自着去过家学，。、！？：；",
    "shift_jis": "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FD)))) + "。、！？「」",
    "big5": "的一是不了人我在有他這中大來上國個到說們為子和你地出道也時年得就那要下會自著去過家學，。、！？：；「」",
    "euc_kr": "이다는을가의에고하지도한은사로기어나리자서아인대스시라있일해부전정수주제그상보들장게성으를니었습했요",
}
WIDE["euc_jp"] = WIDE["shift_jis"]
SIGNS = frozenset("¿¡–—‘’“”„…•€£§°©®™«»½¼¾²³·×±µ\u00a0\u00ad")  # of texts in any language
OF_NUMBERS = frozenset("€£½¼¾²³±")  # which stand before no letter
TIE = 0.05  # of one letter: by so much less a Western text is still meant
JOINTS = frozenset("’–—…·\u00ad")  # which may stand between two letters
_WORD = re.compile(r"[^\W\d_]+")
_GLUED = re.compile("[a-z][\u3040-\ud7ff\uff00-\uffef]|[\u3040-\ud7ff\uff00-\uffef][a-z]")


def encoding_of(data: bytes) -> str:
    """Return the encoding of the bytes of a text; of several that fit, the most usual one."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return encoding
    if encoding := encoding_by_zeros(data):
        return encoding
    try:
        data.decode()
    except UnicodeDecodeError:
        part = data if len(data) <= LOOKED_AT else data[:LOOKED_AT].rpartition(b"\n")[0] or data[:LOOKED_AT]
        said = [sign for sign in part.decode(errors="replace") if not sign.isascii()]
        if len(said) > 5 * said.count("\ufffd"):
            return "utf-8"  # a few bytes of it are broken
        return _best_of(part)
    return "utf-8"


def _best_of(part: bytes) -> str:
    fits = {encoding: _fit(part, encoding) for encoding in (*LATIN, *OTHER, *WIDE)}
    fits["cp1252"] += TIE / max(3, sum(byte > 0x7F for byte in part))
    best = max(fits, key=lambda encoding: fits[encoding])
    if fits[best] >= LEAST_FIT:
        return best
    guess = from_bytes(part).best()
    return guess.encoding if guess else "cp1252"


def encoding_by_zeros(data: bytes) -> str:
    """Return which UTF-16 the bytes are; empty for any other text, and for what is no text."""
    part = data[:4096]
    even, odd = part[::2].count(0), part[1::2].count(0)
    if len(data) % 2 or max(even, odd) <= len(part) / 2 * LEAST_ZEROS or min(even, odd) > max(even, odd) / 20:
        return ""
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = part.decode(encoding, errors="replace")
    strange = sum(not (sign.isprintable() or sign.isspace()) for sign in text)
    return "" if strange > 1 else encoding


def _fit(data: bytes, encoding: str) -> float:
    """Return how usual a text would be that is written so, 0 to 1."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return 0.0
    at = [n for n, sign in enumerate(text) if not sign.isascii()]
    letters = [text[n].lower() if len(text[n].lower()) == 1 else text[n] for n in at if text[n] not in SIGNS]
    signs = sum(text[n] in SIGNS and not _is_out_of_place(text, n) for n in at)
    if encoding in WIDE:
        usual = sum(1.0 if sign in WIDE[encoding] else 0.6 if "\u4e00" <= sign <= "\ud7a3" else 0.0 for sign in letters)
        glued = len(_GLUED.findall(text))
        return max(0.0, usual - glued) / max(1, len(letters))
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    plausible = [word for word in words if word[1:] == word[1:].lower() or word.isupper()]
    if encoding in LATIN:
        known = frozenset("".join(LATIN[encoding]))
        ranks = [dict.fromkeys(known, 0.8) | _weights(own, 0.15) for own in LATIN[encoding]]
        plausible = [word for word in plausible if len(word) < 4 or any(sign.isascii() for sign in word)]
    else:
        ranks = [_weights(own, 0.5) for own in OTHER[encoding]]
        plausible = [word for word in plausible if not any(sign.isascii() for sign in word)]
    usual = max(sum(rank.get(sign, 0.0) for sign in letters) for rank in ranks)
    return (usual + signs) / max(1, len(at)) * (len(plausible) / len(words) if words else 1.0)


def _weights(letters: str, slope: float) -> dict[str, float]:
    """Return how usual each letter is: 1 for the first, less by up to `slope` for the others."""
    return {letter: 1 - slope * rank / len(letters) for rank, letter in enumerate(letters)}


def _is_out_of_place(text: str, at: int) -> bool:
    """Tell whether a sign stands where a letter of another encoding would."""
    before, behind = text[at - 1 : at].isalpha(), text[at + 1 : at + 2].isalpha()
    if text[at] in "¿¡" and {"¿": "?", "¡": "!"}[text[at]] not in text[at : at + LONGEST_QUESTION]:
        return True
    return behind and (text[at] in OF_NUMBERS or (before and text[at] not in JOINTS))
