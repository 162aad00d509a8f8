"""Decorators: which functions are tools, and what their decorators say of them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.infer.complaints import Code, Complaint, Complaints
from sidecheck_server.core.infer.fields import called_name
from sidecheck_server.core.infer.literals import Literals
from sidecheck_server.core.infer.scopes import Alias, Scope
from sidecheck_server.core.types import Severity

__all__ = ["Said", "marks_tool", "read_decorator"]

_MARKS = frozenset({"tool", "skill_command"})
# The hints of MCP, by the names that decorators have for them.
_HINTS = {
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
    "read_only": "readOnlyHint",
}
_HINTS_IN_ANNOTATIONS = {f"{name}_hint": hint for name, hint in _HINTS.items()}
_SWITCHES = {"autowire": "autowire", "structured_output": "structured"}


@dataclass(slots=True)
class Said:
    """What a decorator says."""

    name: str = ""
    title: str = ""
    #: None if it says nothing of it, so that the docstring does.
    description: str | None = None
    annotations: dict[str, Any] = field(default_factory=dict)
    input_schema: dict[str, Any] | None = None
    #: Whether results are data, too, and not text alone.
    structured: bool = True
    output_schema: dict[str, Any] | None = None
    #: Parameters that are injected, by name.
    injected: set[str] = field(default_factory=set)
    #: Types whose parameters are injected, by name.
    injected_types: set[str] = field(default_factory=set)
    #: Whether settings are injected by their types.
    autowire: bool = True


def marks_tool(decorator: ast.expr) -> bool:
    """Whether *decorator* makes a tool, by the last name in it."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
    return name in _MARKS


def read_decorator(
    decorator: ast.expr, scope: Scope, literals: Literals, complaints: Complaints
) -> Said:
    """Return what *decorator* says in literals; of what else it says, there are warnings."""
    said = Said()
    ours = _is_ours(decorator, scope)
    for name, node in _arguments(decorator):
        try:
            _read(name, node, scope, literals, said)
        except Complaint as complaint:
            warned = Complaint(
                Code.UNSUPPORTED_SYNTAX,
                f"what the decorator says of {name} is left out: {complaint.message}",
                node,
            )
            complaints.add(warned, Severity.WARNING)
    if ours and said.title:
        said.annotations = {"title": said.title, **said.annotations}
        said.title = ""
    return said


def _is_ours(decorator: ast.expr, scope: Scope) -> bool:
    """Whether the title that *decorator* gives is one of the annotations, not the tool's own."""
    name = called_name(decorator, scope)
    return name.startswith("sidecheck.") or name.rpartition(".")[2] == "skill_command"


def _arguments(decorator: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(decorator, ast.Call):
        return
    if decorator.args:
        yield "name", decorator.args[0]
    for keyword in decorator.keywords:
        yield keyword.arg or "**", keyword.value


def _read(name: str, node: ast.expr, scope: Scope, literals: Literals, said: Said) -> None:
    if isinstance(node, ast.Constant) and node.value is None:
        return
    if name in ("name", "title", "description"):
        setattr(said, name, literals.text(node, scope))
    elif name in _HINTS:
        said.annotations[_HINTS[name]] = _boolean(node, scope, literals)
    elif name == "annotations":
        said.annotations |= _annotations(node, scope, literals)
    elif name in ("input_schema", "output_schema"):
        setattr(said, name, _schema(name, node, scope, literals))
    elif name in _SWITCHES:
        setattr(said, _SWITCHES[name], _boolean(node, scope, literals))
    elif name == "injected":
        _add_injected(node, scope, literals, said)
    elif name == "**":
        raise Complaint(Code.UNSUPPORTED_SYNTAX, "its keywords are not written out", node)
    else:
        said.injected |= _injected(name, node, scope, literals)


def _schema(name: str, node: ast.expr, scope: Scope, literals: Literals) -> dict[str, Any]:
    schema = _dictionary(node, scope, literals)
    if name == "input_schema" and schema.get("type") != "object":
        message = 'this must have "type": "object" at its root, as MCP has arguments'
        raise Complaint(Code.UNSUPPORTED_SYNTAX, message, node)
    return schema


def _injected(name: str, node: ast.expr, scope: Scope, literals: Literals) -> set[str]:
    """Return the parameters that are injected because of the argument *name*."""
    if name == "inject_root" and _boolean(node, scope, literals):
        return {"project_root"}
    if name == "inject_settings":
        names = literals.read(node, scope)
        # A setting called git.path is given as git_path.
        return {each.replace(".", "_") for each in names or () if isinstance(each, str)}
    return set()


def _add_injected(node: ast.expr, scope: Scope, literals: Literals, said: Said) -> None:
    """Add the names of parameters, and the types, that a list has."""
    if not isinstance(node, ast.List | ast.Tuple | ast.Set):
        raise Complaint(Code.UNSUPPORTED_SYNTAX, "this must be a list", node)
    for each in node.elts:
        if isinstance(each, ast.Name | ast.Attribute):
            said.injected_types.add(each.id if isinstance(each, ast.Name) else each.attr)
        else:
            said.injected.add(literals.text(each, scope))


def _dictionary(node: ast.expr, scope: Scope, literals: Literals) -> dict[str, Any]:
    found = literals.read(node, scope)
    if not isinstance(found, dict):
        raise Complaint(Code.UNSUPPORTED_SYNTAX, "this must be a dict", node)
    return found


def _boolean(node: ast.expr, scope: Scope, literals: Literals) -> bool:
    value = literals.read(node, scope)
    if not isinstance(value, bool):
        raise Complaint(Code.UNSUPPORTED_SYNTAX, "this must be True or False", node)
    return value


def _annotations(node: ast.expr, scope: Scope, literals: Literals) -> dict[str, Any]:
    """Return the literals of ``{...}``, or of the keywords of ``ToolAnnotations(...)``.

    Either may have a name in the text.
    """
    if isinstance(node, ast.Name) and isinstance(found := scope.meaning(node), Alias):
        node, scope = found.value, found.scope
    if isinstance(node, ast.Call):
        if node.args or called_name(node, scope).rpartition(".")[2] != "ToolAnnotations":
            raise Complaint(Code.UNSUPPORTED_SYNTAX, "what this returns is not known here", node)
        said = {
            each.arg: literals.read(each.value, scope)
            for each in node.keywords
            if each.arg is not None
        }
    else:
        said = _dictionary(node, scope, literals)
    return {
        _HINTS_IN_ANNOTATIONS.get(name, name): value
        for name, value in said.items()
        if value is not None
    }
