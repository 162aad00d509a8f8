"""Unions: their members, those of unions within them among these."""

import ast
from typing import TYPE_CHECKING, Any, TypeAlias

from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.fields import Info
from sidecheck_server.core.infer.scopes import Scope

if TYPE_CHECKING:
    from sidecheck_server.core.infer.annotations import Types

__all__ = ["leaves_of", "tagged"]

#: A member, where its names are looked up, and how deep it stands; null is None.
Leaf: TypeAlias = tuple[ast.expr | None, Scope, int]


def leaves_of(types: "Types", given: list[ast.expr], scope: Scope, depth: int) -> list[Leaf]:
    """Return the members of the union of *given*, in their order."""
    found: list[Leaf] = []
    for each in given:
        info = Info()
        node, where, deep = types.peel(each, scope, depth, info)
        if not info.is_empty:
            found.append((each, scope, depth))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            found += leaves_of(types, _sides(node), where, deep)
        elif isinstance(node, ast.Subscript):
            inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            head = types.known(node.value, where)
            if head == "typing.Optional":
                found += leaves_of(types, [*inner, ast.Constant(None)], where, deep)
            elif head == "typing.Union":
                found += leaves_of(types, inner, where, deep)
            else:
                found.append((node, where, deep))
        elif _is_null(types, node, where):
            found.append((None, where, deep))
        else:
            found.append((node, where, deep))
    return found


def _sides(node: ast.BinOp) -> list[ast.expr]:
    """Return what the bars of ``a | b | c`` stand between."""
    sides: list[ast.expr] = []
    at: ast.expr = node
    while isinstance(at, ast.BinOp) and isinstance(at.op, ast.BitOr):
        sides.append(at.right)
        at = at.left
    return [at, *reversed(sides)]


def _is_null(types: "Types", node: ast.expr, scope: Scope) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None
    return types.known(node, scope) == "builtins.None"


def tagged(
    types: "Types", schemas: list[dict[str, Any]], tag: str, node: ast.expr
) -> dict[str, Any]:
    """Return the schema of a union whose members the value of *tag* tells apart."""
    mapping: dict[str, str] = {}
    for schema in schemas:
        reference = schema.get("$ref", "")
        definition = types.classes.definition(reference.rpartition("/")[2])
        values = definition.get("properties", {}).get(tag, {})
        told = [values["const"]] if "const" in values else values.get("enum", [])
        if not told:
            raise Complaint(
                Code.UNSUPPORTED_TYPE,
                f"each member of this union must be a class with a literal {tag}",
                node,
            )
        mapping |= {str(value): reference for value in told}
    return {"oneOf": schemas, "discriminator": {"mapping": mapping, "propertyName": tag}}
