"""The pages of the API, one for each group of operations, out of the OpenAPI file."""

import re
from pathlib import Path
from typing import Any

import yaml

from bench.reference.markdown import cell, plain, table

HEAD = """# API

All operations by group, out of [openapi.yaml](../../openapi.yaml), from which clients can be generated;
a running server shows the same at `/api/docs` (Swagger, to try it) and `/api/redoc`. How to use it:
[the API](../../guides/api.md). What went wrong: [errors](../errors.md).
"""
METHODS = ("get", "post", "patch", "put", "delete")
Schema = dict[str, Any]


def pages(root: Path) -> dict[str, str]:
    """Return the pages by file name."""
    file = yaml.load((root / "docs" / "openapi.yaml").read_text(), Loader=yaml.CSafeLoader)
    groups: dict[str, list[tuple[str, str, Schema]]] = {tag["name"]: [] for tag in file["tags"]}
    for path, methods in file["paths"].items():
        for method in METHODS:
            if method in methods:
                groups[methods[method]["tags"][0]].append((method, path, methods[method]))
    told = {tag["name"]: tag.get("description", "") for tag in file["tags"]}
    made, index = {}, [HEAD]
    for group, operations in groups.items():
        name = f"{group.lower().replace(' ', '-')}.md"
        rows = [
            (
                f"[{operation['summary']}]({name}#{anchor(operation)})",
                f"`{method.upper()} {short(path)}`",
            )
            for method, path, operation in operations
        ]
        link = f"## {group}\n\n{told[group]}\n".replace("\n\n\n", "\n\n")
        index.append(f"{link}\n{table(('operation', 'request'), rows)}")
        parts = [f"# {group}\n\n{told[group]}\n"] if told[group] else [f"# {group}\n"]
        parts += [section(*each, file["components"]["schemas"]) for each in operations]
        made[name] = "\n".join(parts)
    return {"index.md": "\n".join(index), **made}


def anchor(operation: Schema) -> str:
    return re.sub(r"[^a-z0-9]+", "-", operation["summary"].lower()).strip("-")


def short(path: str) -> str:
    return path.replace("/api/v1/workspaces/{workspace}/", "/").replace("/api/v1", "")


def section(method: str, path: str, operation: Schema, schemas: Schema) -> str:
    """Return the section of an operation: what it takes, an example, what it answers."""
    parts = [f"## {operation['summary']}\n", f"`{method.upper()} {path}`\n"]
    if operation.get("description"):
        parts.append(plain(operation["description"]) + "\n")
    rows = [
        (f"`{each['name']}`", f"{each['in']}, {kind_of(each['schema'], schemas)}", cell(each.get("description", "")))
        for each in operation.get("parameters", ())
        if each["in"] != "path"
    ]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        for name, field, is_needed in fields_of(content["schema"], schemas):
            kind = kind_of(field, schemas) + (", required" if is_needed else "")
            rows.append((f"`{name}`", kind, cell(described(field, schemas))))
        break  # other forms of a body have the same fields
    if rows:
        parts.append(table(("field", "kind", "meaning"), rows))
    for sample in operation.get("x-codeSamples", ()):
        parts.append(f"```sh\n{sample['source']}\n```\n")
    answers = []
    for status, answer in sorted(operation["responses"].items()):
        if status.isdigit() and status < "400":
            shown: Schema = next(iter(answer.get("content", {}).values()), {})
            schema = shown.get("schema", {})
            known = [f"`{name}`" for name, _, _ in fields_of(schema, schemas)]
            words = answer.get("description", "")
            listed = f" with {', '.join(known)}" if known else ""
            answers.append(f"`{status}`{listed}{f': {words}' if words else ''}".rstrip(".") + ".")
    others = sorted(s for s in operation["responses"] if s.isdigit() and s >= "400")
    refused = f" Refused with {', '.join(f'`{s}`' for s in others)}." if others else ""
    parts.append(f"Answers {' Or '.join(answers)}{refused}\n" if answers else f"{refused.strip()}\n")
    return "\n".join(parts)


def resolved(schema: Schema, schemas: Schema) -> Schema:
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    return schema


def fields_of(schema: Schema, schemas: Schema) -> list[tuple[str, Schema, bool]]:
    """Name, schema and whether it is required, of an object's fields; of others none."""
    schema = resolved(schema, schemas)
    needed = schema.get("required", ())
    return [(name, each, name in needed) for name, each in schema.get("properties", {}).items()]


def described(field: Schema, schemas: Schema) -> str:
    return str(field.get("description") or resolved(field, schemas).get("description", ""))


def kind_of(schema: Schema, schemas: Schema) -> str:
    """A schema's type in a few words."""
    name = schema.get("$ref", "").rpartition("/")[2]
    schema = resolved(schema, schemas)
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"] if each not in (None, ""))
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            kinds = [kind_of(each, schemas) for each in schema[choice]]
            return " or ".join(kind for kind in dict.fromkeys(kinds) if kind != "null") or "null"
    kind = schema.get("type", "anything")
    if isinstance(kind, list):
        return " or ".join(each for each in kind if each != "null")
    if kind == "array":
        return f"list of {kind_of(schema.get('items', {}), schemas)}"
    if kind == "object" and name:
        return f"object ({', '.join(schema.get('properties', {})) or 'any'})"
    return str(schema.get("format", kind))
