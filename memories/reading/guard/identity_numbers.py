"""Numbers that identify a person or their money, by their form and their check digits."""

import re
from collections.abc import Iterator

from memories.reading.guard.rule_forms import Finding, Form

# Up to 19 digits, alone or in groups with one sign between.
_digits = Form(r"(?<![\w.+/#-])\d(?:[ -]?\d){12,18}(?![\w/]|[.-]\d)", exact_case=True)
_card = re.compile(
    r"4\d{12}(?:\d{3})?(?:\d{3})?|5[1-5]\d{14}|2(?:2[2-9]|[3-6]\d|7[01])\d{13}|3[47]\d{13}"
    r"|3(?:0[0-5]|[68]\d)\d{11}|6(?:011|5\d\d|4[4-9]\d)\d{12}|35\d{14}"
)
_iban = Form(
    r"(?<![\w-])[A-Za-z]{2}\d{2}(?: ?[A-Za-z0-9]{4}){2,7}(?: ?[A-Za-z0-9]{1,4})?(?![\w-])",
    exact_case=True,
)
_ssn = re.compile(r"(?<![\w.-])(?!000|666)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\w-])")
_nino = Form(
    r"(?<![\w-])(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![\w-])",
    exact_case=True,
)
# Of Medicare in the United States, the fiscal code of Italy, the pension insurance of Germany.
_lettered = Form(
    r"(?<![\w-])(?:[1-9][AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y]\d-[AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y]\d-[AC-HJKMNP-RT-Y]{2}\d{2}"
    r"|[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]|\d{2} [0-3]\d[01]\d{3} [A-Z] \d{3}|\d{2}[0-3]\d[01]\d{3}[A-Z]\d{3})(?![\w-])",
    exact_case=True,
)
_beside_sort_code = Form(r"\bsort code\b[^\n\d]{0,20}\d\d[ -]?\d\d[ -]?\d\d\b[^\n\d]{0,30}(?P<value>\d{6,10})(?![\w-])")
# Words that name such a number, and the number; between them nothing but little words.
_named = Form(
    r"(?<![A-Za-z])(?P<identity>ssn|social security(?: (?:number|no\.?|num|#))?|social insurance(?: number)?"
    r"|national (?:insurance|identity|id)(?: (?:card|number|no\.?))*|tax file number|(?:tax|taxpayer)[ -]?(?:id(?:entification)?"
    r"|payer)?(?: (?:number|no\.?))?|itin|passport(?: (?:number|no\.?|num|id|#))|driv(?:er'?s|ing) licen[cs]e"
    r"(?: (?:number|no\.?|num|id|#))?|aadhaa?r(?: (?:card|number|no\.?))*|identity (?:card )?(?:number|no\.?)"
    r"|id card (?:number|no\.?)|nhs number|medicare (?:number|id|no\.?)|health (?:card|insurance) (?:number|no\.?|id)"
    r"|green card (?:number|no\.?)|pan card(?: (?:number|no\.?))?|curp|pesel|bsn|cpf|tfn|sin(?= is|:| number)"
    r"|steuer-?(?:identifikationsnummer|ident-?nr\.?|nummer|id(?:-?(?:nummer|nr\.?))?)|(?:sozial|renten|kranken)-?versicherten?s?-?(?:nummer|nr\.?)"
    r"|(?:sozial|renten|kranken)versicherungs(?:nummer|nr\.?)|(?:personal)?ausweis(?:nummer|nr\.?)|(?:reise)?pass(?:nummer|nr\.?)"
    r"|(?:num[ée]ro de )?s[ée]curit[ée] sociale|n[úu]mero de (?:la )?seguridad social|dni(?= es|:| n)|nif(?= es|:| n))"
    r"|(?<![A-Za-z])(?P<account>bank account(?: (?:number|no\.?|num|#))?|(?:checking|savings|current) account"
    r" (?:number|no\.?)|(?:aba |bank )?routing(?: (?:number|no\.?))|sort code|swift account|iban)"
    r"|(?<![A-Za-z])(?P<card>(?:credit|debit|bank|visa|master ?card|amex)(?: card)? (?:number|no\.?|#)|card number|(?:visa|master ?card|amex) card)"
)
_link = re.compile(
    r"(?:\s+(?:number|no\.?|is|was|are|it'?s|now|of|ist|lautet|es|est|è|says|card|mine|my|with|for|me|us|him|her|the|on|file|reads?|a|be|under|say|the kids?|\w+'s))*\s*"
    r"(?:[:=#]|is|->|\(|,|-)*\s*[\"'`]?(?P<value>[A-Za-z]{0,3}[ -]?\d[\dA-Za-z]*(?:[ -]?[\dA-Z]{1,6}){0,7})",
    re.IGNORECASE,
)
_other_number = re.compile(
    r"\b(?:order|tracking|invoice|parcel|shipment|imei|serial|reference|ref|ticket|isbn|ean|barcode|case)\b",
    re.I,
)
_card_word = re.compile(r"\b(?:card|visa|master ?card|amex|credit|debit|pay)", re.I)


_date = re.compile(r"(?:19|20)\d\d[ -]\d\d?[ -]\d\d?")


def find(text: str) -> Iterator[Finding]:
    for match in _digits.finditer(text):
        digits = re.sub(r"\D", "", match[0])
        if _card.fullmatch(digits) and passes_luhn(digits) and not _is_other(text, match.start()):
            yield Finding(match.start(), match.end(), "card")
    for match in _iban.finditer(text):
        if passes_mod97(match[0].replace(" ", "").upper()):
            yield Finding(match.start(), match.end(), "account")
    for form in (_ssn, _nino, _lettered):
        for match in form.finditer(text):
            if not _is_other(text, match.start()):
                yield Finding(match.start(), match.end(), "identity")
    yield from _by_name(text)


def _by_name(text: str) -> Iterator[Finding]:
    for match in _beside_sort_code.finditer(text):
        yield Finding(*match.span("value"), "account")
    for name in names(text):
        value = _link.match(text, name.end(), name.end() + 90)
        if value and sum(sign.isdigit() for sign in value["value"]) >= 6 and not _date.fullmatch(value["value"]):
            start, end = value.span("value")
            yield Finding(start, end, str(name.lastgroup))


def names(text: str) -> Iterator[re.Match[str]]:
    """Return the words that announce a number that identifies a person."""
    return _named.finditer(text)


def passes_luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0 and len(set(digits)) > 1


def passes_mod97(iban: str) -> bool:
    if not 15 <= len(iban) <= 34:
        return False
    turned = iban[4:] + iban[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def _is_other(text: str, start: int) -> bool:
    """Tell whether the words before a number call it the number of something else."""
    before = text[max(0, start - 40) : start]
    return bool(_other_number.search(before)) and not _card_word.search(before)
