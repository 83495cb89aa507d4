"""From the first person to the third: "I love my dog" by Alex is "Alex loves their dog".

The first mention gets the speaker's name, later ones "they", "them" and "their": a text does not
tell how its speaker wants to be called. Clauses come here as `read_clause` leaves them.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property

from memories.language.english import verbs

TEAM = "Team"
# "us-east-1", "t.me/alex", "/home/me", "C:\\me" and "my.cnf" are nobody
_token = re.compile(
    r"(?:[~.]?/|\w:\\|[^\s\"'“”(),;]{0,80}(?:[@\\]\w|://|/[^\s/]{0,80}/|\w\.[a-z0-9]))[^\s\"“”(),;]*"
    r"|[\w']+(?:-[\w']+)*|[^\w']+?(?=[\w'~./]|$)"
)
_companion = r"my \w+(?: (?:friend|colleague|neighbou?r))?(?: (?-i:[A-Z])[\w-]{1,40})?|(?-i:[A-Z])[\w-]{1,40}"
_pair = re.compile(
    rf"\b(?:(?<!\bin )(?<!\bon )(?<!\bto )(?<!\bof )(?<!\bfor )(?<!\bwith )(?<!\bby )me and (?P<after>{_companion})|(?<!\bin )(?<!\bat )(?<!\bnear )(?<!\bfrom )(?P<before>{_companion}) and (?:I|me))\b",
    re.IGNORECASE,
)
_first = re.compile(
    r"(?<![/@.\\-])\b(?:I|me|my|mine|myself|we|(?!(?-i:US)\b)us|our|ours|ourselves)\b(?![/@\\-]|\.\w)", re.IGNORECASE
)
_second = re.compile(r"\b(?:you|yours?)\b", re.IGNORECASE)
_agreed = {"are": "is", "were": "was", "have": "has", "do": "does", "don't": "doesn't"}
_second_subject = re.compile(rf"\byou ({'|'.join(_agreed)})\b", re.IGNORECASE)
_numbered = re.compile(r"(?:War|Type|Book|Part|Phase|Chapter|Level|Class|Stage|Volume|Grade|Tier|Act|Unit|Elizabeth)$")
_pronouns = frozenset(("my", "our", "me", "us", "we", "mine", "ours", "myself", "ourselves"))
_quote_marks = frozenset('"“”«»')
_joinable = frozenset(
    "am have do want need enjoy think go get make keep prefer know take eat live hate feel try teach"
    " study wear sleep speak drive sing collect avoid sell bake own read write listen volunteer".split()
)
# these are nouns too: verbs only where an object or a place follows
_maybe_joinable = frozenset("love like use work play hope plan drink".split())
_after_verb = frozenset(["a", "an", "the", "my", "to", "it", "them", "in", "at", "on", "with", "for", "as", "some"])
_breaks = frozenset(["i", "we", "to", "you", "they", "who", "that", "which", "can", "will", "would", "not"])


def mentions_speaker(clause: str) -> bool:
    return bool(_first.search(clause))


def mentions(clause: str) -> int:
    """Count how often `clause` names its speaker."""
    return len(_first.findall(clause))


def with_listener(clause: str, listener: str) -> str:
    """Return `clause` with the listener's name in place of "you" and "your"."""
    if not listener or not _second.search(clause):
        return clause
    clause = _second_subject.sub(lambda said: f"{listener} {_agreed[said[1].lower()]}", clause)
    clause = re.sub(r"\byours?\b", f"{listener}'s", clause, flags=re.IGNORECASE)
    return re.sub(r"\byou\b", listener, clause, flags=re.IGNORECASE)


_anybody = {"we": "people", "us": "people", "our": "their", "ourselves": "themselves"}
_we = re.compile(r"\b(?:we|us|our|ourselves)\b(?! all\b)")


def of_anybody(clause: str) -> str:
    """Name people in place of a "we" that means everybody: "dogs help us rest"."""
    return _we.sub(lambda said: _anybody[said[0]], clause)


def third_person(clause: str, name: str, us: str = "") -> str:
    """Return `clause` as somebody else would say it of `name`; `us` stands for "we"."""
    text = _pair.sub(lambda pair: f"we & {pair['after'] or pair['before']}", clause)
    return _Shift(name, us or f"{name} and others", _token.findall(text)).run()


@dataclass
class _Shift:
    name: str
    us: str
    tokens: list[str]
    is_named: bool = False
    is_quoted: bool = False
    out: list[str] = field(default_factory=list)

    def run(self) -> str:
        position = 0
        while position < len(self.tokens):
            position = self._step(position)
        return "".join(self.out)

    def _step(self, position: int) -> int:
        token = self.tokens[position]
        if sum(c in _quote_marks for c in token) % 2:
            self.is_quoted = not self.is_quoted
        low = token.lower()
        is_told = not self.is_quoted and not self._is_name(position)
        if is_told and low == "i":
            is_singular = not self.is_named
            self.out.append(self._once(self.name, "they"))
            return self._verb(position + 1, is_singular)
        if is_told and low == "we":
            if self.tokens[position + 1 : position + 2] == [" & "]:
                self.out.append(self._once(self.name, "they") + " and ")
                return position + 2
            is_team = self.us == TEAM and not self.is_named
            self.out.append(self._once(self.us, "they"))
            return self._verb(position + 1, is_singular=True) if is_team else position + 1
        self.out.append(self._object(token, low) if is_told else token)
        return position + 1

    def _is_name(self, position: int) -> bool:
        """Tell whether an apparent pronoun is part of a name: the US, We Transfer, Type I."""
        token = self.tokens[position]
        if token == "I":
            return bool(position > 1 and _numbered.match(self.tokens[position - 2]))
        if token == "US":
            return len(self.tokens) == 1 or not self.is_shouted
        is_inside = position > 1 and self.tokens[position - 1] == " " and not self.is_shouted
        return is_inside and token.istitle() and token.lower() in _pronouns

    @cached_property
    def is_shouted(self) -> bool:
        """Tell whether capitals mean nothing because all words have them."""
        return not any(token[0].islower() for token in self.tokens if token[0].isalpha())

    def _object(self, token: str, low: str) -> str:
        match low:
            case "my" | "our":
                if low == "our" and self.us == TEAM:
                    return self._once("the team's" if self.out else "The team's", "their")
                return self._once(f"{self.name}'s", "their")
            case "me":
                return self._once(self.name, "them")
            case "us":
                return self._once(self.us, "them")
            case "myself" | "ourselves":
                return "themselves" if self.is_named else self._once(self.name, "")
            case "mine" | "ours":
                return "theirs" if self.is_named else self._once(f"{self.name}'s", "")
        return token

    def _once(self, first: str, later: str) -> str:
        if self.is_named:
            return later
        self.is_named = True
        return first

    def _verb(self, position: int, is_singular: bool) -> int:
        """Make the verb after a subject agree with it; return the position after it."""
        while position < len(self.tokens) and (self.tokens[position] == " " or verbs.is_adverb(self.tokens[position])):
            self.out.append(self.tokens[position])
            position += 1
        if position >= len(self.tokens) or not self.tokens[position][0].isalnum():
            return position
        verb = self.tokens[position]
        agreed = verbs.third_person(verb) if is_singular else verbs.plural(verb)
        self.out.append(agreed)
        return self._joined(position + 1) if is_singular and agreed != verb else position + 1

    def _is_verb(self, position: int, low: str) -> bool:
        if low not in _maybe_joinable:
            return low in _joinable
        following = self.tokens[position + 2 : position + 3]
        return not following or following[0].lower() in _after_verb or following[0][-1:] == "s"

    def _joined(self, position: int) -> int:
        """Carry the agreement on to verbs that "and" or "but" join to the first one."""
        is_joined = False
        while position < len(self.tokens):
            low = self.tokens[position].lower()
            if (low in _breaks and not self._is_name(position)) or _quote_marks.intersection(low):
                return position
            if is_joined and self._is_verb(position, low):
                self.out.append(verbs.third_person(low))
            else:
                token = self.tokens[position]
                self.out.append(token if self._is_name(position) else self._object(token, low))
            if low[0].isalnum() and not verbs.is_adverb(low):
                is_joined = low in ("and", "but", "or")
            position += 1
        return position
