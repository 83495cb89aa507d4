"""E-books, chapter by chapter."""

import posixpath

from memories.file_formats.archive_files import inside, local, opened, own, xml_of
from memories.file_formats.assembly import Assembly, FileRefused, FileText, headings_of
from memories.file_formats.plain_text_files import decoded
from memories.file_formats.web_pages import shown_text


def read_epub(data: bytes) -> FileText:
    with opened(data) as archive:
        try:
            container = xml_of(inside(archive, "META-INF/container.xml"))
            path = next(own(n, "full-path") for n in container.iter() if local(n) == "rootfile")
            package = xml_of(inside(archive, path))
        except (KeyError, StopIteration) as error:
            raise FileRefused("damaged", "The book has no table of its files.") from error
        files = {own(n, "id"): own(n, "href") for n in package.iter() if local(n) == "item"}
        told = {
            local(n): (n.text or "").strip()
            for n in package.iter()
            if local(n) in ("title", "creator", "date", "language")
        }
        made, names = Assembly(), set(archive.namelist())
        for node in package.iter():
            target = files.get(own(node, "idref"), "") if local(node) == "itemref" else ""
            name = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if target and name in names:
                text = shown_text(decoded(inside(archive, name)))
                heading = next((line for line in text.splitlines() if line.strip()), name)
                made.add_part("file", heading.strip("# ")[:120], text)
        made.parts += headings_of(made.text)
        return made.done(
            extractor="epub",
            title=told.get("title", ""),
            author=told.get("creator", ""),
            published_at=told.get("date", ""),
            language=told.get("language", ""),
        )
