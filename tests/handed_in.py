"""Documents of tests: handed in and read at once, without a worker."""

import io
import zipfile
from typing import Any

from memories.documents import document_store, pipeline
from memories.documents.document_store import NewDocument
from memories.documents.search_documents import DocumentAnswer, DocumentSearch, search_documents
from memories.models import Document
from tests.people import Person

PUMPS = """# Pumps of the north

The copper pump needs oil every ninth day. Its keeper lives in Tromsoe.

## Valves

A valve of brass costs twelve crowns and lasts for seven winters.
"""


def hand_in(person: Person, content: str | bytes = PUMPS, **options: Any) -> Document:
    """Kept, and read as the worker would."""
    data = content.encode() if isinstance(content, str) else content
    kept = document_store.receive(person.scope, NewDocument(parts=[data], **options))
    return pipeline.run(kept.document.pk) or Document.objects.get(pk=kept.document.pk)


def look_for(person: Person, query: str, **options: Any) -> DocumentAnswer:
    return search_documents(person.scope, DocumentSearch(query, **options))


def titles(person: Person, query: str, **options: Any) -> list[str]:
    return [hit.document.title for hit in look_for(person, query, **options).hits]


def zipped(files: dict[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()
