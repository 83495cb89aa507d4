"""Parts of a text that are not its speaker's own statements: code, quoted lines, served blocks,
other people's words, texts handed over to be worked on, fiction, and footers of mail programs.

Words of others count as such only where the first person stands in them: "My doctor said: no salt"
is news all the same.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from memories.language.english import frames

LONGEST = 2_000  # characters of a quotation
ASKED = 4  # questions of an interview, and lines of who answers
TIME_CODES = 3  # fewer are somebody's day

_first = re.compile(r"\b(?:I|we|my|our|me|us)\b", re.IGNORECASE)
_task = (
    r"(?:translate|proofread|rephrase|paraphrase|rewrite|reword|summari[sz]e|transcribe|shorten|polish"
    r"|(?:correct|edit|improve|fix|check|review) (?:the|this|these|my|that|following|grammar|spelling|text)\b"
    r"|(?:rate|grade|assess|evaluate|analy[sz]e|classify) (?:the|this|that|following) (?:[\w-]+ )?(?:review|text|essay|letter|paragraph|sentence|comment|passage|e-?mail|post)\b)"
)
_asked = r"(?:^|(?<=[.!?\n] )|(?<=\n))(?:(?:please|can you|could you|would you|now|hey|hi)[, ]+)*"
# "Can you proofread my letter? Dear Ms. Frey, I am ...", "Shorten this. I am ..."
_handed_next = re.compile(
    rf"{_asked}(?:(?:translate|proofread|rephrase|paraphrase|rewrite|reword|summari[sz]e|shorten|expand|polish|correct) (?:this|these|the following)\b"
    r"|make (?:this|the following) (?:sound|read|more|shorter|better)\b|(?:correct|fix|check) (?:the|my) (?:grammar|spelling)\b)"
    r"[^:\n.!?]{0,60}[.!?]\s+(?P<words>\S.{24,})"
    r"|\b(?:this|here) is the (?:first|second|third|fourth|fifth|next|last|final|other) (?:content|article|page|text|post|chapter|section|document|transcript|passage|e-?mail|review)[.:]\s+(?P<piece>\S.{24,})"
    rf"|{_asked}{_task}[^:\n.!?]{{0,80}}[.!?:]\s+(?P<letter>(?:Dear|To whom|Sehr geehrte)\b.*)"
    rf"|{_asked}{_task}[^:\n.!?]{{0,40}}\b(?:letter|application|statement|e-?mail)\b[^:\n.!?]{{0,40}}[.!?]\s+"
    r"(?P<closed>\S(?=.{0,3000}\b(?:look(?:ing)? forward to|sincerely|(?:kind|best) regards|writing to apply|hiring manager|your company)\b).*)",
    re.IGNORECASE | re.DOTALL,
)
# An exercise, with what is to be done in it
_exercise = re.compile(
    r"\b(?:(?:unit|lesson|exercise|worksheet|task) \d+|(?:this|the following) exercise|exercise:)", re.IGNORECASE
)
_to_solve = re.compile(
    r"\b(?:fill in|(?:complete|correct|translate|underline|rewrite) the (?:sentences?|text|gaps?|blanks?|verbs?|words?|following)|gaps|blanks|true or false|solve this|correct form)\b|_{3,}",
    re.IGNORECASE,
)
# Of an advertisement for a job any two
_vacancy = re.compile(
    r"\bjob (?:ad|advert|advertisement|description|posting|offer|listing)\b|\bthis (?:job|vacancy|position)\b|\bwe(?: are|['’]re) (?:hiring|looking for an? )|\byou (?:bring|have a|have at least|will work|are fluent)\b"
    r"|\bwe offer\b|\bapply (?:now|today|by|at|online|with)\b|\byour (?:profile|tasks|responsibilities|mission)\b|\bjoin (?:us|our team)\b|\bcompetitive salary\b",
    re.IGNORECASE,
)
# "0:08 So you can go to the settings": somebody speaks on a recording
_time_code = re.compile(r"^[ \t]*[\[(]?\d{1,2}:\d\d(?::\d\d)?[\])]?[ \t]+[A-Za-z][^\n]*", re.MULTILINE)
_asks_you = re.compile(
    r"^(?:(?=[^\n]{0,400}\byou(?:r|rs)?\b)[^\n]{4,400}\?[ \t]*$"
    r"|[^\n]{0,200}\b(?:(?:if you (?:could|can)|could you|would you|please) (?:tell us|introduce|explain to us|share with us)|may I ask)\b)",
    re.MULTILINE | re.IGNORECASE,
)
_handed = re.compile(
    rf"(?:^|(?<=[.!?\n] )|(?<=\n))(?:(?:please|can you|could you|would you|now|hey|hi)[, ]+)*{_task}"
    r"[^:\n.!?]{0,80}:\s*(?P<words>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_draft = re.compile(
    r"\b(?:here is|here's|here’s|this is|below is) (?:my|the|a|our) (?:[\w-]+ ){0,2}?(?:draft|text|essay|e-?mail|letter"
    r"|paragraph|translation|poem|story|post|message|homework|abstract|speech|sentence|lyrics|caption)s?"
    r"(?: [\w']+){0,4}: *(?P<words>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
# "My feedback on this answer: As a baker, I was ..."
_answer_back = re.compile(
    r"\b(?:feedback|comments?|thoughts|input|notes) (?:on|about|for) (?:this|the following|that) (?:[\w-]+ )?(?:reply|answer|text|response|draft|message|version|output)"
    r"(?: [\w']+){0,4}: *(?P<words>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_work = re.compile(
    r"\b(?:correct|proofread|rewrite|rephrase|improve|edit|feedback|review|translate|polish|check|shorten|fix)\b",
    re.IGNORECASE,
)
_turn = re.compile(r"(?:^|(?<=[.!?\n] )|(?<=\n))[ \t]*(?P<who>[A-Z][\w-]+(?: [A-Z][\w-]+)?): +(?=\S)")
_own_turns = ("Me", "I", "Myself")
# A letter with its opening and closing, an advertisement with its call, a file with its headings
_letter = re.compile(
    r"(?:^|\n)[ \t]*Dear [^\n]{1,80},?[ \t]*\n(?P<words>(?:[^\n]*\n){1,60}?)[ \t]*(?:(?:kind|best|warm) regards|sincerely|yours (?:sincerely|faithfully|truly)|best wishes|respectfully)\b"
    r"[^\n]*(?:\n[^\n]{0,60}){0,2}",
    re.IGNORECASE,
)
_call = re.compile(
    r"\b(?:sign up|call (?:us|today|now)|contact us|book (?:now|today|your)|order (?:now|today)|buy now|shop now|get started|subscribe|learn more|visit our|join us|get \d+ ?% off|\d+ ?% off|free trial|"
    r"download (?:now|the app)|money[- ]back|limited (?:time|offer)|our (?:customers|platform|experts|services)|enquire (?:now|today)|request a (?:free )?quote|free consultation|our mission is|our (?:experienced|dedicated|expert|friendly) team"
    r"|at \w+, we (?:are (?:committed|dedicated|passionate|proud)|believe|offer|provide|help|speciali[sz]e|strive|pride))\b",
    re.IGNORECASE,
)
_company = re.compile(r"\b(?:we|our|us)\b", re.IGNORECASE)
_alone = re.compile(r"\b(?:I|I'm|I’m|my|me)\b")
_paragraph = re.compile(r"[^\n]+(?:\n[^\n]+)*")
_headline = re.compile(r"^#{1,6} +(?P<title>[^\n]+)$", re.MULTILINE)
_own_headline = re.compile(
    r"\b(?:me|my|our|I|to[ -]?dos?|goals?|notes|likes|dislikes|allergies|preferences)\b", re.IGNORECASE
)
_choice = re.compile(r"\b(?:which|compare|choose|pick|rank|best|better)\b[^\n]{0,60}[?:]", re.IGNORECASE)
_numbered_own = re.compile(r"^[ \t]*(?:\d{1,2}[.)]|[-*•]|[A-D][.)])[ \t]+[\"“]?(?:I|We|My|Our)\b[^\n]*$", re.MULTILINE)


# What stands written or was overheard somewhere: "the sign says I ...", "post from a neighbour: I ..."
_notice = re.compile(
    r"\b(?:notice|sign|plaque|poster|sticker|label|leaflet|flyer|postcard|bulletin|auto-?reply|voicemail|recording|name ?tag|badge|t-?shirt|headline|caption|graffiti|tweet|post|comment|whatsapp|overheard|homework|announcement|narrator|character|actor)\b"
    r"[^.!?\n:]{0,50}(?::|,? (?:reads?|says?|said|goes)\b[ ,]*) *(?P<words>\S[^\n]*)",
    re.IGNORECASE,
)
MOST_LINES = 12  # of a signature
MESSAGE = 4_000  # characters; longer texts are not kept in mind


def pasted(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places in `text` that its speaker did not write: letters, advertisements, files,
    options to choose from."""
    small = text.lower()
    yield from _handed_in_line(text, small)
    if "dear " in small:
        yield from (match.span() for match in _letter.finditer(text))
    heads = list(_headline.finditer(text)) if "#" in text else []
    if len(heads) > 1 and not any(_own_headline.search(head["title"]) for head in heads):
        yield heads[0].start(), len(text)
    if len(_call.findall(small)) > 1:
        for paragraph in _paragraph.finditer(text):
            is_company = _company.search(paragraph[0]) and not _alone.search(paragraph[0])
            if is_company and _call.search(paragraph[0]):
                yield paragraph.span()
    if _choice.search(text):
        items = list(_numbered_own.finditer(text))
        if len(items) > 1:
            yield from (item.span() for item in items)


def _handed_in_line(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Yield what is handed over without any mark: after a request, an exercise, a vacancy."""
    offers = [match.start() for match in _vacancy.finditer(small)]
    if len(offers) > 1 and not _alone.search(text, offers[1]):
        yield (offers[0] if _alone.search(text, 0, offers[0]) else 0), len(text)
    times = list(_time_code.finditer(text))
    if len(times) >= TIME_CODES:
        yield times[0].start(), times[-1].end()
    # People who ask a question themselves wait for an answer; in an interview it stands there.
    asked = [match.start() for match in _asks_you.finditer(text)]
    is_long = text.count("\n") > 3 * ASKED and len(asked) >= ASKED
    if is_long and text.count("\n", asked[-2]) > ASKED:
        others = [turn for turn in _turn.finditer(text) if turn["who"] not in _own_turns]
        if len(others) >= ASKED:
            yield 0, len(text)
    exercise = _exercise.search(text)
    if exercise and _to_solve.search(text):
        yield exercise.start(), len(text)
    if ":" in text and (answer := _answer_back.search(text)):
        yield answer.span("words")
    for match in _handed_next.finditer(text):
        yield match.span(match.lastgroup or "words")


# A line that plays the part of a machine or its user, and is neither
_role = re.compile(
    r"^[ \t>#*\[<(|-]*(?:(?-i:SYSTEM|ASSISTANT|DEVELOPER|ADMIN|TOOL)(?: \w+){0,2}[\])>*|]*:"
    r"|(?:(?:system|assistant|developer|admin)(?: (?:prompt|message|note|override|instructions?|update|notice))?|new instructions?)[\])>*|]*: *"
    r"(?:please |you (?:must|should|will|are)|ignore|disregard|forget|override|store|save|remember|always|never|from now|I will|I have"
    r"|I'll|the user)\b|(?:im_start|/?system|inst)[|\]>]+)[^\n]*",
    re.MULTILINE | re.IGNORECASE,
)
# What the forms above cannot match without, in lower case: far cheaper to look for
_tasked = re.compile(rf"{_task}[^:\n.!?]{{0,80}}:")
_roles = ("system", "assistant", "developer", "admin", "tool", "instruction", "im_start")
_of_drafts = ("here is", "here's", "here’s", "this is", "below is")
_quotation = re.compile(rf"(?<![\w\"])(?:\"(?P<words>[^\"]{{3,{LONGEST}}})\"|“(?P<curly>[^”]{{3,{LONGEST}}})”)(?!\w)")
_blank_line = re.compile(r"\n[ \t]*\n")
_several = re.compile(r"[.!?…]\s+\S")
_opened = re.compile(rf"[\"“](?P<inner>[^\"”]{{1,{LONGEST}}})[\"”]")


def passages(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places in `text` of other people's words in the first person, and of the speaker's
    words that are no claim."""
    small = text.lower()
    if any(role in small for role in _roles):
        yield from (found.span() for found in _role.finditer(text))
    if not _first.search(text):
        return
    yield from not_in_earnest(text)
    if forwarded := frames.FORWARDED.search(text):
        yield forwarded.start(), len(text)
    if ":" in text:
        yield from _introduced(text, small)
    if len(text) <= LONGEST:
        yield from _spans(text, _notice)
    yield from pasted(text)
    if '"' in text or "“" in text:
        # Quotations of several sentences beside other words; a shorter one is part of its sentence.
        for match in _quotation.finditer(text):
            said = match["words"] or match["curly"]
            is_all = len(match.group()) >= len(text.strip()) - 1
            if not is_all and _several.search(said) and _first.search(said):
                yield match.span()


def not_in_earnest(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places in `text` of what is told in fiction, in play, as a sample or as a joke."""
    yield from _spans(text, frames.OF_A_SENTENCE)
    end = 0
    for opening in frames.OPENS.finditer(text):
        start = opening.start("words")
        if start >= end and (own := _first.search(text, start)):
            end = _end_of(text, opening.end())
            if own.start() < end:
                yield start, end


def _introduced(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Yield the places of what stands behind "my landlord wrote:", as far as lines or marks fence it off."""
    if _tasked.search(small):
        yield from _spans(text, _handed)
    if any(words in small for words in _of_drafts):
        yield from (span for span in _spans(text, _draft) if _opened.match(text, span[0]) or _work.search(text))
    for found in frames.INTRODUCES.finditer(text):
        start = found.start("words")
        if frames.OWN.search(text, found.start(), start):
            continue
        quote, fence = _opened.match(text, start), frames.FENCE.match(text, text.rfind("\n", 0, start) + 1)
        is_below = "\n" in text[found.start() : start]
        marked = quote or fence
        end = marked.end() if marked else _end_of(text, start)
        if not (marked or is_below) and (blank := _blank_line.search(text, start, end)):
            end = blank.start()
        if _first.search(text, start, end):
            yield start, end


def _end_of(text: str, start: int) -> int:
    """Return where what was opened ends: where its speaker returns to what is so, or asks the listener."""
    ends = [end.start() for form in (frames.RETURNS, frames.ASKS_AGAIN) if (end := form.search(text, start))]
    return min(ends, default=len(text))


def is_quoted(text: str, place: int) -> bool:
    """Tell whether `text[place]` stands between quotation marks."""
    return any(quote.start("inner") <= place < quote.end() for quote in _opened.finditer(text))


def _spans(text: str, form: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for match in form.finditer(text):
        start, end = match.span("words")
        quote = _opened.match(text, start)
        end = quote.end() if quote else end
        if _first.search(text, start, end):
            yield start, end


_speaker = r"(?![^\n]*\b(?:I|we|my|our|me)\b)"
_signature = re.compile(
    rf"^--[ \t]*\n(?:[^\n]*(?:\n|\Z)){{1,{MOST_LINES}}}|^_{{5,}}[ \t]*\n(?=[^\n]*\b(?:from|confidential|disclaimer)\b)"
    rf"(?:[^\n]*(?:\n|\Z)){{1,{MOST_LINES}}}",
    re.MULTILINE | re.IGNORECASE,
)
_footer = re.compile(
    r"^[ \t>]*(?:"
    r"(?:sent|written|typed) (?:from|with|via|on) (?:my (?:[\w-]+ ){0,3}[\w-]+|(?:[\w-]+ )?(?:mail|protonmail|gmail|yahoo|outlook|spark"
    r"|iphone|ipad|android|phone|tablet|mobile|samsung|galaxy|blackberry)\b[^\n]{0,40})[ .!]*"
    r"|get (?:outlook|\w+ mail|the app) for \w+[ .]*"
    r"|on [^\n]{6,80}, [^\n]{2,80} wrote:"
    r"|-{2,} ?(?:original|forwarded) message ?-{2,}"
    rf"|{_speaker}[^\n]*\b(?:unsubscribe|opt out of (?:these|this)|manage (?:your )?(?:email )?(?:preferences|subscriptions?)"
    r"|view (?:this|it)(?: \w+)? in (?:your|a) browser|you(?: are|'re|’re) receiving this|no longer (?:wish|want) to receive"
    r"|all rights reserved|do not reply to this (?:e-?mail|message)|(?:consider|think of) the environment before printing)\b[^\n]*"
    r"|[^\n]{0,60}(?:privacy policy|terms of (?:use|service)) *[|·•][^\n]*|(?:©|\(c\)|copyright) ?(?:©|\(c\))? ?(?:19|20)\d\d[^\n]*"
    r"|(?:this|the information (?:contained )?in this) (?:e-?mail|message|communication|transmission)\b[^\n]*"
    r"\b(?:confidential|privileged|intended (?:only|solely)|intended recipient|addressee)\b[^\n]*"
    r"|(?:confidentiality (?:notice|note)|disclaimer|legal notice)\b ?:[^\n]*"
    r"|if you (?:have received this|are not the intended|received this)[^\n]*"
    r")[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
# one of these, in small letters, stands in each
_signs = (
    "--",
    "___",
    "sent from",
    "sent with",
    "sent via",
    "sent on",
    "written on",
    "typed on",
    "get outlook",
    " for ios",
    " for android",
    "wrote:",
    "unsubscribe",
    "opt out",
    "manage your",
    "manage email",
    "manage preferences",
    "manage subscription",
    " browser",
    "receiving this",
    "to receive",
    "rights reserved",
    "do not reply",
    "environment before",
    "privacy policy",
    "terms of",
    "©",
    "(c)",
    "copyright",
    "confidential",
    "privileged",
    "intended",
    "addressee",
    "disclaimer",
    "legal notice",
    "received this",
)
_sign = re.compile("|".join(map(re.escape, _signs)))
_footer_line = re.compile(r"[^\n]+")


def footers(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of whole lines in `text` that no person says."""
    small = text.lower()
    if not _sign.search(small):
        return
    yield from (found.span() for found in _signature.finditer(text))
    for line in _footer_line.finditer(text):
        if _sign.search(line[0].lower()) and _footer.fullmatch(text, *line.span()):
            yield line.span()


_photo = re.compile(r"\[shared a photo: [^\]]{0,2000}\]")
_quoted_line = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
# Comments of code: between its signs, behind them, or over and among its lines
_comment = re.compile(r"/\*.{0,2000}?\*/", re.DOTALL)
_comment_line = re.compile(r"^[ \t]*//[^\n]*", re.MULTILINE)
_hash_line = re.compile(
    r"^(?: {2,}|\t)[ \t]*#[^\n]*"
    r"|^#[^\n#]*\n(?=[ \t]*(?:(?:def|class|import|from|return|const|let|var|async|function)\b|[\w.]+ ?[=(]))",
    re.MULTILINE,
)
_fence = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
# what is not speech, and a sign that each of these needs
_unspoken = (
    (frames.SERVED, "<"),
    (_fence, "```"),
    (_fence, "~~~"),
    (_quoted_line, ">"),
    (_photo, "[shared"),
    (_comment, "/*"),
    (_comment_line, "//"),
    (_hash_line, "#"),
)


def served_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of the marked blocks that a memory server has inserted."""
    yield from (block.span() for block in frames.SERVED.finditer(text))


def spoken(text: str) -> str:
    """Return `text` with blank lines in place of what its speaker does not say: code, quoted lines,
    served blocks, and words of others."""
    return _spoken_message(text) if len(text) <= MESSAGE else _spoken(text)


def _spoken(text: str) -> str:
    text = unmarked(text)
    return _without(text, passages(text))


# Of a message told in its turn, the ones before are known.
_spoken_message = lru_cache(maxsize=64)(_spoken)


def unmarked(text: str) -> str:
    """Return `text` with blank lines in place of what its marks say is not speech: code,
    quotations, blocks, footers."""
    for block, sign in _unspoken:
        if sign in text:
            text = block.sub(lambda found: "\n" * len(found[0]), text)
    return _without(text, footers(text))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept, position = [], 0
    for start, end in sorted(spans):
        if end > position:
            kept += [text[position:start], "\n" * (end - max(start, position))]
            position = end
    return "".join([*kept, text[position:]]) if kept else text
