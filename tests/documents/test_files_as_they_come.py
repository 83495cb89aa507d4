"""Files as people really have them: sheets with formats, changed drafts, mails in mails, archives in
archives, texts that do not say their encoding."""

import io
import zipfile
from email.message import EmailMessage
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from pptx.util import Inches

from memories.documents import document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.documents.search_documents import DocumentSearch, search_documents
from memories.file_formats.assembly import FileRefused
from memories.file_formats.cell_formats import BUILT_IN, shown
from memories.file_formats.child import read_file
from memories.file_formats.paragraphs import hyphenated_in, in_paragraphs
from tests.api_fixtures import caller
from tests.handed_in import zipped
from tests.people import Person

SHOWN = [
    ("1", '"yes";"no"', "yes"),
    ("2.5", '0.00" days"', "2.50 days"),
    ("12500000", '#,##0,,\\ "M"', "13 M"),
    ("0.157", "0.0%", "15.7%"),
    ("-1234", r"#,##0;[Red]\(#,##0\)", "(1,234)"),
    ("1234.5", "[$€-407]\\ #,##0.00", "€ 1,234.50"),
    ("1234.5", "#,##0.00\\ [$kr-41D]", "1,234.50 kr"),
    ("-1234.567", "$#,##0.00", "-$1,234.57"),
    ("-1234.5", BUILT_IN[44], "$(1,234.50)"),
    ("37.5", '0.0"°C"', "37.5°C"),
    ("7", '"Y"0', "Y7"),
    ("42", "00000", "00042"),
    ("5551234", "000-0000", "555-1234"),
    ("12345", "0.00E+00", "1.23E+04"),
    ("2.25", "# ?/?", "2 1/4"),
    ("1500", '[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "1.5K"),
    ("3", "0.##", "3"),
    ("5", 'General" kg"', "5 kg"),
    ("0.30000000000000004", "General", "0.3"),
    ("12345678901234", "General", "12345678901234"),
    ("45000", 'yyyy"年"m"月"d"日"', "2023-03-15"),
    ("46000", r"[$-409]d\-mmm\-yy;@", "2025-12-09"),
    ("45000", BUILT_IN[14], "2023-03-15"),
    ("45000", "mmm-yy", "2023-03"),
    ("45000.75", BUILT_IN[22], "2023-03-15 18:00"),
    ("0.604166667", "h:mm AM/PM", "14:30"),
    ("1.75", "[h]:mm", "42:00"),
    ("0.0423611111", "mm:ss", "01:00"),
    ("1", "yyyy-mm-dd", "1900-01-01"),
    ("-1", "yyyy-mm-dd", "-1"),
    ("9e99", "yyyy-mm-dd", "9e99"),
    ("1e35", "0.00", "1e35"),
    ("5", "0%%%%%%%%%%%%%%%%", "5"),
    ("no number", "0.00", "no number"),
]


@pytest.mark.parametrize(("value", "code", "words"), SHOWN)
def test_a_number_is_read_as_its_cell_shows_it(value: str, code: str, words: str) -> None:
    assert shown(value, code) == words


def book(**formats: tuple[Any, str]) -> bytes:
    made = openpyxl.Workbook()
    made.active.title = "Plan"
    for at, (name, (value, code)) in enumerate(formats.items(), 1):
        made.active.cell(1, at, name)
        made.active.cell(2, at, value).number_format = code
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def test_a_sheet_shows_its_formats_and_tells_of_formulas_without_a_value() -> None:
    found = read_file(book(due=(45000, "dd/mm/yyyy"), share=(0.5, "0%"), total=("=SUM(A1:A9)", "0.00")), "plan.xlsx")
    assert found.text.endswith("2023-03-15 | 50% | =SUM(A1:A9)")
    assert found.warnings == [{"code": "formulas_without_value", "part": "Plan: 1"}]
    assert found.type == "spreadsheet"


def test_a_book_that_counts_from_1904_has_its_own_days() -> None:
    data = book(due=(43538, "yyyy-mm-dd"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files: dict[str, Any] = {name: archive.read(name) for name in archive.namelist()}
    files["xl/workbook.xml"] = files["xl/workbook.xml"].replace(b"<workbookPr/>", b'<workbookPr date1904="1"/>')
    assert "2023-03-15" in read_file(zipped(files), "plan.xlsx").text


NAMES = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def draft() -> bytes:
    made = docx.Document()
    valve = made.add_paragraph("The valve is ")._p
    valve.append(parse_xml(f"<w:del {NAMES}><w:r><w:delText>red</w:delText></w:r></w:del>"))
    valve.append(parse_xml(f"<w:ins {NAMES}><w:r><w:t>green</w:t></w:r></w:ins>"))
    valve.append(parse_xml(f"<w:moveFrom {NAMES}><w:r><w:t>, by the door</w:t></w:r></w:moveFrom>"))
    table = made.add_table(3, 2)
    for place, words in {(0, 0): "Day", (0, 1): "Opens", (1, 0): "Mon", (2, 0): "Gone"}.items():
        table.cell(*place).text = words
    inner = table.cell(1, 1).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "07:00", "12:00"
    table.rows[2]._tr.get_or_add_trPr().append(parse_xml(f"<w:del {NAMES}/>"))
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def test_a_draft_is_read_as_its_changes_leave_it_and_a_table_row_by_row() -> None:
    found = read_file(draft(), "draft.docx")
    assert found.text == "The valve is green\n\nDay | Opens\nMon | 07:00 12:00"
    assert (found.type, found.published_at) == ("document", "")  # the date of python-docx's template


def test_the_date_of_a_file_is_when_it_was_saved_last() -> None:
    dates = "<c><created>2020-01-01T00:00:00Z</created><modified>2026-05-04T10:00:00Z</modified></c>"
    found = read_file(zipped({"word/document.xml": "<d><p><t>Hi.</t></p></d>", "docProps/core.xml": dates}), "a.docx")
    assert found.published_at == "2026-05-04T10:00:00Z"


def test_a_table_of_slides_is_read_row_by_row() -> None:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Hours"
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(3), Inches(1)).table
    for at, words in enumerate(("Day", "Opens", "Mon", "07:00")):
        table.cell(at // 2, at % 2).text = words
    data = io.BytesIO()
    made.save(data)
    assert read_file(data.getvalue(), "a.pptx").text == "Hours\nDay | Opens\nMon | 07:00"


OPEN = """<o:d xmlns:o="urn:o" xmlns:text="urn:t" xmlns:table="urn:b"><o:body>
<text:tracked-changes><text:p>The valve is red.</text:p></text:tracked-changes><text:h>Hours</text:h>
<table:table><table:table-row><table:table-cell><text:p>Day</text:p></table:table-cell>
<table:table-cell><text:p>Share</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell><text:p>Mon</text:p></table:table-cell>
<table:table-cell value="0.157"><text:p>15.7%</text:p></table:table-cell>
<table:table-cell table:number-columns-repeated="900"/></table:table-row></table:table></o:body></o:d>"""


def test_open_documents_are_read_so_too() -> None:
    media = "application/vnd.oasis.opendocument"
    found = read_file(zipped({"mimetype": f"{media}.spreadsheet", "content.xml": OPEN}), "a.ods")
    assert (found.text, found.type) == ("# Hours\n\nDay | Share\nMon | 15.7%", "spreadsheet")
    assert read_file(zipped({"mimetype": f"{media}.text", "content.xml": OPEN}), "a.odt").type == "document"


ROWS = "<tr><th>Day</th><th>Opens</th></tr><tr><td>Mon</td><td><p>07:<b>00</b></p></td></tr>"


@pytest.mark.parametrize(
    "page",
    [
        f"<html><body><h1>Hours</h1><table>{ROWS}</table></body></html>",
        f"<html><body><h1>Hours</h1><table><tbody>{ROWS}</tbody></table><p>Closed on Sunday.</p></body></html>",
    ],
)
def test_a_table_of_a_page_keeps_its_rows(page: str) -> None:
    lines = read_file(page.encode(), "hours.html").text.split("\n")
    assert "Day | Opens" in lines
    assert any(line.startswith("Mon | 07:") for line in lines)


def mail(subject: str, words: str, *inner: EmailMessage) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["Subject"] = "ada@example.org", subject
    made.set_content(words)
    for one in inner:
        made.add_attachment(one)
    return made


def test_a_mail_in_a_mail_is_read_and_every_attachment_is_named() -> None:
    key = mail("The key", "The spare key is in drawer nine.")
    key.add_attachment(b"x", maintype="application", subtype="pdf", filename="floor_plan-2026.pdf")
    key.add_attachment(b"x", maintype="image", subtype="png")
    outer = mail("Fw: Fw", "See below.")
    outer.add_alternative("<p>See below.</p>", subtype="html")
    outer.add_attachment(mail("Fw", "As said:", key))
    found = read_file(outer.as_bytes(), "fw.eml")
    assert "The spare key is in drawer nine." in found.text
    assert [part.label for part in found.parts if part.kind == "message"] == ["Fw: Fw", "Fw", "The key"]
    assert "Attachments: floor_plan-2026.pdf, image/png" in found.text
    assert [each["part"] for each in found.warnings] == ["floor_plan-2026.pdf", "image/png"]
    assert found.type == "email"


def test_mails_are_opened_to_a_depth() -> None:
    nested = mail("innermost", "The spare key is in drawer nine.")
    for at in range(8):
        nested = mail(f"around {at}", "See below.", nested)
    found = read_file(nested.as_bytes(), "a.eml")
    assert "drawer nine" not in found.text
    assert [each["code"] for each in found.warnings] == ["unsupported_type"]


def archives(content: bytes, count: int) -> bytes:
    for at in range(count):
        content = zipped({f"{at}.zip" if at else "note.txt": content})
    return content


def test_archives_in_archives_are_read_to_a_depth() -> None:
    found = read_file(archives(b"The boiler is in the cellar.", 4), "a.zip")
    assert found.text == "The boiler is in the cellar."
    assert found.parts[-1].label == "3.zip/2.zip/1.zip/note.txt"
    assert found.type == "archive"
    deeper = read_file(archives(b"The boiler is in the cellar.", 5), "a.zip")
    assert (deeper.text, [each["code"] for each in deeper.warnings]) == ("", ["unsupported_type"])


def test_archives_share_one_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    inner = zipped({"a.txt": b"word " * 100_000})
    outer = zipped({f"{at}.zip": inner for at in range(5)})
    monkeypatch.setattr("memories.file_formats.archive_files.UnpackingBudget.__init__.__defaults__", (2_000, 1_500_000))
    with pytest.raises(FileRefused, match="bomb"):
        read_file(outer, "a.zip")


# What is written in an encoding that its bytes do not name: of short texts, cp1252 is the usual one.
ENCODED = {
    "cp1252": ["Naïve", "½ cup", "café", "Smörgåsbord for the Øresund", "It’s 5 € in Zürich", "São Paulo", "±5 °C"],
    "cp1250": [
        "Příliš žluťoučký kůň",
        "Zażółć gęślą jaźń",
        "Hétfőn úszni megyek, és hazafelé tűzifát veszek az erdőből.",
        "Łódź",
    ],
    "iso8859_2": ["Mieszkam w Łodzi i lubię żurek, ąę."],
    "cp1254": ["Türkiye'de yaşıyorum ve çayı çok seviyorum."],
    "cp1251": ["Привет, как дела?", "Київ"],
    "koi8_r": ["Привет, как дела? Я живу в Москве."],
    "cp1253": ["Καλημέρα, μένω στην Αθήνα"],
    "cp1255": ["שלום, אני גר בחיפה"],
    "gb18030": ["我对花生过敏。我住在北京。"],
    "big5": ["我住在臺北，喜歡喝茶。"],
    "shift_jis": ["猫が好きです。東京に住んでいます。"],
    "euc_kr": ["나는 서울에 살고 있습니다."],
    "utf-16-le": ["The heron comes at noon"],
    "utf-16-be": ["The heron comes at noon"],
    "utf-32": ["The heron comes at noon, café"],
}


@pytest.mark.parametrize(("encoding", "text"), [(name, text) for name, texts in ENCODED.items() for text in texts])
def test_an_encoding_is_told_by_how_usual_its_letters_are(encoding: str, text: str) -> None:
    assert read_file(text.encode(encoding), "a.txt").text == text


def test_a_broken_byte_does_not_change_the_encoding() -> None:
    found = read_file(("café crème à la carte, déjà vu. ").encode() + b"\xff", "a.txt")
    assert found.text.startswith("café crème à la carte, déjà vu.")


PAGE = """The heron stands by the mill pond for most of the morning and inter\ufffenational \
visitors come to watch it fish. It is a well-known bird, and the well\ufffeknown photographer \
Ada Byron has taken many pictures of it since the Franco-
Prussian war, until noon.
Opening hours
Monday 07:00 12:00
Tuesday 08:00 12:00
1. The first of the rules is a rather long one, so that it fills the whole line up
to its end and goes on
2. The second rule"""


def test_lines_of_a_paragraph_are_joined_and_broken_words_are_whole() -> None:
    assert in_paragraphs(PAGE, hyphenated_in([PAGE])).split("\n") == [
        "The heron stands by the mill pond for most of the morning and international visitors come to watch it"
        " fish. It is a well-known bird, and the well-known photographer Ada Byron has taken many pictures of it"
        " since the Franco-Prussian war, until noon.",
        "Opening hours",
        "Monday 07:00 12:00",
        "Tuesday 08:00 12:00",
        "1. The first of the rules is a rather long one, so that it fills the whole line up to its end and goes on",
        "2. The second rule",
    ]
    verses = "Roses are red\nViolets are blue\nSugar is sweet"
    assert in_paragraphs(verses) == verses


def test_a_file_has_its_true_type_in_the_list_and_attachments_are_found_by_name(
    alice: Person, tmp_path: Any, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path
    with_plan = mail("Cellar", "See the plan.")
    with_plan.add_attachment(b"x", maintype="application", subtype="pdf", filename="floor_plan-2026.pdf")
    files = {"cellar.eml": with_plan.as_bytes(), "draft.docx": draft(), "plan.xlsx": book(due=(45000, "dd/mm/yyyy"))}
    for name, data in files.items():
        pipeline.run(document_store.receive(alice.scope, NewDocument(parts=[data], filename=name)).document.pk)
    listed = caller(alice).get("/documents").body["results"]
    assert {row["filename"]: row["type"] for row in listed} == {
        "cellar.eml": "email",
        "draft.docx": "document",
        "plan.xlsx": "spreadsheet",
    }
    for words in ("floor_plan-2026.pdf", "floor plan"):
        assert search_documents(alice.scope, DocumentSearch(words)).hits[0].document.filename == "cellar.eml"


def test_an_archive_without_text_says_what_was_left_out(alice: Person, tmp_path: Any, settings: Any) -> None:
    settings.DATA_DIR = tmp_path
    new = NewDocument(parts=[zipped({"sound.bin": b"\0\1\2\3" * 300})], filename="a.zip")
    row = pipeline.run(document_store.receive(alice.scope, new).document.pk)
    assert row is not None
    assert row.reason == "There is no text in it. Left out: sound.bin (unsupported_type)."
