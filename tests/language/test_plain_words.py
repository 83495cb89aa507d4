"""No page speaks to people in the code's words: rule ids, paths of models, names of columns."""

import re
from html.parser import HTMLParser

from django.contrib.admin import site

from memories.language.english.patterns.library import PATTERNS
from tests.admin.test_navigation import read
from tests.admin_pages import SECRET, rows_of
from tests.desk import superuser
from workspaces.adminbase.target_names import KINDS
from workspaces.models import Workspace

# What is meant for programs and is shown as such.
QUOTED = {"code", "pre", "kbd", "textarea", "script", "style"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
CODE = re.compile(r"\b[a-z]+(?:_[a-z0-9]+)+\b(?!\.json)|\b(?:memories|workspaces|django)\.[a-z]+\b|\bslot:\w+")


# Names of rows in the code that are other words of people's, too: of a browser's session, a user of
# the API, the features of a profile.
PLAIN = {"connection", "fact", "feature", "model", "pattern", "session", "user", "work"}


def nouns_of_the_code() -> set[str]:
    """Names of rows that the navigation calls otherwise."""
    meant = {str(noun).lower() for pair in KINDS.values() for noun in pair}
    ours = {
        str(noun).lower()
        for model in site._registry
        for noun in (model._meta.verbose_name, model._meta.verbose_name_plural)
    }
    return {noun for noun in ours - meant if noun.removesuffix("s") not in PLAIN}


class Shown(HTMLParser):
    """The words of a page that a person reads, without what is quoted."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.words += [given.get(name) or "" for name in ("aria-label", "title", "placeholder")]
        if tag not in VOID:
            is_icon = "material-symbols" in (given.get("class") or "")
            is_mono = "desk-mono" in (given.get("class") or "")
            self.open.append("code" if is_icon or is_mono else tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not QUOTED & set(self.open):
            self.words.append(data)


def code_words(html: str) -> set[str]:
    page = Shown()
    page.feed(html)
    shown = " ".join(page.words).replace(SECRET, "").replace("(?P<subject>", "")
    rules = {pattern.name for pattern in PATTERNS if "." in pattern.name or "_" in pattern.name}
    nouns = re.compile(rf"\b(?:{'|'.join(sorted(nouns_of_the_code()))})\b", re.IGNORECASE)
    found = {*CODE.findall(shown), *(rule for rule in rules if rule in shown)}
    return found | {noun.lower() for noun in nouns.findall(shown)}


def test_no_page_shows_a_word_of_the_code(workspace: Workspace) -> None:
    found = {
        page: words
        for page, answer in read(superuser(), rows_of(workspace))
        if (words := code_words(answer.content.decode()))
    }

    assert found == {}


def test_rows_are_called_what_the_navigation_calls_them() -> None:
    assert {model._meta.model_name for model in site._registry} <= set(KINDS)
    assert {"supersession", "supersessions", "episodes", "slot", "subject"} <= nouns_of_the_code()
