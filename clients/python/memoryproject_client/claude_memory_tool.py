"""The memory tool of Claude (`memory_20250818`) over a workspace: its files are documents, so that
each change of Claude's own notes is kept as a revision, and people see them in the admin."""

from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError

from memoryproject_client.client import Memory
from memoryproject_client.named_texts import NamedText, NamedTexts

ROOT = "/memories"
WIDTH = 6  # of the numbers of lines
MISSING = "The path {} does not exist. Please provide a valid path."


class ClaudeMemoryTool(BetaAbstractMemoryTool):
    """`client.beta.messages.tool_runner(..., tools=[ClaudeMemoryTool(Memory(...), "ada")])`.

    Each `owner` has files of its own. Deleting a file erases it, which needs a key that may.
    """

    def __init__(self, memory: Memory, owner: str = "claude", **options: Any) -> None:
        super().__init__(**options)
        self.files = NamedTexts(memory, f"claude-memory:{owner}")

    def view(self, command: Any) -> str:
        path = _checked(command.path)
        if (file := self.files.read(path)) is not None:
            return _numbered(path, file.text or "", command.view_range)
        names = sorted(one.name for one in self._below(path))
        if not names and path != ROOT:
            raise ToolError(MISSING.format(path))
        shown = {f"{path}/"} if path == ROOT else set()
        for name in names:
            parts = name.removeprefix(f"{path}/").split("/")
            shown |= {f"{path}/{parts[0]}/"} if len(parts) > 1 else set()
            shown.add(f"{path}/{'/'.join(parts[:2])}" + ("/" if len(parts) > 2 else ""))
        lines = [path, *sorted(shown - {f"{path}/"})]
        told = f"Here're the files and directories up to 2 levels deep in {path},"
        return f"{told} excluding hidden items:\n" + "\n".join(lines)

    def create(self, command: Any) -> str:
        path = _checked(command.path)
        if self.files.read(path) is not None:
            raise ToolError(f"File {path} already exists")
        self.files.write(path, command.file_text)
        return f"File created successfully at: {path}"

    def str_replace(self, command: Any) -> str:
        path, text = self._text_of(command.path)
        old = command.old_str
        if not text.count(old):
            told = f"old_str `{old}` did not appear verbatim in {path}."
            raise ToolError(f"No replacement was performed, {told}")
        places = [text[:at].count("\n") + 1 for at in _places(text, old)]
        if len(places) > 1:
            told = f"Multiple occurrences of old_str `{old}` in lines: {', '.join(map(str, places))}"
            raise ToolError(f"No replacement was performed. {told}. Please ensure it is unique")
        new = text.replace(old, command.new_str or "")
        self.files.write(path, new)
        changed = new.split("\n")
        first, last = max(0, places[0] - 3), min(len(changed), places[0] + 2)
        shown = [f"{at + 1:>{WIDTH}}\t{changed[at]}" for at in range(first, last)]
        told = "The memory file has been edited. Here is the snippet showing the change"
        return f"{told} (with line numbers):\n" + "\n".join(shown)

    def insert(self, command: Any) -> str:
        path, text = self._text_of(command.path)
        lines = text.removesuffix("\n").split("\n") if text else []
        if not 0 <= command.insert_line <= len(lines):
            told = f"It should be within the range [0, {len(lines)}]."
            raise ToolError(f"Invalid `insert_line` parameter: {command.insert_line}. {told}")
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        self.files.write(path, "\n".join(lines) + "\n")
        return f"The file {path} has been edited."

    def delete(self, command: Any) -> str:
        path = _checked(command.path)
        if path == ROOT:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        for one in self._at_or_below(path):
            self.files.erase(one)
        return f"Successfully deleted {path}"

    def rename(self, command: Any) -> str:
        old, new = _checked(command.old_path), _checked(command.new_path)
        if old == ROOT:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        moved = self._at_or_below(old)
        if self.files.read(new) is not None or any(self._below(new)):
            raise ToolError(f"The destination {new} already exists")
        for one in moved:
            whole = self.files.read(one.name)
            self.files.write(new + one.name.removeprefix(old), (whole and whole.text) or "")
            self.files.erase(one)
        return f"Successfully renamed {old} to {new}"

    def clear_all_memory(self) -> str:
        for one in list(self.files.every()):
            self.files.erase(one)
        return "All memory cleared"

    def _below(self, path: str) -> list[NamedText]:
        return [one for one in self.files.every() if one.name.startswith(f"{path}/")]

    def _at_or_below(self, path: str) -> list[NamedText]:
        file = self.files.read(path)
        found = [file] if file is not None else self._below(path)
        if not found:
            raise ToolError(f"The path {path} does not exist")
        return found

    def _text_of(self, given: str) -> tuple[str, str]:
        path = _checked(given)
        file = self.files.read(path)
        if file is None:
            kind = f"The path {path} is not a file." if self._below(path) else MISSING.format(path)
            raise ToolError(kind)
        return path, file.text or ""


def _checked(path: str) -> str:
    clean = path.rstrip("/")
    if clean != ROOT and not clean.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    if any(part in ("", ".", "..") for part in clean.split("/")[1:]):
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return clean


def _places(text: str, part: str) -> list[int]:
    places, at = [], text.find(part)
    while at >= 0:
        places.append(at)
        at = text.find(part, at + 1)
    return places


def _numbered(path: str, text: str, view_range: list[int] | None) -> str:
    lines, first = text.split("\n"), 1
    if view_range and len(view_range) == 2:
        first = max(1, view_range[0])
        lines = lines[first - 1 : None if view_range[1] == -1 else view_range[1]]
    shown = [f"{at:>{WIDTH}}\t{line}" for at, line in enumerate(lines, start=first)]
    return f"Here's the content of {path} with line numbers:\n" + "\n".join(shown)
