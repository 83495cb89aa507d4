"""Things that a text names exactly: what stands in quotation marks, identifiers, amounts of money,
and the words behind "the label" or "the nickname". Pure."""

import re

MOST = 4  # values of one text
LONGEST = 80  # characters of a value

_quoted = re.compile(r"(?<!\w)['‘\"“](?P<value>[^'‘’\"“”\n]{2,80})['’\"”](?!\w)")
_identifier = re.compile(
    r"[\w.+-]{1,40}@[\w-]{1,40}(?:\.\w{1,20}){1,4}|(?<![\w@/-])(?=[\w.@-]{0,60}\d)(?:(?=[\w.@-]{0,60}[A-Za-z])\w{1,40}(?:[-_.@]\w{1,40}){1,8}|[A-Za-z]{1,12}\d{2,20}\w{0,20})(?![\w@])|(?<![\w+-])\+?\d[\d -]{4,18}\d(?![\w-])"
)
_amount = re.compile(
    r"(?<![\w.,])(?:[$€£]\s?\d[\d.,]{0,14}k?|\d[\d.,]{0,14}k?\s?(?:USD|EUR|GBP|CHF|dollars|euros|pounds|francs))(?<![.,])(?!\w)",
    re.IGNORECASE,
)
_STOP = (
    r"(?!(?:of|for|that|which|who|from|in|on|out|off|and|or|is|was|are|were|to|we|I|you|they|as|by|with|it|has|had|should|must|may|will|can"
    r"|stays?|remains?|now|when|while|during|after|before|until|if|because|since|please)\b)"
)
_labelled = re.compile(
    r"\b(?:label|phrase|wording|nick ?name|code ?name|code ?word|alias|tag|title|(?:customer|client|company|sponsor|vendor|partner|site|project|internal|code) name)"
    rf" (?P<value>{_STOP}[\w'’&-]{{1,30}}(?: {_STOP}[\w'’&-]{{1,30}}){{0,4}})",
    re.IGNORECASE,
)
_mapping = re.compile(r"\s*(?:=>?|->|→)\s*")

# what shall stand instead
_kept_instead = re.compile(
    r"\b(?:now that|so that|keep(?:ing)? (?:only|just)|(?:and|but|then|just) (?:keep|use|rely)|(?:and|but|only|now) the (?:current|new|active)|replaced by|in favou?r of|instead (?:of|use)|(?:the|our) (?:current|new|active) \w+ (?:is|are|remains?))\b",
    re.IGNORECASE,
)


def exact_values(text: str) -> list[str]:
    """Return the exact values in their order, each once, at most MOST: of a mapping ("A = B") only
    what it maps to, and nothing that a text says shall stand instead."""
    if instead := _kept_instead.search(text):
        text = text[: instead.start()]
    places = [
        (match.start(), match["value"] if "value" in form.groupindex else match[0])
        for form in (_quoted, _identifier, _amount, _labelled)
        for match in form.finditer(text)
    ]
    values: list[str] = []
    for _, value in sorted(places):
        value = _mapping.split(value)[-1].strip(" .,;:!?")
        is_part = any(value.casefold() in each.casefold() for each in values)
        if len(value) >= 2 and not is_part:
            values.append(value)
    return values[:MOST]


def places_of(value: str, text: str) -> list[tuple[int, int]]:
    """Return the places where `text` names a value, as whole words and in any case."""
    form = rf"(?<!\w){re.escape(value)}(?!\w)"
    return [match.span() for match in re.finditer(form, text, re.IGNORECASE)]


_GONE = r"(?:deleted|removed|erased|purged|forgotten|expunged|wiped|redacted)"
_SERVED = (
    r"(?:recall(?:ed|ing)?|reviv(?:ed?|ing)|(?:re)?surfac(?:ed?|ing)|(?:bring(?:ing)?|brought) (?:it |them |that )?back(?: up)?(?= in| into)"
    r"|reintroduc(?:ed?|ing)|resurrect(?:ed|ing)?)"
)
_withdrawn = re.compile(
    rf"\b(?:treat(?:ed)?|consider(?:ed)?|regard(?:ed)?|count(?:ed)?) (?:[^,;:!?]{{1,50}}? )?(?:as |to be )(?:permanently |now )?{_GONE}\b"
    rf"|\b(?:must|should|may|shall|can|is|are|needs?|ought)(?: to)?(?: not|n['’]t| never| no longer)(?: to)?(?: ever)? (?:be )?(?:used or |shown or )?{_SERVED}\b"
    rf"|\b(?:do not|don['’]t|never|stop|quit|cease|no longer|not)(?: ever| be)? {_SERVED}\b"
    rf"|\b(?:the|that|this|our|my|both|all)(?: (?:old|older|earlier|former|previous|retired|exact|now|provisional|original)){{0,3}}[ -]{_GONE}\b.{{0,80}}\b(?:stays?|remains?|to stay|should stay|must stay)\b"
    rf"|\b(?:treat(?:ed)?|consider(?:ed)?|regard(?:ed)?) (?:[^,;:!?]{{1,50}}? )?(?:as |to be )?(?:permanently |now )?(?:(?:historical|retired|obsolete|deleted) and )?(?:permanently |now )?(?:unavailable|off limits|not to be (?:used|named|shown))\b"
    rf"|\b(?:is|are|was) (?:now |both )?(?:retired|withdrawn|historical|superseded) and (?:now |permanently |to stay )?(?:{_GONE}|unavailable)\b"
    rf"|\b(?:stays?|remains?) (?:now |also |permanently |retired and )?{_GONE}(?: and|,|;|\.|$)",
    re.IGNORECASE,
)


# Somebody is told of as having done it, or it is a file.
_heard_of = re.compile(
    r"\b(?:he|she|they|somebody|someone|who|it) (?:says?|said|was|were|has|have|had|deleted|removed)\b|\b(?:files?|folders?|branch(?:es)?|commits?|tickets?|rows?|tables?|columns?|keys?|records?|accounts?|users?|emails?|photos?|pictures?|documents?|orders?|bookings?)\b|\bI (?:deleted|removed|erased|wiped)\b",
    re.IGNORECASE,
)
_new_subject = re.compile(r"\b(?:the|an?|my|our|your|his|her|its|their|this|that|these|those|I|we|you|they|it)\b", re.I)


def withdrawn_value(sentence: str) -> str:
    """Return the exact value that a sentence says is no longer served, or already deleted: "The
    earlier code bh-12 stays deleted." Empty if it says so of no value that it names."""
    match = None if _heard_of.search(sentence) else _withdrawn.search(sentence)
    for value in exact_values(sentence) if match else ():
        start, end = places_of(value, sentence)[0]
        if match is None or match.start() <= start < match.end():
            return value
        is_named = match[0][:4].lower() in ("the ", "that", "this", "our ", "my o", "both", "all ")
        between = sentence[end : match.start()] or _new_subject.sub("", sentence[match.end() : start], count=1)
        if not is_named and len(between) < 60 and not _new_subject.search(between):
            return value
    return ""
