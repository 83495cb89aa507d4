"""Keys and tokens of programs: by what they begin with, by their form, or by the word before
them."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from memories.guard.finding import Finding
from memories.guard.form import Form

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


_of_examples = re.compile(r"pass|pwd|secret|port$|test", re.IGNORECASE)


def find(text: str) -> Iterator[Finding]:
    for match in _grouped.finditer(text):
        yield Finding(match.start(), match.end(), "key")
    for form in (_prefixed, _jwt):
        for match in form.finditer(text):
            if not is_placeholder(match[0]) and _has_variety(match[0]):
                yield Finding(match.start(), match.end(), "key")
    for match in _webhook.finditer(text):
        yield Finding(match.start(), match.end(), "key")
    for match in _userinfo.finditer(text):
        if not is_placeholder(match[2]) and not _of_examples.search(match[2]):
            yield Finding(match.start(), match.end(), "key")
    for match in _argument.finditer(text):
        if not is_placeholder(match["value"]):
            yield Finding(*match.span("value"), "key")


def find_named(text: str) -> Iterator[Finding]:
    """Runs of signs behind a word that says that a key follows."""
    for name in _named.finditer(text):
        before = text[max(0, name.start() - 25) : name.start()]
        if _hash_words.search(before) or _hash_words.search(
            name[0][: name.start("rest") - name.start()]
        ):
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
    """Private keys, which go over many lines."""
    for match in _block.finditer(text):
        end = _block_end.search(text, match.end(), match.end() + LONGEST_BLOCK)
        yield Finding(match.start(), end.end() if end else len(text.rstrip()), "key")


def is_placeholder(value: str) -> bool:
    """Whether it stands for a secret that somebody is to put in, or for the code that reads one."""
    return _placeholder.search(value) is not None


def entropy(value: str) -> float:
    """Shannon's, in bits a sign."""
    counts = Counter(value)
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())


def _is_key(value: str) -> bool:
    if is_placeholder(value) or _uuid.fullmatch(value):
        return False
    if _licence.fullmatch(value):
        return any(sign.isdigit() for sign in value)
    return len(value) >= 12 and _has_variety(value) and entropy(value) >= LEAST_ENTROPY


def _has_variety(value: str) -> bool:
    """Letters and digits, more than a word with a number behind it has."""
    digits = sum(sign.isdigit() for sign in value)
    changes = sum(a.isdigit() != b.isdigit() for a, b in zip(value, value[1:], strict=False))
    letters = sum(sign.isalpha() for sign in value)
    cases = sum(a.isupper() != b.isupper() for a, b in zip(value, value[1:], strict=False))
    return letters >= 2 and digits >= 1 and (changes >= 3 or digits >= 4 or cases >= 8)
