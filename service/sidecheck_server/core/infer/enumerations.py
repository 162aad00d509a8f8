"""Enumerations of the text: their members and the values of those."""

import ast
from typing import TYPE_CHECKING, Any

from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.scopes import Class, Known

if TYPE_CHECKING:
    from sidecheck_server.core.infer.literals import Literals

__all__ = ["ENUMERATIONS", "members_of"]

ENUMERATIONS = frozenset({"enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})
_MIXED_IN = {"builtins.str": str, "builtins.int": int, "builtins.float": float}
_FIXED = {"enum.IntEnum": int, "enum.IntFlag": int, "enum.Flag": int, "enum.StrEnum": str}
# Methods of the text that decide what the values are.
_MAKERS = frozenset({"__new__", "_generate_next_value_"})


def members_of(owner: Class, literals: "Literals", depth: int = 0) -> dict[str, Any]:
    """Return the values of the members of *owner*, as JSON, by name; {} if it has none.

    Raises:
        Complaint: a value cannot be told without running the text.
    """
    bases = [_base(owner, base) for base in owner.node.bases]
    base = bases[-1] if bases else ""
    if base not in ENUMERATIONS:
        return {}
    wanted = _FIXED.get(base)
    for mixed in bases[:-1]:
        if mixed not in _MIXED_IN:
            raise Complaint(
                Code.UNSUPPORTED_TYPE,
                "the values of an enumeration are known if it mixes in str, int or float at most",
                owner.node,
            )
        wanted = _MIXED_IN[mixed]
    found: dict[str, Any] = {}
    for statement in owner.node.body:
        if isinstance(statement, ast.FunctionDef) and statement.name in _MAKERS:
            raise Complaint(
                Code.UNSUPPORTED_TYPE,
                f"{statement.name} decides what the values of the enumeration are, and is not run",
                statement,
            )
        for name, value in _assigned(statement):
            found[name] = _value(owner, value, base, list(found.values()), literals, depth)
            _check(found[name], wanted, value)
        if len(found) > literals.meter.bounds.fields:
            raise Complaint(
                Code.TOO_LARGE,
                f"an enumeration of more than {literals.meter.bounds.fields} members",
                owner.node,
            )
    return found


def _base(owner: Class, base: ast.expr) -> str:
    found = owner.scope.meaning(base) if isinstance(base, ast.Name | ast.Attribute) else None
    return found.name if isinstance(found, Known) else ""


def _assigned(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets, value = [statement.target], statement.value
    # Names with an underscore on both sides are the enumeration's own.
    return [
        (target.id, value)
        for target in targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    ]


def _value(
    owner: Class,
    node: ast.expr,
    base: str,
    before: list[Any],
    literals: "Literals",
    depth: int,
) -> Any:
    if isinstance(node, ast.Call) and not node.args and not node.keywords:
        called = (
            owner.inside.meaning(node.func)
            if isinstance(node.func, ast.Name | ast.Attribute)
            else None
        )
        if called == Known("enum.auto"):
            return _automatic(owner, node, base, before)
    return literals.read(node, owner.inside, depth + 1)


def _automatic(owner: Class, node: ast.Call, base: str, before: list[Any]) -> Any:
    """Return what ``auto()`` gives after the values *before*."""
    if base == "enum.StrEnum":
        return next(
            target.id.lower()
            for statement in owner.node.body
            if isinstance(statement, ast.Assign) and statement.value is node
            for target in statement.targets
            if isinstance(target, ast.Name)
        )
    # After values that do not rise, releases of Python differ.
    if not all(type(value) is int for value in before) or before != sorted(before):
        raise Complaint(
            Code.UNSUPPORTED_TYPE,
            "auto() is known only after integers that rise; write the value",
            node,
        )
    if base in ("enum.Flag", "enum.IntFlag"):
        return 1 << max((value.bit_length() for value in before), default=0)
    return max(before, default=0) + 1


def _check(value: Any, wanted: type | None, node: ast.expr) -> None:
    if wanted is not None and type(value) is not wanted:
        raise Complaint(
            Code.UNSUPPORTED_TYPE,
            f"the value of this member must be written as {wanted.__name__}: what Python would "
            "make of it is not run",
            node,
        )
