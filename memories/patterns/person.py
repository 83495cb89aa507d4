"""From the first person to the third: "I love my dog" by Alex is "Alex loves their dog".

The first mention gets the speaker's name, later ones "they", "them" and "their": a text does not
tell how its speaker wants to be called.
"""

import re
from dataclasses import dataclass, field

from memories.patterns import morphology

_word = re.compile(r"[\w'’]+|[^\w'’]+")
_contractions = (
    (re.compile(r"\bI['’]?m\b|\bi['’]m\b|\bim\b"), "I am"),
    (re.compile(r"\bI['’]?ve\b|\bi['’]?ve\b"), "I have"),
    (re.compile(r"\b[Ii]['’]ll\b"), "I will"),
    (
        re.compile(
            r"\b[Ii]['’]d (?=(?:\w+ly |also |just )?(?:\w+ed|been|had|gone|never|better)\b)"
        ),
        "I had ",
    ),
    (re.compile(r"\b[Ii]['’]d\b"), "I would"),
    (re.compile(r"\b([Ww]e|[Tt]hey)['’]re\b"), r"\1 are"),
    (re.compile(r"\b([Ww]e|[Tt]hey)['’]ve\b"), r"\1 have"),
    (re.compile(r"\b([Ww]e|[Tt]hey)['’]ll\b"), r"\1 will"),
    (re.compile(r"\b([Ww]e|[Tt]hey)['’]d\b"), r"\1 would"),
)
_pair = re.compile(r"\b(?:me and (my \w+)|(my \w+) and (?:I|me))\b", re.IGNORECASE)
_first = re.compile(
    r"\b(?:I|i|me|my|mine|myself|we|us|our|ours|I'm|I've|I'd|I'll)\b|\b[Ww]e['’]", re.I
)
_simple_verbs = frozenset(
    "am have do want need like love enjoy think try go get make hope feel use keep live work play"
    " prefer hate plan spend take know find wish look".split()
)


def mentions_speaker(clause: str) -> bool:
    return bool(_first.search(clause))


def third_person(clause: str, name: str, us: str = "") -> str:
    """`clause` as somebody else would say it of `name`; `us` stands for "we"."""
    text = clause
    for contraction, full in _contractions:
        text = contraction.sub(full, text)
    text = _pair.sub(lambda m: f"we-and {m[1] or m[2]}", text)
    shift = _Shift(name, us or f"{name} and others", _word.findall(text))
    return shift.run()


@dataclass
class _Shift:
    name: str
    us: str
    tokens: list[str]
    is_named: bool = False
    is_we_named: bool = False
    out: list[str] = field(default_factory=list)

    def run(self) -> str:
        position = 0
        while position < len(self.tokens):
            position = self._step(position)
        return "".join(self.out)

    def _step(self, position: int) -> int:
        token = self.tokens[position]
        low = token.lower()
        if low == "i":
            return self._subject(position)
        if low == "we":
            return self._we(position)
        self.out.append(self._object(token, low))
        return position + 1

    def _object(self, token: str, low: str) -> str:
        match low:
            case "my" | "our":
                return self._owner(low)
            case "me":
                return self._once(self.name, "them")
            case "myself":
                return "themselves" if self.is_named else self._once(self.name, "")
            case "mine" | "ours":
                return "theirs" if self.is_named else self._once(f"{self.name}'s", "")
            case "us":
                return self._once(self.us, "them")
            case "ourselves":
                return "themselves"
        return token

    def _once(self, first: str, later: str) -> str:
        if self.is_named:
            return later
        self.is_named = True
        return first

    def _owner(self, low: str) -> str:
        if low == "our" and self.us == "Team" and not self.is_named:
            self.is_named = True
            return "the team's" if self.out else "Team's"
        return self._once(f"{self.name}'s", "their")

    def _subject(self, position: int) -> int:
        is_singular = not self.is_named
        self.out.append(self._once(self.name, "they"))
        return self._verb(position + 1, is_singular)

    def _we(self, position: int) -> int:
        if self.tokens[position + 1 : position + 3] == ["-", "and"]:
            self.out.append(self._once(self.name, "they") + " and")
            return position + 3
        is_team = self.us == "Team" and not self.is_named
        self.out.append(self._once(self.us, "they"))
        return self._verb(position + 1, is_team) if is_team else position + 1

    def _verb(self, position: int, is_singular: bool) -> int:
        """Bring the verb after a subject into agreement; the position after it."""
        while position < len(self.tokens) and (
            not self.tokens[position][0].isalnum() or morphology.is_adverb(self.tokens[position])
        ):
            if "," in self.tokens[position] or "." in self.tokens[position]:
                return position
            self.out.append(self.tokens[position])
            position += 1
        if position >= len(self.tokens):
            return position
        verb = self.tokens[position].replace("’", "'")
        agree = morphology.third_person if is_singular else morphology.plural
        self.out.append(agree(verb))
        if is_singular and agree(verb) != verb:
            return self._joined(position + 1)
        return position + 1

    def _joined(self, position: int) -> int:
        """Carry the agreement on to verbs that "and" or "but" join to the first one."""
        joined = False
        while position < len(self.tokens):
            low = self.tokens[position].lower()
            if low in ("i", "we", "to", "you", "they", "who", "that", "me", "can", "will"):
                return position
            if joined and low in _simple_verbs:
                self.out.append(morphology.third_person(low))
                joined = False
                position += 1
                continue
            if low in ("my", "our"):
                self.out.append(self._object(self.tokens[position], low))
            else:
                self.out.append(self.tokens[position])
            if self.tokens[position][0].isalnum() and not morphology.is_adverb(low):
                joined = low in ("and", "but", "or")
            position += 1
        return position
