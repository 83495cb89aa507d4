"""Secrets as programs and people write them: keys and tokens, recognised by their beginning, their
form or the word before them; passwords, PINs and codes that open something, as a name, a linking
word and a value."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from memories.language.english.numbers import words_from
from memories.reading.guard.rule_forms import Finding, Form

LEAST_ENTROPY = 3.0  # bits a sign; of words and plain numbers it is less
LONGEST_BLOCK = 20_000  # characters of a private key

# The issuers' own prefixes.
_prefixed = Form(
    r"(?<![\w-])(?:(?:AKIA|ASIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{20,255}"
    r"|github_pat_[A-Za-z0-9_]{22,255}|gl(?:pat|ptt|dt|rt)-[\w-]{16,64}|xox[abeoprs]-[\w-]{8,250}"
    r"|xapp-[\w-]{20,200}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,120}|whsec_[A-Za-z0-9+/=]{16,80}"
    r"|sk-(?:proj-|ant-|svcacct-|admin-|or-)?[\w-]{16,220}|AIza[\w-]{30,40}|ya29\.[\w-]{20,250}"
    r"|GOCSPX-[\w-]{20,40}|SG\.[\w-]{16,32}\.[\w-]{16,64}|npm_[A-Za-z0-9]{30,40}|pypi-[\w-]{40,250}"
    r"|hf_[A-Za-z0-9]{30,40}|dop_v1_[a-f0-9]{60,70}|shp(?:at|ss|ca|pa)_[a-fA-F0-9]{30,40}"
    r"|sq0(?:atp|csp)-[\w-]{20,50}|AC[a-f0-9]{32}|SK[a-f0-9]{32}|key-[a-f0-9]{32}|[a-f0-9]{32}-us\d{1,2}"
    r"|AGE-SECRET-KEY-1[A-Z0-9]{40,70}|EAACEdEose0cBA[A-Za-z0-9]+|tvly-[\w-]{16,60}|gsk_[A-Za-z0-9]{20,80}"
    r"|(?:mem|lin_api|ntn|secret|vercel|fig[du]|dckr_pat|nvapi|r8|pplx|xai|co)[_-][A-Za-z0-9_-]{24,120})(?![\w-])",
    exact_case=True,
)
# A name of its own and groups of capitals and digits: "acme_prod_7K2M-Q9XD-4H1B".
_grouped = Form(
    r"(?<![\w-])(?:[A-Za-z]{2,12}_){1,4}(?=[A-Z0-9-]{0,30}\d)(?=[A-Z0-9-]{0,30}[A-Z])[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){1,6}(?![\w-])",
    exact_case=True,
)
_jwt = Form(r"(?<![\w-])eyJ[\w-]{8,4000}\.eyJ[\w-]{8,8000}(?:\.[\w-]{4,2000})?", exact_case=True)
_webhook = Form(
    r"hooks\.slack\.com/(?:services|workflows)/[\w/]{20,120}|discord(?:app)?\.com/api/webhooks/\d{10,25}/[\w-]{20,100}|\bapi\.telegram\.org/bot\d{6,12}:[\w-]{30,50}"
    r"|webhook\.office\.com/[\w@/-]{20,200}"
)
_block = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_block_end = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_userinfo = Form(
    r"(?<![\w+.-])[a-z][a-z0-9+.-]{1,30}://([^\s/:@'\"<>]{0,100}):([^\s/@'\"<>]{1,200})@[\w.-]+[^\s'\"<>]{0,200}"
)
_argument = Form(
    r"\b(?:mysql(?:dump|admin)?|sshpass|redis-cli|curl|ftp|sqlplus)\b[^\n]{0,80}?\s(?:-p|-a |-u )['\"]?(?P<value>(?=\S*\d)[^\s'\"]{6,80})",
    exact_case=True,
)
# A word that says that a key follows, and the key: a run of signs that is no word.
_named = Form(
    r"(?<![A-Za-z])(?:api|access|secret|private|encryption|signing|master|license|licence|product|activation"
    r"|auth|authentication|bearer|session|refresh|bot|webhook|client|deploy|deployment|personal|account|storage"
    r"|shared|service|app|admin|root|ssh|vpn|wpa2?|recovery|x-api)?[ _-]?(?:api[ _-]?)?"
    r"(?:keys?|tokens?|secrets?|credentials?|bearer|authorization)\b(?P<rest>.{0,80})"
)
_run = re.compile(r"[A-Za-z0-9+/=_.~-]{12,}")
_uuid = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_licence = re.compile(r"(?:[A-Z0-9]{4,6}-){2,7}[A-Z0-9]{4,6}")
_hash_words = re.compile(
    r"\b(?:commit|sha-?\d*|md5|hash(?:ed|es)?|checksum|digest|etag|revision|public|fingerprint|primary|foreign"
    r"|partition|sort|cache|idempotency|issue|ticket|jira|order|tracking|map|sorted)\b",
    re.IGNORECASE,
)
_placeholder = re.compile(
    r"your|example\b|placeholder|changeme|change-me|dummy|sample|<|\{|(?<!\w)\$|\*\*|xxx|\.\.\.|todo|insert|here$|redacted"
    r"|env|config|settings|process\.|request\.|self\.|localhost|\.(?:com|org|net|io|html|py|js|json|md|ts|yaml|yml)\b",
    re.IGNORECASE,
)


_key_of_examples = re.compile(r"pass|pwd|secret|port$|test", re.IGNORECASE)


MOST_CODES = 20


def find_keys(text: str) -> Iterator[Finding]:
    for match in _grouped.finditer(text):
        yield Finding(match.start(), match.end(), "key")
    for form in (_prefixed, _jwt):
        for match in form.finditer(text):
            if not is_placeholder(match[0]) and _has_variety(match[0]):
                yield Finding(match.start(), match.end(), "key")
    for match in _webhook.finditer(text):
        yield Finding(match.start(), match.end(), "key")
    for match in _userinfo.finditer(text):
        if not is_placeholder(match[2]) and not _key_of_examples.search(match[2]):
            yield Finding(match.start(), match.end(), "key")
    for match in _argument.finditer(text):
        if not is_placeholder(match["value"]):
            yield Finding(*match.span("value"), "key")


def find_named(text: str) -> Iterator[Finding]:
    """Yield runs of signs behind a word that announces a key."""
    for name in _named.finditer(text):
        before = text[max(0, name.start() - 25) : name.start()]
        if _hash_words.search(before) or _hash_words.search(name[0][: name.start("rest") - name.start()]):
            continue
        for match in _run.finditer(name["rest"]):
            value = match[0].strip(".=-_")
            if _hash_words.search(name["rest"][: match.start()]):
                break
            if _is_key(value):
                start = name.start("rest") + match.start()
                yield Finding(start, start + len(match[0].rstrip(".")), "key")
                break


def find_blocks(text: str) -> Iterator[Finding]:
    """Yield private keys, which span many lines."""
    for match in _block.finditer(text):
        end = _block_end.search(text, match.end(), match.end() + LONGEST_BLOCK)
        yield Finding(match.start(), end.end() if end else len(text.rstrip()), "key")


def is_placeholder(value: str) -> bool:
    """Tell whether a value stands for a secret that is yet to be put in, or for code that reads
    one."""
    return _placeholder.search(value) is not None


def entropy(value: str) -> float:
    """Return Shannon's entropy, in bits a sign."""
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())


def _is_key(value: str) -> bool:
    if is_placeholder(value) or _uuid.fullmatch(value):
        return False
    if _licence.fullmatch(value):
        return any(sign.isdigit() for sign in value)
    return len(value) >= 12 and _has_variety(value) and entropy(value) >= LEAST_ENTROPY


def _has_variety(value: str) -> bool:
    """Tell whether letters and digits vary more than in a word with a number behind it."""
    digits = sum(sign.isdigit() for sign in value)
    changes = sum(a.isdigit() != b.isdigit() for a, b in zip(value, value[1:], strict=False))
    letters = sum(sign.isalpha() for sign in value)
    cases = sum(a.isupper() != b.isupper() for a, b in zip(value, value[1:], strict=False))
    return letters >= 2 and digits >= 1 and (changes >= 3 or digits >= 4 or cases >= 8)


_PASSWORD = (
    r"pass ?words?|passwd|pass ?phrases?|pwd|(?:wlan|wifi|haupt)?-?passwort|kennwort|mot de passe|contrase(?:ñ|n)a|wachtwoord|senha(?= )|wi-?fi(?: network)? (?:key|pass)|wpa2? key|network key"
    r"|wi-?fi(?:,? (?:for|at|in|of|on) (?:the |our |my )?\w+){0,2}(?= ?[:=])|answers? to (?:the|my|his|her|our|their|your|that|this) (?:\w+ )?(?:security|secret|recovery) question"
    r"|(?:log-?in|sign-?in|account|bank|admin|root|email|router|server|database|db) (?:credentials?|pass)"
    r"|(?:seed|recovery|backup) (?:phrase|words)|mnemonic(?: phrase)?|secret phrase|security answer|safe ?word|code ?word"
    r"|pw|pass(?= for | ?[:=]| is | [^\s.]{6})|log-?in(?= for | to |:| is )"
)
_CODE = (
    r"pins?(?: (?:code|number|no\.?))?|puk(?: code)?|geheimzahl|zugangscode|pass ?codes?|(?:door|gate|alarm|garage|entry|access|security|unlock|lock|safe|locker"
    r"|vault|entrance|building|key ?pad|lock ?box|screen|phone|house|front door|back door|disarm|login|log-in|sign-in"
    r"|verification|authentication|auth|two-factor|2fa|mfa|one-time|single-use|sms|recovery|backup|confirmation sms)"
    r" (?:pass)?codes?|otps?|(?:safe|lock|padlock|locker|bike lock|vault)(?:'s)? combination|combination (?:to|of|for|on) (?:the|my|our|his|her|their|your) (?:\w+ ){0,2}?(?:safe|lock|padlock|locker|vault|suitcase|briefcase)"
    r"|cv[vc]2?|csc|code (?:to|for) (?:open|unlock|disarm|get in(?:to)?|the (?:front |back |garage )?(?:door|gate|alarm|safe|garage|building|lock ?box|locker|house))"
)
_name = Form(rf"(?<![A-Za-z0-9.$/@#-])(?:(?P<password>{_PASSWORD})|(?P<code>{_CODE}))(?![\w(\[])")
# What may stand between the name and the link: "for the office laptop", "on Netflix".
_where = (
    r"(?:,? (?:for|to|of|on|at|in|into|here|there|with|number|currently|by the way|just so you know"
    r"|(?:that|which) (?:I|we|you|opens|unlocks|gets)(?: (?:use|have|set|chose|need))?)(?: [\w'.@-]{1,30}){0,6}?)?"
)
_link = re.compile(
    rf"(?:'s(?=\s)|(?P<where>{_where})['\"`*]*\s*(?P<sign>:|=|:=|=>|->|–|—|\?|,(?=\s+it'?s\s)|\b(?:is|was|are|will be|has been|should be|remains|became|reads|goes|ist|lautet|heißt|equals)\b"
    r"|\((?=\S*\d)))\s*"
    r"(?:(?:it is|it's|that'?s|that would be|it was|now|currently|still|actually|just|simply|literally|set to|changed to|reset to|as follows|the word|the one with|this|today|temporarily|always|something like|called|:|=)[:,]?\s+)*",
    re.IGNORECASE,
)
_set = re.compile(rf"(?P<where>{_where})\s+(?P<sign>to|as|into|=)\s+(?=['\"`]?\S*[\d!@#$%^&*_])", re.IGNORECASE)
_quoted = re.compile(r"(['\"`“‘])(?P<value>[^'\"`“”‘’\n]{2,80})['\"`”’]")
_plain = re.compile(r"[^\s,;()<>\"“”]{2,80}")
_spelled = re.compile(
    rf"(?:(?:zero|oh|{words_from(1, 9)})(?:[ ,-]+(?!\w*ty)|\b)){{4,8}}",
    re.IGNORECASE,
)
_aside_code = re.compile(r" {1,2}|, (?=\d{4,8}[,.;)]| ?\d{4,8}$)")
_and = re.compile(r"(?:,|;| and| or|/)?\s+(?:and |or )?|[,;/]")
# Names that mean other things too: what follows them must not be a word.
_weak = re.compile(r"pw|pass|log-?in", re.IGNORECASE)
_beside = re.compile(r"\s+(?P<value>[^\s,;()<>\"“”]{2,80})")
_phrase = re.compile(r"[a-z]+(?:[ -][a-z]+){2,23}(?=[.!,;\n]|$)", re.IGNORECASE)
_digits = re.compile(
    r"#?(?P<value>\d{1,2}(?:[ -]\d{1,2}){2,5}|\d{2,4}[ -]\d{2,4}(?:[ -]\d{2,4})?|\d{3,10}|(?=[A-Za-z]*\d)[A-Z0-9]{4,10})[*#]?(?![\w%]|[.,:/-]\d)"
)
# Recovery codes are groups of small letters and digits.
_groups = re.compile(r"(?P<value>(?=[a-z-]{0,20}\d)[a-z0-9]{3,8}(?:-[a-z0-9]{3,8}){1,4})(?![\w-])", re.IGNORECASE)
# "hunter2 is my password", "use 482913 to log in"
_before = Form(
    r"(?<![\w.@/-])(?P<value>[^\s,;:()<>\"“”]{4,60})['\"`]? (?:is|was|as|=) (?:still |now |currently )?(?:my|our|the|his|her|their|your) (?:[\w'-]+ ){0,4}?"
    r"(?P<name>pass ?(?:word|code|phrase)|pin|door code|gate code|alarm code|access code|otp|(?:verification|security|one-time|login) code)(?![\w-])"
)
_with = Form(
    r"\b(?:log(?:ged)? ?in|sign(?:ed)? ?in|log(?:s|ged)? on|unlocks?|opens?|get in|username|user ?name|login)\b[^.\n]{0,60}?\b(?:with|using|use|enter|type|dial|punch in|key in|pass)\s+['\"`]?(?P<value>[^\s,;()<>\"“”]{4,60})"
)
_aside = Form(
    r"\b(?:pass ?(?:word|code|phrase)|pwd)s?(?: (?:everywhere|for (?:everything|all|it|that|this|most|the \w+)|again|still|too|at \w+|on \w+|there|since \w+)){0,3}, (?P<value>(?=[^\s,;]*\d)(?=[^\s,;]*[^\W\d])[^\s,;()<>\"“”='{}\[\]]{6,60})(?=[.,;!?)\n]|\s*$)"
)
# The value stands later in the sentence: "is still the one on the sticker, kX83pQ27", "used to be"
_later = Form(
    r"\b(?:my|our|his|her|their|the|your|old|\w+'s) (?:[\w'-]+ ){0,3}?pass ?(?:word|code|phrase)\b[^.!?\n=\"(]{0,60}?(?:, (?:still )?|: |\bused to be |\bstill |\bagain )['\"]?(?P<value>(?=[^\s,;]*[\d!@#$%^&*])(?=[^\s,;]*[^\W\d])[^\s,;()<>\"“”={}\[\]]{6,60})(?=[.,;!?)\n]|\s*$)"
)
# "used to be A, and now it's B": both
_used_to_be = r"\bpass ?(?:word|code|phrase)\b (?:(?:for|of|on|at) [\w'-]{1,30} )?(?:used to be|was) "
_then = r"[,;.]? (?:and |but |so )?(?:now |then )?(?:it(?:'s|’s| is| became)|I (?:changed|set|reset) it to) (?:now )?"
_former = Form(rf"{_used_to_be}(?P<value>[^\s,;()<>\"“”]{{6,60}})(?={_then})")
_latter = Form(rf"{_used_to_be}[^\s,;()<>\"“”]{{6,60}}{_then}(?P<value>[^\s,;()<>\"“”]{{6,60}})")
# "use the passphrase 'three plain words'"
_quoted_beside = Form(
    r"\b(?:use|using|enter|type|try|with|took|chose|picked|set|is|needs|wants)\b[^.\n'\"“”‘’]{0,40}\bpass ?(?:word|code|phrase) [\"'“‘](?P<value>(?!your|example|<)[^\"'“”‘’\n]{5,60})[\"'”’]"
)
_code_word = Form(
    r"\b(?:code|safe|pass) ?word,? [\"'“‘](?P<value>[^\"'“”‘’\n]{3,40})[\"'”’](?! (?:was|were|is|has|had|means?|comes?|in the|of the)\b)"
)
_account = Form(r"\b(?:admin(?:istrator)?|root|superuser|guest)\s*/\s*(?P<value>(?=\S*\d)[^\s,;/]{6,60})(?![\w/])")
_use = Form(
    r"\b(?:use|enter|type(?: in)?|punch(?: in)?|dial|key in)\s+['\"`]?(?P<value>\d(?:[ -]?\d){3,9})['\"`]?\s+(?:to|at|for|on|and) (?:the )?(?:log|sign|open|unlock|get in|enter|disarm|verify|confirm your|authenticate|door|gate|keypad|alarm)"
)
_dials = Form(
    r"\b(?:type|dial|punch in|key in|press)(?: in)?\s+(?P<value>#?\d{4,8}[#*]?)(?=[^.\n\d]{1,30}\b(?:door|gate|key ?pad|alarm|entrance|lock|lock ?box|safe|garage|barrier)\b)"
)
_wants = Form(
    r"\b(?:key ?pad|alarm|gate|door|lock|safe|lock ?box|phone|tablet|garage|entrance|barrier)\b[^.\n\d]{0,50}\b(?:type|enter|key in|punch in|dial|press|wants?|takes?|needs?|asks? for)(?: in)?\s+(?P<value>#?\d{4,8}[#*]?)(?![\w%:/-]|[.,]\d)(?! (?:euros?|dollars?|pounds?|minutes?|hours?|days?|km|miles|people|times|steps|kg|watts?|volts?)\b)"
)
_opens = Form(
    r"\b(?:disarm(?:s|ed)?|unlock(?:s|ed)?|opens?|key ?pad|alarm|gate|door|lock|safe|lock ?box)\b[^.\n\d]{0,30}\b(?:with|takes?|by typing|by entering|using|code)\s+(?P<value>#?\d{4,8}[#*]?)(?=\s*(?:[.!,;)]|$|\n))"
)
_pair = Form(
    r"\b(?:log-?in|user ?name|user|credentials?|creds)\b[\s:=]*(?:is |are )?[\w.@+-]{2,60}\s*(?:/|\||, ?|and )\s*(?P<value>(?=\S*[\d!@#$%^&*])[^\s,;]{5,60})"
)
# What people say of a password without telling it.
_SAID_OF = frozenset(
    """
    a about above across against all also always an and annoying another any anything as at attached available back bad
    because being below both bound broken but by cached case-sensitive complex confidential correct crucial current
    currently dead default defined definitely different difficult disabled down due easier easy either else empty enough
    essential even everything expiring fine for forgotten fresh from gone good great handled hard harder hashed here hidden
    hopefully how hers his if important impossible in incorrect inside into invalid irrelevant it its just kept key lame like
    likely long longer lost made mandatory maybe me mine missing more my mixed modern much necessary never new no none not
    nothing now null obsolete of off ok okay old on one only open optional or other our ours out outdated over part passed
    perfect personal pointless poor possible pretty private probably protected public quite random rather ready really
    reasonable redundant safe same secret secure sensitive sent set short shown simple so solid some something somewhere
    stale still stored strict strong stupid subject such super supposed sure temporary terrible that the their theirs them
    there these they this those through to too true tricky tucked two typical ugly unchanged under unique universal unknown
    unlike unsafe until up useless usually valid valuable very visible vital weak weird well what when where whether which
    while who why with within without working wrong written you your yours yes false undefined text string str char varchar
    integer int field input bool boolean value type password passwords passphrase pin code token manager managers reset
    hash login username user users email name form label validation policy policies required hint confirmation encryption
    authentication security strength length minimum maximum mdp n/a tbd case key-based passwordless i we he she sometimes
    shared between everywhere sticky rotated rubbish
    """.split()
)
_LITTLE = frozenset(
    "the a an to in on at of with for and or is was be my our your it that this not i we you they".split()
)
_participle = re.compile(r"[a-z]{2,}(?:ed|ing|ly|able|ible|ful|less|ish|ious)$", re.IGNORECASE)
_code_value = re.compile(r"[A-Za-z_]\w*(?:[.(\[{]|->|::)|[A-Z][A-Z0-9_]{3,}$|[\[{(<$%]|__|//|/|\\|\w+\)|==|--")
_of_examples = re.compile(r"pass|secret|user|test|admin|valid|wrong|abc|1234")  # in programs
_word_only = re.compile(r"[A-Za-z][a-z]*(?:'[a-z]+)?|[a-z]+(?:[-_][a-z]+)+")


def find(text: str) -> Iterator[Finding]:
    for name in _name.finditer(text):
        label = str(name.lastgroup)
        link = _link.match(text, name.end(), name.end() + 160) or _set.match(text, name.end(), name.end() + 160)
        if label == "code":
            yield from _code(text, name, link)
        else:
            yield from _password(text, name, link)
    for form in (_before, _with, _pair, _aside, _later, _account, _former, _latter):
        for match in form.finditer(text):
            value, start = match["value"].rstrip(".!?,'\"`"), match.start("value")
            if _is_marked(value) or (form is _before and value.isdigit()):
                yield Finding(start, start + len(value), "password")
    for form in (_use, _opens, _wants, _dials):
        for match in form.finditer(text):
            yield Finding(*match.span("value"), "code")
    for form in (_quoted_beside, _code_word):
        for match in form.finditer(text):
            yield Finding(*match.span("value"), "password")


def names(text: str) -> Iterator[re.Match[str]]:
    """Return the words that announce a password or a code; the group says which."""
    return _name.finditer(text)


def key_names(text: str) -> Iterator[re.Match[str]]:
    return _named.finditer(text)


def _code(text: str, name: re.Match[str], link: re.Match[str] | None) -> Iterator[Finding]:
    at = link.end() if link else name.end()
    if link is None:
        beside = _aside_code.match(text, at)
        if beside is None:
            return
        at = beside.end()
    at += text[at : at + 1] in tuple("'\"`*")
    value = _spelled.match(text, at)
    if value and link:
        yield Finding(value.start(), value.start() + len(value[0].rstrip(" ,-")), "code")
    forms = (_groups, _digits) if name[0].lower().startswith(("recovery", "backup")) else (_digits,)
    value = next(filter(None, (form.match(text, at) for form in forms)), None)
    if value is None:
        return
    # A year or a small count is no code where nothing links it.
    digits = re.sub(r"\D", "", value["value"])
    is_short = not name[0].lower().startswith(("cv", "csc"))
    if len(digits) < 3 or (link is None and is_short and len(digits) < 4):
        return
    yield Finding(*value.span("value"), "code")
    if name[0].lower().endswith("s"):  # several of them
        for _ in range(MOST_CODES):
            joint = _and.match(text, value.end())
            after = joint.end() if joint else len(text)
            value = next(filter(None, (form.match(text, after) for form in forms)), None)
            if value is None:
                return
            yield Finding(*value.span("value"), "code")


def _password(text: str, name: re.Match[str], link: re.Match[str] | None) -> Iterator[Finding]:
    at = link.end() if link else name.end()
    if link is None:
        # "password hunter22": the two stand side by side.
        value = _beside.match(text, at)
        word = value["value"].rstrip(".!?'`") if value else ""
        if value and _is_marked(word) and re.search(r"\d", word) and re.search(r"[^\W\d]", word):
            yield Finding(value.start("value"), value.start("value") + len(word), "password")
        return
    # Where the name is an identifier or a key of JSON, a bare word is no secret.
    beside = text[max(0, name.start() - 1) : name.start()], text[name.end() : name.end() + 1]
    in_code = beside[0] in tuple("\"'._-`<") or beside[1] in tuple("\"'`=_")
    in_code = in_code or link["sign"] in ("=", ":=", "=>")
    if quoted := _quoted.match(text, at):
        if _is_value(quoted["value"], is_quoted=True, in_code=in_code):
            yield Finding(*quoted.span("value"), "password")
        return
    if name[0].lower().endswith(("phrase", "phrases", "mnemonic", " words")):
        phrase = _phrase.match(text, at)
        words = phrase[0].lower().replace("-", " ").split() if phrase else []
        if phrase and not _LITTLE & set(words):
            yield Finding(*phrase.span(), "password")
            return
    value = _plain.match(text, at)
    if value is None:
        return
    word = value[0].rstrip(".!?,'`*")
    rest = text[value.start() + len(word) : value.end() + 3]
    is_value = _is_value(word, is_quoted=False, in_code=in_code) and rest[:1] not in ("(", "[")
    is_word = _weak.fullmatch(name[0]) or not _ends(rest)
    if is_value and (_is_marked(word) or not is_word):
        yield Finding(value.start(), value.start() + len(word), "password")


def _is_value(word: str, *, is_quoted: bool, in_code: bool) -> bool:
    low = word.lower().strip("'\"")
    if len(low) < 3 or is_placeholder(word) or low in _SAID_OF:
        return False
    if in_code and _of_examples.search(low):
        return False
    if _is_marked(word):
        return is_quoted or not _code_value.match(word)
    if in_code or _code_value.match(word):
        return False
    return is_quoted or not (_participle.search(low) or low.endswith("n't") or "'" in low)


def _is_marked(word: str) -> bool:
    """Tell whether a word holds what no word of prose does: a digit, a sign, a capital inside."""
    if is_placeholder(word) or len(word) < 4:
        return False
    if word.count("-") >= 2 and re.fullmatch(r"[A-Za-z]{3,}(?:-[A-Za-z]{3,}){2,}", word):
        return True
    if _word_only.fullmatch(word) or re.fullmatch(r"[A-Z]+|[A-Z][a-z]+(?:[-'][A-Z]?[a-z]+)*", word):
        return False
    if re.fullmatch(
        r"\d{1,2}(?::\d\d)?(?:am|pm|th|st|nd|rd|%)?|(?:19|20)\d\d|\d+(?:days?|hours?|min|mins|s|ms|x|k|%|px|mb|gb)",
        word,
        re.I,
    ):
        return False
    return any(sign.isdigit() for sign in word) or bool(re.search(r"[a-z][A-Z]|\w[!@#$%^&*_+=~]", word))


def _ends(rest: str) -> bool:
    """Tell whether the sentence, or its clause, is over after the value."""
    return (
        not rest.strip()
        or rest[0] in ".!?,;\n)"
        or re.match(r"['`*\"]*[.!?,;\n]|\s*(?:\n|$)|\s+(?:[-–—(]|an?d?\b|b)", rest) is not None
    )
