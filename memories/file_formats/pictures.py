"""Pictures by OCR: rapidocr where it is installed, else the program tesseract."""

import io
import os
import resource
import shutil
import subprocess
from importlib.util import find_spec
from typing import Any

from memories.file_formats.assembly import Assembly, FileRefused, FileText

SURE = 0.5  # of a line: below it, it is noise
LARGEST = 60_000_000  # dots
LANGUAGES = os.environ.get("OCR_LANGUAGES", "eng")


def is_reader_there() -> bool:
    return find_spec("rapidocr") is not None or shutil.which("tesseract") is not None


class Reader:
    """A reader of pictures, one after the other."""

    MISSING = "Install the extra `ocr` (pip install rapidocr) or tesseract to read it."

    def __init__(self) -> None:
        self._engine: Any = None
        # Its models need more memory than a file may use before its pictures are read.
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        if find_spec("rapidocr") is not None:
            from rapidocr import RapidOCR

            self._engine = RapidOCR(params={"Global.log_level": "critical"})

    def read(self, picture: Any) -> tuple[str, float]:
        """Return the text, in lines, and the engine's confidence (0 to 1)."""
        if self._engine is None:
            return self._by_program(picture), 0.8
        found = self._engine(picture.convert("RGB"))
        lines = zip(found.txts or (), found.scores or (), strict=True)
        kept = [(text, float(score)) for text, score in lines if score >= SURE]
        if not kept:
            return "", 0.0
        return "\n".join(text for text, _ in kept), sum(score for _, score in kept) / len(kept)

    @staticmethod
    def _by_program(picture: Any) -> str:
        data = io.BytesIO()
        picture.convert("RGB").save(data, "PNG")
        command = ["tesseract", "stdin", "stdout", "-l", LANGUAGES]
        done = subprocess.run(command, input=data.getvalue(), capture_output=True, check=False)
        return done.stdout.decode(errors="replace")


def read_image(data: bytes) -> FileText:
    """Read a picture. Raises FileRefused: `ocr_unavailable`, `damaged`, `bomb`."""
    if not is_reader_there():
        raise FileRefused("ocr_unavailable", Reader.MISSING)
    from PIL import Image

    try:
        picture = Image.open(io.BytesIO(data))
        if picture.width * picture.height > LARGEST:
            raise FileRefused("bomb", f"{picture.width} x {picture.height} dots are too many.")
        picture.load()
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise FileRefused("damaged", "The picture cannot be opened.") from error
    text, sure = Reader().read(picture)
    made = Assembly()
    made.add_part("page", "page 1", text, confidence=round(sure, 3))
    return made.done(type="image", extractor="ocr", pages=1)
