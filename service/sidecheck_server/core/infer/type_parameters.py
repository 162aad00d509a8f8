"""Type parameters and ``type`` statements (PEP 695), where Python's parser knows them.

Python 3.12 added the nodes (docs.python.org/3/library/ast.html, "ast.TypeAlias", "Type
parameters"); with an older one, a source that has them is a syntax error.
"""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["TypeParameter", "alias_of_statement", "type_parameters"]

_ALIAS: Any = getattr(ast, "TypeAlias", None)
_TYPE_VARIABLE: Any = getattr(ast, "TypeVar", None)


class TypeParameter(NamedTuple):
    """A type parameter of a function, a class or an alias."""

    name: str
    #: Whether it stands for a type, unlike ``*Ts`` and ``**P``.
    is_variable: bool
    #: Its bound, or the union of its constraints.
    bound: ast.expr | None = None


def alias_of_statement(node: Any) -> tuple[str, ast.expr] | None:
    """Return the name and the value of ``type NAME = VALUE``; None for other nodes."""
    if _ALIAS is None or not isinstance(node, _ALIAS):
        return None
    return node.name.id, node.value


def type_parameters(node: ast.AST) -> Iterator[TypeParameter]:
    """Yield the type parameters of a function, a class or an alias."""
    parameters: list[Any] = getattr(node, "type_params", [])
    for parameter in parameters:
        if _TYPE_VARIABLE is not None and isinstance(parameter, _TYPE_VARIABLE):
            yield TypeParameter(parameter.name, is_variable=True, bound=_bound_of(parameter))
        else:
            yield TypeParameter(parameter.name, is_variable=False)


def _bound_of(parameter: Any) -> ast.expr | None:
    bound: ast.expr | None = parameter.bound
    if not isinstance(bound, ast.Tuple) or not bound.elts:
        return bound
    union, *others = bound.elts
    for constraint in others:
        union = ast.copy_location(ast.BinOp(union, ast.BitOr(), constraint), constraint)
    return union
