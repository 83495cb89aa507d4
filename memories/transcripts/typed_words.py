"""Words that a person typed in the session of a coding agent.

The plugin for Claude Code has a copy of this file, so that both read a session alike: it takes the
standard library alone, of any Python that hooks may meet.
"""

import re
from typing import Any

PROGRAM = "what the program wrote itself"
SUB_AGENT = "what a sub-agent was told and said"
SUMMARY = "a summary of what was said before"

# Blocks that programs put into a person's message, with their names
_names = (
    r"system[-_]reminder|local-command-(?:stdout|stderr|caveat)|command-(?:name|message|contents|stdout|stderr)"
    r"|bash-(?:input|stdout|stderr)|user-prompt-submit-hook|[\w-]{1,40}-hook|ide_(?:opened_file|selection|diagnostics)"
    r"|task-notification|task-reminder|new-diagnostics|post-tool-use-\w{1,20}|session-start-\w{1,20}|skill(?:-\w{1,20})?"
    r"|environment_context|environment_details|user_instructions|permissions instructions|turn_aborted"
    r"|collaboration_mode"
    r"|user_shell_command|subagent_notification|INSTRUCTIONS|apps_instructions|skills_instructions|plugins_instructions"
    r"|attached_files|open_and_recently_viewed_files|user_info|project_layout|git_status|rules|agent_transcripts"
    r"|additional_data|current_file|manually_added_selection|hook_context|session_context|state_snapshot"
)
_block = re.compile(rf"<(?P<name>{_names})(?: [^<>\n]{{0,200}})?>.*?(?:</(?P=name)>|\Z)", re.DOTALL)
_query = re.compile(r"<user_query>\s*(.*?)\s*(?:</user_query>|\Z)", re.DOTALL)
_arguments = re.compile(r"</?command-args>")
# What begins a message that no person typed
_begins = re.compile(
    r"(?:Caveat: The messages below were generated|\[Request interrupted"
    r"|This session is being continued from a previous"
    r"|Base directory for this skill:|# AGENTS\.md instructions|This is the Gemini CLI\. We are setting up"
    r"|Implement the following plan:|Stop hook feedback:|\[Image: (?:source|original)"
    r"|Your task is to create a detailed summary"
    r"|Another language model started to solve this problem)"
)
_request = re.compile(r"^## My request for Codex:\s*", re.MULTILINE)
_files = re.compile(r"^-{3} Content from referenced files -{3}$.*", re.MULTILINE | re.DOTALL)


def typed(text: str) -> str:
    """Return what a person typed of a message; "" where a program wrote all of it."""
    if "<user_query>" in text:
        return "\n\n".join(_query.findall(text)).strip()
    if text.startswith("# Context from my IDE setup:"):
        return _request.split(text, maxsplit=1)[-1].strip() if _request.search(text) else ""
    text = _block.sub("", text) if "<" in text else text
    text = _files.sub("", _arguments.sub("", text)).strip()
    return "" if _begins.match(text) else text


def message_in_line(row: "dict[str, Any]") -> "dict[str, Any] | str":
    """Return the message in a line of Claude Code's file; the reason where no person and no assistant
    says anything in it. Its texts may still hold what a program put beside the words: see `typed`."""
    kind = row.get("type")
    message = row.get("message")
    # What was typed while the agent was at work
    queued = row.get("attachment") if kind == "attachment" else None
    if isinstance(queued, dict) and queued.get("type") == "queued_command":
        message = {"role": "user", "content": queued.get("prompt")}
        kind = "user" if queued.get("commandMode") in (None, "prompt") else "a command"
    if row.get("isSidechain") is True or row.get("agentId"):
        return SUB_AGENT
    if row.get("isCompactSummary") is True:
        return SUMMARY
    if (
        row.get("isMeta") is True
        or row.get("isVisibleInTranscriptOnly") is True
        or row.get("isApiErrorMessage") is True
    ):
        return PROGRAM
    if row.get("planContent") is not None:
        return "a plan"
    if kind not in ("user", "assistant"):
        return f"lines of the kind {kind}"
    return message if isinstance(message, dict) and message else PROGRAM
