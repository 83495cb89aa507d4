"""The words of a message's content, which clients write as text or as a list of typed parts."""

from memories.transcripts.json_access import fields, first, mapping, string
from memories.transcripts.transcript import Json

SPOKEN = frozenset({"", "text", "input_text", "output_text", "summary_text", "refusal"})
UNSAID = frozenset({"thinking", "redacted_thinking", "reasoning", "token_budget"})
PICTURES = frozenset({"image", "image_url", "input_image", "image_asset_pointer"})
SOUNDS = frozenset({"audio", "input_audio", "voice_note", "audio_transcription"})


def spoken(content: Json) -> str:
    """The words of text, of a part or of a list of parts; pictures and files as [image], [file]."""
    if isinstance(content, str):
        return content.strip()
    if isinstance(content, list):
        return "\n".join(words for words in map(spoken, content) if words)
    return _part(content) if isinstance(content, dict) else ""


def _part(part: dict[str, Json]) -> str:
    kind = string(part, "type", "content_type")
    if kind in UNSAID:
        return ""
    if kind in SPOKEN:
        return string(part, "text", "refusal")
    if kind in PICTURES:
        return "[image]"
    if kind in SOUNDS:
        return string(part, "text", "transcript") or (
            string(mapping(part, "input_audio", "audio"), "transcript") or "[audio]"
        )
    return string(part, "text") or _placeholder(part, kind)


def _placeholder(part: dict[str, Json], kind: str) -> str:
    named = string(part, "title", "name", "filename", "file_name")
    named = named or string(fields(first(part, "file", "source")), "filename", "title")
    return f"[{kind}: {named}]" if named else f"[{kind}]"
