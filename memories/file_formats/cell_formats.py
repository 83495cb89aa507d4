"""Values of a sheet's cells as people see them: numbers by the format of their cell, dates and times
as ISO has them, whatever order the format shows them in."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

# The formats that a file names by number alone, as ECMA-376 lists them (18.8.30).
_MONEY = '_($* #,##0_);_($* (#,##0);_($* "-"_);_(@_)'
BUILT_IN = {
    **{1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "$#,##0_);($#,##0)", 6: "$#,##0_);[Red]($#,##0)"},
    **{7: "$#,##0.00_);($#,##0.00)", 8: "$#,##0.00_);[Red]($#,##0.00)", 9: "0%", 10: "0.00%", 11: "0.00E+00"},
    **{12: "# ?/?", 13: "# ??/??", 17: "mmm-yy", 18: "h:mm", 19: "h:mm:ss", 20: "h:mm", 21: "h:mm:ss"},
    **{22: "m/d/yy h:mm", 37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)"},
    **{40: "#,##0.00_);[Red](#,##0.00)", 41: _MONEY.replace("$", ""), 42: _MONEY, 43: _MONEY.replace("$", "")},
    **{44: _MONEY, 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0"},
    **dict.fromkeys((14, 15, 16, *range(27, 32), 36, *range(50, 59)), "yyyy-mm-dd"),
    **dict.fromkeys((32, 33, 34, 35), "h:mm"),  # of East Asia
}
BUILT_IN |= {number: BUILT_IN[number].replace("#,##0", "#,##0.00") for number in (43, 44)}
MOST_DIGITS = 40
LONGEST = 255  # characters of a format
LARGEST_DATE = 2_958_466  # the first day after 9999
# What a format consists of: text to show, what is skipped or repeated, a bracket, or a sign.
_TOKEN = re.compile(r'"([^"]*)"|\\(.)|[_*](.)|\[([^\]]*)\]|(AM/PM|A/P|General|E[+-])|(.)', re.IGNORECASE | re.DOTALL)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)$")
_TESTS = {
    "<": lambda value, bound: value < bound,
    "<=": lambda value, bound: value <= bound,
    ">": lambda value, bound: value > bound,
    ">=": lambda value, bound: value >= bound,
    "=": lambda value, bound: value == bound,
    "<>": lambda value, bound: value != bound,
}


@dataclass(slots=True)
class _FormatSection:
    """A part of a format: `signs` are its (kind, text), a kind being `text`, `sign`, `exponent`,
    `general` or `elapsed`."""

    signs: list[tuple[str, str]]
    condition: tuple[str, Decimal] | None = None

    @property
    def shape(self) -> str:
        return "".join(text.lower() for kind, text in self.signs if kind in ("sign", "elapsed"))

    @property
    def is_of_time(self) -> bool:
        return any(letter in self.shape for letter in "ymdhs")


def shown(value: str, code: str, *, since_1904: bool = False) -> str:
    """Return a number as a cell of this format shows it; what is no number, or what the format does
    not fit, stays as it is."""
    if len(value) > MOST_DIGITS or len(code) > LONGEST:
        return value
    try:
        number = Decimal(value)
        return _shown(number, value, code, since_1904=since_1904) if number.is_finite() else value
    except ArithmeticError:  # more digits than are counted with
        return value


def _shown(number: Decimal, value: str, code: str, *, since_1904: bool) -> str:
    section, is_split = _section_of(number, _sections_of(code))
    if section is None:
        return _general(value)
    if any(kind == "general" or text == "@" for kind, text in section.signs):
        parts = [_general(value) if kind == "general" or text == "@" else text for kind, text in section.signs]
        return "".join(parts).strip()
    if section.is_of_time:
        return _time(number, section, since_1904=since_1904) or value
    if is_split:
        number = abs(number)
    return _number(number, section)


def _sections_of(code: str) -> list[_FormatSection]:
    sections = [_FormatSection([])]
    for mark in _TOKEN.finditer(code):
        text, escaped, skipped, bracket, word, sign = mark.groups()
        signs = sections[-1].signs
        if sign == ";":
            sections.append(_FormatSection([]))
        elif text is not None or escaped is not None:
            signs.append(("text", text if text is not None else escaped))
        elif bracket is not None:
            if found := _CONDITION.match(bracket):
                sections[-1].condition = (found[1], Decimal(found[2]))
            elif bracket.startswith("$"):
                signs.append(("text", bracket[1:].partition("-")[0]))
            elif bracket and not bracket.lower().strip("hms"):
                signs.append(("elapsed", bracket))
        elif word is not None:
            kind = {"g": "general", "e": "exponent"}.get(word[0].lower(), "clock")
            signs.append((kind, word))
        elif skipped is None:
            signs.append(("sign", sign))
    return sections


def _section_of(number: Decimal, sections: list[_FormatSection]) -> tuple[_FormatSection | None, bool]:
    """Return the section for a number, and whether it says its sign by itself."""
    ruled = [section for section in sections[:2] if section.condition]
    if ruled:
        for section in ruled:
            operator, bound = section.condition or ("=", Decimal())
            if _TESTS[operator](number, bound):
                return section, False
        rest = [section for section in sections[:3] if not section.condition]
        return (rest[-1] if rest else None), False
    numbers = sections[:3]
    if number < 0 and len(numbers) > 1:
        return numbers[1], True
    return numbers[2 if number == 0 and len(numbers) > 2 else 0], False


def _general(value: str) -> str:
    """Return a number without the noise of its binary form (0.30000000000000004)."""
    if value.lstrip("+-").isdigit():
        return value
    return f"{float(value):.15g}"


def _time(number: Decimal, section: _FormatSection, *, since_1904: bool) -> str:
    """Return a moment as ISO has it, as finely as the format shows it; a duration in its units; ""
    where it is none."""
    shape = section.shape
    elapsed = next((text.lower() for kind, text in section.signs if kind == "elapsed"), "")
    if elapsed:
        seconds = int((abs(number) * 86_400).quantize(Decimal(1), ROUND_HALF_UP))
        sizes = {"h": 3600, "m": 60, "s": 1}
        first, *rest = [size for unit, size in sizes.items() if unit in shape or size < 60 and "s" in shape]
        parts = [str(seconds // first).zfill(len(elapsed))]
        for size in rest:
            parts.append(f"{seconds % (size * 60) // size:02}")
        return ("-" if number < 0 else "") + ":".join(parts)
    if not 0 <= number < LARGEST_DATE:
        return ""
    # Excel takes 1900 for a leap year.
    days = number + 1_462 if since_1904 else number + (1 if number < 60 else 0)
    fine = Decimal("0.001") if "s.0" in shape or "ss.0" in shape else Decimal(1)
    seconds_of_it = (days * 86_400).quantize(fine, ROUND_HALF_UP)
    moment = datetime(1899, 12, 30) + timedelta(
        days=int(seconds_of_it // 86_400), seconds=float(seconds_of_it % 86_400)
    )
    has_clock = "h" in shape or "s" in shape
    seconds_shown = f":{moment:%S}" if "s" in shape else ""
    if fine < 1 and moment.microsecond:
        seconds_shown += f".{moment.microsecond // 1000:03}".rstrip("0")
    clock = f"{moment:%H:%M}{seconds_shown}" if "h" in shape else f"{moment:%M}{seconds_shown}"
    letters = shape.replace("mm:ss", "").replace("m:ss", "")
    if has_clock:
        letters = re.sub(r"(?<=h)([^a-z]*)m{1,2}", r"\1", letters)
    if not any(letter in letters for letter in "ymd"):
        return clock
    day = f"{moment.year:04}-{moment:%m}-{moment:%d}"
    if "y" in letters and "d" not in letters:
        day = f"{moment.year:04}" if "m" not in letters else f"{moment.year:04}-{moment:%m}"
    return f"{day} {clock}" if has_clock else day


def _number(number: Decimal, section: _FormatSection) -> str:
    signs = section.signs
    places = [at for at, (kind, text) in enumerate(signs) if kind == "sign" and text in "0#?"]
    number *= 100 ** sum(kind == "sign" and text == "%" for kind, text in signs)
    if not places:
        return "".join(text for kind, text in signs if kind == "text" or text not in "@,").strip()
    if any(kind == "exponent" for kind, _ in signs):
        return _in_powers(number, section)
    if any(kind == "sign" and text == "/" for kind, text in signs):
        return _in_parts(number, section)
    point = next((at for at, sign in enumerate(signs) if sign == ("sign", ".")), len(signs))
    whole = [at for at in places if at < point]
    behind = [at for at in places if at > point]
    commas = [at for at, sign in enumerate(signs) if sign == ("sign", ",")]
    between = [at for at in commas if whole and whole[0] < at < whole[-1]]
    number /= 1000 ** (len(commas) - len(between))
    fixed = f"{abs(number).quantize(Decimal(1).scaleb(-len(behind)), ROUND_HALF_UP):f}"
    digits, _, fraction = fixed.partition(".")
    made = _whole_digits(digits, whole, signs, is_grouped=bool(between)) | _fraction_digits(fraction, behind, signs)
    has_fraction = any(made[at] for at in behind)
    said = []
    for at, (kind, text) in enumerate(signs):
        if at in made:
            said.append(made[at])
        elif at == point:
            said.append("." if has_fraction else "")
        elif kind == "text" or (kind == "sign" and text not in ",@"):
            said.append(text)
    minus = "-" if number < 0 and fixed.strip("0.") else ""
    return minus + " ".join("".join(said).split())


def _whole_digits(digits: str, places: list[int], signs: list[tuple[str, str]], *, is_grouped: bool) -> dict[int, str]:
    """Return what stands at each place before the point: the first has all digits that are left."""
    least = sum(signs[at][1] == "0" for at in places)
    digits = digits.lstrip("0").zfill(least) if least or digits != "0" else ""
    if is_grouped:
        head = len(digits) % 3
        groups = [digits[:head], *(digits[at : at + 3] for at in range(head, len(digits), 3))]
        return dict.fromkeys(places, "") | {places[-1]: ",".join(filter(None, groups))}
    made: dict[int, str] = {}
    for at in reversed(places[1:]):
        made[at], digits = digits[-1:], digits[:-1]
    return made | ({places[0]: digits} if places else {})


def _fraction_digits(digits: str, places: list[int], signs: list[tuple[str, str]]) -> dict[int, str]:
    """Return what stands at each place behind the point, without zeros at the end that need not be."""
    made = dict(zip(places, digits, strict=True))
    for at in reversed(places):
        if signs[at][1] == "0" or made[at] != "0":
            break
        made[at] = ""
    return made


def _around(section: _FormatSection, words: str) -> str:
    """Return the words with the texts of a section that stand before and behind its digits."""
    at = [n for n, (kind, text) in enumerate(section.signs) if kind in ("sign", "exponent") and text not in " "]
    before = "".join(text for kind, text in section.signs[: at[0]] if kind == "text")
    behind = "".join(text for kind, text in section.signs[at[-1] + 1 :] if kind == "text")
    return f"{before}{words}{behind}".strip()


def _in_powers(number: Decimal, section: _FormatSection) -> str:
    power = next(n for n, (kind, _) in enumerate(section.signs) if kind == "exponent")
    shapes = [
        "".join(text for kind, text in part if kind == "sign")
        for part in (section.signs[:power], section.signs[power:])
    ]
    decimals, width = (sum(sign in "0#?" for sign in part) for part in (shapes[0].partition(".")[2], shapes[1]))
    mantissa, _, exponent = f"{float(number):.{decimals}E}".partition("E")
    return _around(section, f"{mantissa}E{exponent[0]}{exponent[1:].lstrip('0').zfill(width)}")


def _in_parts(number: Decimal, section: _FormatSection) -> str:
    upper, _, below = section.shape.partition("/")
    fixed = re.match(r"\s*([1-9]\d{0,3})", below)
    most = 10 ** min(4, max(1, sum(sign in "?#0" for sign in below))) - 1
    exact = Fraction(abs(number))
    part = Fraction(round(exact * int(fixed[1])), int(fixed[1])) if fixed else exact.limit_denominator(most)
    whole, rest = divmod(part.numerator, part.denominator)
    if not upper.strip().count(" "):  # without a place for the whole
        words = f"{part.numerator}/{part.denominator}"
    else:
        fraction = f"{rest}/{part.denominator}" if rest else ""
        words = " ".join(filter(None, (str(whole) if whole or not rest else "", fraction)))
    return _around(section, ("-" if number < 0 and part else "") + words)
