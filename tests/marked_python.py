"""Which strings of an admin module reach a page, and which of them nobody could translate."""

import ast
import re
from collections.abc import Iterator

MARKS = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy", "gettext_noop"}
# Arguments that are read by people: by keyword, of any call; by place, of these.
KEYWORDS = {"label", "help_text", "description", "question", "title", "submit"}
PLACES = {
    "Verb": (1, 4),
    "Empty": (0, 1),
    "ListView": (0,),
    "ValidationError": (0,),
    "DecisionResult": (2,),
    "done": (0,),
    "success": (1,),
    "error": (1,),
    "warning": (1,),
    "info": (1,),
    "_choice": (0, 2),
    "_moment": (0, 1),
    "_json": (0, 1),
    "lines": (0, 1),
    "Tab": (0, 2),
    "Section": (0,),
}
# Attributes of classes, and dicts of them, and values of what a page is given.
ATTRIBUTES = {"search_help_text", "title", "add_label", "labels", "help_texts", "states"}
CONTEXT = {"title", "submit_label"}
# Names and signs, which are the same in every language.
WORD = re.compile(r"[A-Za-z]{2,}")


def shown(tree: ast.AST) -> Iterator[ast.expr]:
    """What is put where people read it, as it is written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _arguments(node)
        elif isinstance(node, ast.ClassDef):
            yield from _attributes(node)
        elif isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (v for k, v in pairs if isinstance(k, ast.Constant) and k.value in CONTEXT)
        elif isinstance(node, ast.FunctionDef) and node.name.startswith("do_"):
            answers = [each for each in ast.walk(node) if isinstance(each, ast.Return)]
            yield from (each.value for each in answers if each.value is not None)


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    func = call.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    yield from (call.args[place] for place in PLACES.get(name, ()) if place < len(call.args))
    named = [each.value for each in call.keywords if each.arg in KEYWORDS]
    yield from (each for each in named if not isinstance(each, ast.Dict))  # a badge's colours


def _attributes(made: ast.ClassDef) -> Iterator[ast.expr]:
    for each in made.body:
        names = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
        value = getattr(each, "value", None)
        if value is not None and {getattr(name, "id", "") for name in names} & ATTRIBUTES:
            yield value


def unmarked(tree: ast.AST) -> list[ast.expr]:
    """Strings among them without a mark around them, also where one of two is chosen."""
    found: dict[tuple[int, int], ast.expr] = {}
    waiting = list(shown(tree))
    while waiting:
        each = waiting.pop()
        match each:
            case ast.IfExp(body=body, orelse=other):
                waiting += [body, other]
            case ast.BinOp(left=left):
                waiting.append(left)
            case ast.Dict(values=values):
                waiting += values
            case ast.Constant(value=str(text)) if WORD.search(text):
                found[each.lineno, each.col_offset] = each
            case ast.JoinedStr(values=parts) if any(
                isinstance(part, ast.Constant) and WORD.search(str(part.value)) for part in parts
            ):
                found[each.lineno, each.col_offset] = each
    return [found[place] for place in sorted(found)]
