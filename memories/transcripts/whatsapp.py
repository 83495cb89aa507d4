"""Lines of WhatsApp's exports: iOS writes [date, time] name: words, Android date, time - name: words,
each in the phone's own order of the date and its clock of 12 or 24 hours."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

# Marks of direction stand before lines and words that the program wrote; a narrow space before PM.
MARKS = "\u200e\u200f\u202a\u202b\u202c\u2068\u2069\ufeff"
_marks = str.maketrans({**dict.fromkeys(MARKS), "\u202f": " ", "\u00a0": " ", "\u2009": " "})
_half = r"(?:[AaPp]\.?[ \u00a0\u202f]?[Mm]\.?|上午|下午|오전|오후|午前|午後)"
WHATSAPP_LINE = re.compile(
    rf"^[{MARKS}]*(?P<open>\[)?(?P<a>\d{{1,4}})(?P<sep>[./-])[ ]?(?P<b>\d{{1,2}})[./-][ ]?(?P<c>\d{{1,4}})\.?,?"
    r"[ \u00a0]"
    rf"(?P<before>{_half})?[ ]?(?P<hour>\d{{1,2}})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?"
    rf"(?:[ \u202f\u00a0\u2009]?(?P<half>{_half}))?(?(open)\]| [-–])[ ](?P<rest>.*)$",
    re.DOTALL,
)
LONGEST_NAME = 60
AFTERNOON = ("p", "下", "오후", "午後")
# What iOS wrote itself begins with a mark of direction; of Android's the words are known.
_file = r"\.(?:jpe?g|png|webp|gif|heic|mp4|mov|3gp|opus|m4a|mp3|aac|ogg|pdf|docx?|xlsx?|pptx?|vcf|txt|zip|csv|apk)"
_media = re.compile(rf"^<[^<>\n]{{3,40}}>$|^[^\n]{{1,120}}{_file} \([^()\n]{{4,40}}\)(?=\n|$)", re.IGNORECASE)
_attached = re.compile(r"[\u200e ]{0,4}<[^<>\n]{1,30}: [^<>\n]{1,120}\.\w{2,5}>")
_edited = re.compile(
    r"[\u200e ]{0,4}<[^<>\n]{0,40}(?:edit|bearbeit|modifi|bewerkt|redigeret|redigerad)[^<>\n]{0,40}>\s*$", re.IGNORECASE
)
_deleted = re.compile(
    r"^(?:(?:this message was|you) deleted(?: this message)?|(?:diese nachricht wurde|du hast diese nachricht) gelöscht"
    r"|(?:se eliminó este|eliminaste este) mensaje"
    r"|(?:ce message a été|vous avez) supprimé(?: ce message)?"
    r"|(?:questo messaggio è stato eliminato|hai eliminato questo messaggio)"
    r"|(?:mensagem apagada|esta mensagem foi apagada|você apagou esta mensagem)"
    r"|dit bericht is verwijderd|missed (?:voice|video) call|waiting for this message.*|null)\.?$",
    re.IGNORECASE,
)
SYSTEM, MEDIA = "a line of the program itself", "a picture or file without words"


class Typed(NamedTuple):
    """Words that somebody typed in a message; `reason` says what it is where there are none."""

    words: str
    reason: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DateOrder:
    """`is_guessed` where every date of the log can be read both ways and in both is in order."""

    day_first: bool
    is_guessed: bool = False


class WhatsAppHead(NamedTuple):
    author: str
    at: datetime | None
    words: str


def date_order(log: Iterable[str]) -> DateOrder:
    """Tell whether days stand before months: by a number above 12, else by the order of the lines,
    else by the separator and the clock (10/5/26, 3:04 PM is written in the United States)."""
    latest: dict[bool, tuple[int, ...]] = {True: (), False: ()}
    back = {True: 0, False: 0}  # how often a line is earlier than the one before
    is_american = False
    for line in log:
        match = WHATSAPP_LINE.match(line)
        if not match or len(match["a"]) == 4:
            continue
        a, b, year = int(match["a"]), int(match["b"]), int(match["c"])
        if a > 12 or b > 12:
            return DateOrder(day_first=a > 12)
        is_american = is_american or bool(match["half"] and match["sep"] == "/" and not match["open"])
        for day_first, day in ((True, (year, b, a)), (False, (year, a, b))):
            back[day_first] += day < latest[day_first]
            latest[day_first] = day
    if back[True] != back[False]:
        return DateOrder(day_first=back[True] < back[False])
    is_open = latest[True] != latest[False]
    return DateOrder(day_first=not is_american, is_guessed=is_open)


@dataclass(frozen=True, slots=True)
class WhatsApp:
    order: DateOrder

    def head_of(self, text: str) -> WhatsAppHead | None:
        match = WHATSAPP_LINE.match(text)
        if not match:
            return None
        rest = match["rest"]
        name, colon, words = rest.partition(": ")
        if not colon and rest.endswith(":"):
            name, colon, words = rest[:-1], ":", ""
        # A line of the program may have a colon, too: it renames a group, in quotation marks.
        is_name = bool(colon) and len(name) <= LONGEST_NAME and not set('"“”«»„') & set(name)
        if not is_name:
            return WhatsAppHead("", self._moment(match), rest)
        return WhatsAppHead(name.translate(_marks).strip("~ "), self._moment(match), words)

    def _moment(self, match: re.Match[str]) -> datetime | None:
        a, b, c = int(match["a"]), int(match["b"]), int(match["c"])
        year, month, day = (a, b, c) if len(match["a"]) == 4 else (c, b, a) if self.order.day_first else (c, a, b)
        year += 2000 if year < 100 else 0
        hour = int(match["hour"])
        if half := (match["half"] or match["before"] or "").lower():
            hour = hour % 12 + 12 * half.startswith(AFTERNOON)
        try:
            return datetime(year, month, day, hour, int(match["minute"]), int(match["second"] or 0), tzinfo=UTC)
        except ValueError:
            return None


def typed_words(words: str) -> Typed:
    """Return what of a message somebody typed."""
    if words.startswith("\u200e") and not _attached.match(words):
        return Typed("", MEDIA if words.strip(MARKS).count(" ") == 1 else SYSTEM)
    plain = _edited.sub("", words).translate(_marks).strip()
    if _deleted.match(plain):
        return Typed("", "a deleted message")
    files = [match.strip(" <>").partition(": ")[2] for match in _attached.findall(plain)]
    if match := _media.match(plain):
        files.append(match[0].partition(" (")[0].strip("<>"))
        plain = plain[match.end() :]
    plain = _attached.sub("", plain).strip()
    return Typed(plain, "" if plain else MEDIA, tuple(files))
