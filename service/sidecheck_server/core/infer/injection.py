"""Injection: the parameters that a server gives, and that are no arguments."""

import ast
from collections.abc import Collection

from sidecheck_server.core.infer.bounds import Meter
from sidecheck_server.core.infer.complaints import Complaint
from sidecheck_server.core.infer.fields import INJECTING, called_name
from sidecheck_server.core.infer.known import INJECTED_TYPES
from sidecheck_server.core.infer.members import kind_of
from sidecheck_server.core.infer.parsing import parse_expression
from sidecheck_server.core.infer.scopes import Class, Scope

__all__ = ["is_injected"]

# Injected only where things are wired by their types.
_WIRED = frozenset({"ConfigPaths", "Settings"})
# Those of which a class under one is one too. Protocols call data requests: MCP does.
_INHERITED = INJECTED_TYPES - _WIRED - {"Request"}
_MOST_PARTS = 100


def is_injected(
    node: ast.arg,
    default: ast.expr | None,
    scope: Scope,
    asked: Collection[str],
    meter: Meter,
    *,
    autowire: bool,
) -> bool:
    """Whether the parameter *node* is given by the server.

    It is by what makes its default, `Depends(...)` and the like; by what `Annotated` says
    besides; or by its type, alone or in a union: one that is known, or that is *asked* for.
    """
    if isinstance(default, ast.Call) and _last(called_name(default, scope)) in INJECTING:
        return True
    known = INJECTED_TYPES if autowire else INJECTED_TYPES - _WIRED
    return node.annotation is not None and any(
        _is_injecting(part, scope, known, asked, meter) for part in _parts(node.annotation)
    )


def _is_injecting(
    part: ast.expr,
    scope: Scope,
    known: frozenset[str],
    asked: Collection[str],
    meter: Meter,
) -> bool:
    if isinstance(part, ast.Call):
        return _last(called_name(part, scope)) in INJECTING
    name = _name_of(part)
    if name in asked or name in INJECTING:
        return True
    if name in known:
        return not _is_data(part, scope, meter)
    return _is_under(part, scope, meter)


def _is_under(part: ast.expr, scope: Scope, meter: Meter) -> bool:
    """Whether *part* is a class of the text under one that is known, at whatever distance."""
    for _ in range(_MOST_PARTS):
        try:
            found = scope.meaning(part)
        except Complaint:
            return False
        if not isinstance(found, Class):
            return False
        named = [_bare(base) for base in found.node.bases]
        for base in named:
            if _name_of(base) in _INHERITED and not _is_data(base, found.scope, meter):
                return True
        if len(named) != 1:
            return False
        part, scope = named[0], found.scope
    return False


def _bare(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _is_data(part: ast.expr, scope: Scope, meter: Meter) -> bool:
    """Whether the text itself defines *part*, and as a class that has a schema."""
    try:
        found = scope.meaning(part)
        return isinstance(found, Class) and bool(kind_of(found, meter))
    except Complaint:
        return False


def _parts(annotation: ast.expr) -> list[ast.expr]:
    """Return the types that stand in a union, or in `Annotated`, and what is said besides."""
    found: list[ast.expr] = []
    waiting = [annotation]
    while waiting and len(found) < _MOST_PARTS:
        node = waiting.pop()
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                waiting.append(parse_expression(node))
            except Complaint:
                continue
        elif isinstance(node, ast.BinOp):
            waiting += [node.left, node.right]
        elif isinstance(node, ast.Subscript):
            found.append(node.value)
            if _name_of(node.value) in ("Annotated", "Optional", "Union"):
                inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                waiting += inner
        elif isinstance(node, ast.Name | ast.Attribute | ast.Call):
            found.append(node)
    return found


def _last(name: str) -> str:
    return name.rpartition(".")[2]
