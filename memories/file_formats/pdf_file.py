"""PDF by pdfium: one page after another, each closed before the next; scanned pages by OCR."""

import pypdfium2 as pdfium

from memories.file_formats.assembly import Assembly, FileRefused, FileText
from memories.file_formats.paragraphs import hyphenated_in, in_paragraphs
from memories.file_formats.pictures import Reader, is_reader_there

MOST_PAGES = 5_000
MOST_SCANNED = 60  # pages that are read by OCR, which takes seconds for each
SCALE = 2.0  # of 72 dots an inch
PASSWORD = 4  # FPDF_ERR_PASSWORD


def read_pdf(data: bytes) -> FileText:
    """Read a PDF. Raises FileRefused: `encrypted`, `damaged`, `too_many_pages`."""
    try:
        file = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if getattr(error, "err_code", 0) == PASSWORD:
            raise FileRefused("encrypted", "The file is locked with a password.") from error
        raise FileRefused("damaged", "This PDF cannot be opened.") from error
    with file:
        pages = len(file)
        if pages > MOST_PAGES:
            raise FileRefused("too_many_pages", f"{pages:,} pages; {MOST_PAGES:,} are read.")
        made, empty, warnings = Assembly(), [], []
        texts = [_page_text(file, number) for number in range(pages)]
        for number, text in enumerate(texts):
            if text is None:
                warnings.append({"code": "damaged", "part": f"page {number + 1}"})
            elif not text.strip():
                empty.append(number)
        if len(warnings) == pages:
            raise FileRefused("damaged", "No page of this PDF can be read.")
        sure = _read_scans(file, empty, texts, warnings) if empty else {}
        kept = hyphenated_in(texts)
        for number, text in enumerate(texts):
            label = f"page {number + 1}"
            said = text or "" if number in sure else in_paragraphs(text or "", kept)
            made.add_part("page", label, said, confidence=sure.get(number))
        try:
            told = file.get_metadata_dict(skip_empty=True)
        except UnicodeDecodeError:  # its title or author is not text
            told = {}
        names = {"title": told.get("Title", ""), "author": told.get("Author", "")}
        return made.done(type="pdf", extractor="pypdfium2", pages=pages, warnings=warnings, **names)


def _page_text(file: pdfium.PdfDocument, number: int) -> str | None:
    """Return the text of a page, None if it is damaged."""
    try:
        page = file[number]
        text = page.get_textpage()
        said = text.get_text_range()
        text.close()
        page.close()
    except pdfium.PdfiumError:
        return None
    return str(said)


def _read_scans(
    file: pdfium.PdfDocument,
    empty: list[int],
    texts: list[str | None],
    warnings: list[dict[str, str]],
) -> dict[int, float]:
    """Read pages without text as pictures; return the confidence of OCR, by page."""
    with_pictures = [n for n in empty if any(file[n].get_objects(filter=[3], max_depth=2))]
    if not with_pictures:
        return {}
    if not is_reader_there():
        if len(empty) == len(texts):
            raise FileRefused("ocr_unavailable", "All pages are pictures. " + Reader.MISSING)
        warnings += [{"code": "ocr_unavailable", "part": f"page {n + 1}"} for n in with_pictures]
        return {}
    reader, sure = Reader(), {}
    for number in with_pictures[:MOST_SCANNED]:
        picture = file[number].render(scale=SCALE).to_pil()
        texts[number], sure[number] = reader.read(picture)
    left = with_pictures[MOST_SCANNED:]
    warnings += [{"code": "too_many_pages", "part": f"page {number + 1}"} for number in left]
    return sure
