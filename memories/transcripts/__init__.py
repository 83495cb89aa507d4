"""Readers for conversations in files. Pure: a path in, plain values out, no Django."""

from memories.transcripts.read_file import FORMATS, read
from memories.transcripts.transcript import BadLine, Transcript, TranscriptMessage, Unreadable

__all__ = ["FORMATS", "BadLine", "TranscriptMessage", "Transcript", "Unreadable", "read"]
