"""The page of the tools that agents call over MCP."""

from typing import Any

from bench.reference.markdown import cell, table
from memories.mcp.memory_tools import TOOLS
from memories.mcp.protocol import INSTRUCTIONS, RECALL, answer_schema, schema_of

HEAD = f"""# MCP tools

At `/mcp` of the server's address; [how to connect](../guides/mcp.md). A key is offered the tools that
its capabilities allow. The server says of itself:

> {INSTRUCTIONS}

There is one prompt, `{RECALL.name}` ({str(RECALL.description).rstrip(".").lower()}), and one resource,
`memory://profile/{{user_id}}`: a user's profile as Markdown.
"""


def page() -> str:
    parts = [HEAD]
    for tool in TOOLS.values():
        parts.append(f"## {tool.name}\n\n{tool.description} Needs `{tool.needs!s}`.\n")
        for title, schema in (
            ("argument", schema_of(tool)),
            ("in the answer", answer_schema(tool.answer)),
        ):
            rows = [
                (f"`{name}`", kind_of(field, schema), cell(field.get("description", "")))
                for name, field in schema["properties"].items()
            ]
            parts.append(table((title, "type", "meaning"), rows))
    return "\n".join(parts)


def kind_of(field: dict[str, Any], schema: dict[str, Any]) -> str:
    """A schema's type in a few words."""
    if "$ref" in field:
        return kind_of(schema["$defs"][field["$ref"].rpartition("/")[2]], schema)
    if "anyOf" in field:
        kinds = [kind_of(each, schema) for each in field["anyOf"]]
        return " or ".join(kind for kind in dict.fromkeys(kinds) if kind != "null")
    if "enum" in field:
        return ", ".join(f"`{each}`" for each in field["enum"])
    kind = str(field.get("type", "anything"))
    if kind == "array":
        return f"list of {kind_of(field.get('items', {}), schema)}"
    return f"{field['format']}" if "format" in field else kind
