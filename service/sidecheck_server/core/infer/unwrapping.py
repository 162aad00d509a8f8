"""Unwrapping of annotations: quotes, aliases, `Annotated`, and unions."""

import ast
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sidecheck_server.core.infer.diagnostics import Diagnostics
from sidecheck_server.core.infer.fields import FieldInfo, read_metadata
from sidecheck_server.core.infer.literals import LiteralReader
from sidecheck_server.core.infer.scopes import Alias, KnownName, Scope
from sidecheck_server.core.infer.source import Meter, parse_expression
from sidecheck_server.core.infer.types import SchemaMode

__all__ = [
    "Branch",
    "ReadContext",
    "known_name",
    "subscript_arguments",
    "union_branches",
    "unwrap",
    "unwrap_alias",
]

_REQUIREMENTS = {
    "typing.NotRequired": False,
    "typing.Required": True,
    "typing.ReadOnly": None,
}

_Metadata: TypeAlias = list[tuple[ast.expr, Scope]]


@dataclass(frozen=True, slots=True)
class ReadContext:
    """Objects that the readers of one source share, for one mode of schemas."""

    literals: LiteralReader
    diagnostics: Diagnostics
    mode: SchemaMode

    @property
    def meter(self) -> Meter:
        """Meter of the nodes that are read."""
        return self.literals.meter


class Branch(NamedTuple):
    """A branch of a union; the node is None for null."""

    node: ast.expr | None
    scope: Scope
    depth: int


def unwrap(
    node: ast.expr, scope: Scope, depth: int, info: FieldInfo, context: ReadContext
) -> tuple[ast.expr, Scope, int]:
    """Return the type under quotes, aliases and `Annotated`, its scope and depth.

    Metadata on the way is added to *info*, from the inside to the outside.

    Raises:
        SourceError: it is nested too deeply, or metadata cannot be read.
    """
    metadata: _Metadata = []
    inner: tuple[ast.expr, Scope] | None = (node, scope)
    while inner is not None:
        node, scope = inner
        context.meter.check_depth(depth, node)
        context.meter.count_node()
        depth += 1
        inner = _unwrap_layer(node, scope, info, metadata, context)
    for item, item_scope in metadata:
        context.meter.count_node()
        read_metadata(item, item_scope, info, context.literals)
    return node, scope, depth


def _unwrap_layer(
    node: ast.expr, scope: Scope, info: FieldInfo, metadata: _Metadata, context: ReadContext
) -> tuple[ast.expr, Scope] | None:
    """Return the expression that *node* wraps, and its scope; None for a type."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        context.meter.count_node(node.value)
        return parse_expression(node), scope
    if isinstance(node, ast.Name | ast.Attribute):
        binding = scope.resolve(node)
        return (binding.value, binding.scope) if isinstance(binding, Alias) else None
    if isinstance(node, ast.Subscript):
        generic = known_name(node.value, scope)
        if generic == "typing.Annotated" and isinstance(node.slice, ast.Tuple):
            metadata[:0] = [(item, scope) for item in node.slice.elts[1:]]
            return node.slice.elts[0], scope
        if generic in _REQUIREMENTS:
            info.required = _REQUIREMENTS[generic] if info.required is None else info.required
            return node.slice, scope
    if isinstance(node, ast.Call) and known_name(node.func, scope) == "typing.TypeVar":
        bound = _bound_of(node)
        return None if bound is None else (bound, scope)
    if not isinstance(node, ast.Call) or len(node.args) != 2:
        return None
    is_new_type = known_name(node.func, scope) == "typing.NewType"
    return (node.args[1], scope) if is_new_type else None


def _bound_of(variable: ast.Call) -> ast.expr | None:
    """Return the type that pydantic reads for a ``TypeVar`` without an argument."""
    options = {keyword.arg: keyword.value for keyword in variable.keywords}
    for name in ("default", "bound"):
        if name in options:
            return options[name]
    if len(variable.args) < 2:
        return None
    union, *others = variable.args[1:]
    for constraint in others:
        union = ast.copy_location(ast.BinOp(union, ast.BitOr(), constraint), constraint)
    return union


def unwrap_alias(
    node: ast.expr, scope: Scope, depth: int, meter: Meter
) -> tuple[ast.expr, Scope, int]:
    """Return the value of which *node* is an alias; strings stay as they are."""
    while isinstance(node, ast.Name):
        meter.check_depth(depth, node)
        meter.count_node()
        binding = scope.resolve(node)
        if not isinstance(binding, Alias):
            break
        node, scope, depth = binding.value, binding.scope, depth + 1
    return node, scope, depth + 1


def known_name(node: ast.expr, scope: Scope) -> str:
    """Return the canonical dotted name of *node*, or "" if it is not a known name."""
    if not isinstance(node, ast.Name | ast.Attribute):
        return ""
    binding = scope.resolve(node)
    return binding.name if isinstance(binding, KnownName) else ""


def subscript_arguments(node: ast.Subscript) -> list[ast.expr]:
    """Return the expressions within the brackets of *node*."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def union_branches(
    nodes: list[ast.expr], scope: Scope, depth: int, context: ReadContext
) -> list[Branch]:
    """Return the branches of the union of *nodes* in order, nested unions flattened."""
    branches: list[Branch] = []
    for node in nodes:
        info = FieldInfo()
        inner, inner_scope, inner_depth = unwrap(node, scope, depth, info, context)
        nested: list[ast.expr] | None = None
        if not info.is_empty:
            # A branch with metadata is read with it.
            branches.append(Branch(node, scope, depth))
            continue
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.BitOr):
            nested = _operands(inner)
        elif isinstance(inner, ast.Subscript):
            generic = known_name(inner.value, inner_scope)
            if generic == "typing.Optional":
                nested = [*subscript_arguments(inner), ast.Constant(None)]
            elif generic == "typing.Union":
                nested = subscript_arguments(inner)
        if nested is not None:
            branches += union_branches(nested, inner_scope, inner_depth, context)
        elif not isinstance(inner, ast.Subscript) and _is_null(inner, inner_scope):
            branches.append(Branch(None, inner_scope, inner_depth))
        else:
            branches.append(Branch(inner, inner_scope, inner_depth))
    return branches


def _operands(node: ast.BinOp) -> list[ast.expr]:
    """Return the operands of ``a | b | c``."""
    operands: list[ast.expr] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.BitOr):
        operands.append(left.right)
        left = left.left
    return [left, *reversed(operands)]


def _is_null(node: ast.expr, scope: Scope) -> bool:
    if isinstance(node, ast.Constant):
        return node.value is None
    return known_name(node, scope) == "builtins.None"
