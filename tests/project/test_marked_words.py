"""What people read in pages is marked for translation, so that a language is a catalogue more."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests import marked_python

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
MODULES = sorted(
    path
    for folder in ("memories/admin", "workspaces/admin", "workspaces/adminbase")
    for path in (ROOT / folder).glob("*.py")
)
MARKED = re.compile(r"{% (blocktrans(?:late)?)\b.*?{% end\1 %}", re.DOTALL)
UNSEEN = re.compile(
    r"{% comment.*?{% endcomment %}|{#.*?#}|<!--.*?-->|{% block bodyclass %}.*?{% endblock %}",
    re.DOTALL,
)
TAG = re.compile(r"{%.*?%}|{{.*?}}", re.DOTALL)
READ = ("title", "placeholder", "aria-label", "aria-valuetext", "alt")  # of attributes
UNREAD = {"script", "style", "code", "pre", "kbd"}  # elements whose words are no prose
# Names and units, which are the same in every language.
SAME = {"memoryproject", "mp", "ms", "MB", "JSON", "CSV", "Markdown", "API", "URL", "Ctrl", "curl"}


class Reader(HTMLParser):
    """Collects the words of a page that nobody could translate."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.unread = 0
        self.is_icon = False

    def look(self, text: str) -> None:
        if set(re.findall(r"[A-Za-z]{2,}", text)) - SAME:
            self.found.append(" ".join(text.split()))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.unread += tag in UNREAD
        self.is_icon = "material-symbols-outlined" in (values.get("class") or "")
        is_button = tag == "input" and values.get("type") in ("submit", "button")
        for name in (*READ, *(["value"] if is_button else [])):
            self.look(values.get(name) or "")

    def handle_endtag(self, tag: str) -> None:
        self.unread -= tag in UNREAD
        self.is_icon = False

    def handle_data(self, data: str) -> None:
        if not self.unread and not self.is_icon:
            self.look(data)


def unmarked(template: str) -> list[str]:
    reader = Reader()
    # In the place of a tag stands what neither parts words nor ends an attribute.
    reader.feed(TAG.sub("", UNSEEN.sub("", MARKED.sub("", template))))
    reader.close()
    return reader.found


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_word_of_a_template_is_marked(path: Path) -> None:
    assert unmarked(path.read_text()) == []


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("<p>Two words</p>", ["Two words"]),
        ('<p title="A hint">{{ row }}</p>', ["A hint"]),
        ('<a href="/x">{% translate "Two words" %}</a>', []),
        ("{% blocktranslate %}{{ n }} memories{% endblocktranslate %}", []),
        ('<input type="submit" value="Send">', ["Send"]),
        ("{{ n }} memor{{ n|pluralize:'y,ies' }}", ["memor"]),
        ("<code>curl -d</code> · 3 ms", []),
    ],
)
def test_what_counts_as_marked(template: str, words: list[str]) -> None:
    assert unmarked(template) == words


def unmarked_python(text: str) -> list[str]:
    return [ast.unparse(each) for each in marked_python.unmarked(ast.parse(text))]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_label_message_and_title_of_a_page_is_marked(path: Path) -> None:
    assert unmarked_python(path.read_text()) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('Verb("pin", "Pin it", "keep", question="Sure?")', ["'Sure?'", "'Pin it'"]),
        ('Verb("pin", _("Pin it"), "keep")', []),
        ('forms.CharField(label="A name", help_text=f"Of {row}")', ["'A name'", "f'Of {row}'"]),
        ('@display(description="state", label={"done": "success"})\ndef x(): ...', ["'state'"]),
        ('messages.error(request, gettext("No %(row)s") % {"row": row})', []),
        ('class A:\n    states = {"a": "All of it"}', ["'All of it'"]),
        ('def do_pin(): return "Pinned." if row else gettext("Not pinned.")', ["'Pinned.'"]),
        ('{"title": "A page", "rows": "rows"}', ["'A page'"]),
    ],
)
def test_what_counts_as_marked_in_python(line: str, words: list[str]) -> None:
    assert sorted(unmarked_python(line)) == sorted(words)
