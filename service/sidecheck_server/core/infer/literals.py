"""Literals and members of enumerations, as JSON.

A value is read from the syntax tree, never computed: constants, signs before numbers,
lists, tuples, sets and dictionaries, names of such values, members of enumerations, and
calls of a few constructors whose result is known.
"""

import ast
import math
from typing import Any

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, SourceError
from sidecheck_server.core.infer.scopes import Alias, ClassAttribute, KnownName, Scope, SourceClass
from sidecheck_server.core.infer.source import Meter

__all__ = ["ENUMERATIONS", "LiteralReader"]

ENUMERATIONS = frozenset({"enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"})
_MIXIN_TYPES = {"builtins.str": str, "builtins.int": int, "builtins.float": float}
_BASE_TYPES = {"enum.IntEnum": int, "enum.IntFlag": int, "enum.Flag": int, "enum.StrEnum": str}
# Methods that compute the values of members.
_VALUE_METHODS = frozenset({"__new__", "_generate_next_value_"})
_EMPTY_CONSTRUCTORS = {
    "builtins.list": list, "builtins.dict": dict, "builtins.set": list,
    "builtins.frozenset": list, "builtins.tuple": list,
}  # fmt: skip


class LiteralReader:
    """Reader of literals and members of enumerations, which counts nodes on *meter*."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter

    def read(self, node: ast.expr, scope: Scope, depth: int = 0) -> Any:
        """Return the value of *node* as JSON.

        Tuples and sets become arrays, as pydantic writes them, and bytes become strings.

        Raises:
            SourceError: it is not a literal, or has no JSON form.
        """
        self.meter.check_depth(depth, node)
        self.meter.count_node()
        if isinstance(node, ast.Constant):
            return self._read_constant(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            return self._read_signed(node, scope, depth)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            items = [self.read(element, scope, depth + 1) for element in node.elts]
            return _without_duplicates(items) if isinstance(node, ast.Set) else items
        if isinstance(node, ast.Dict):
            return self._read_dict(node, scope, depth)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._read_name(node, scope, depth)
        if isinstance(node, ast.Call):
            return self._read_call(node, scope)
        raise _not_a_literal(node)

    def read_string(self, node: ast.expr, scope: Scope) -> str:
        """Return the string *node*.

        Raises:
            SourceError: it is something else.
        """
        value = self.read(node, scope)
        if not isinstance(value, str):
            raise SourceError(DiagnosticCode.UNSUPPORTED_SYNTAX, "expected a string literal", node)
        return value

    def read_docstring(
        self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, *, clean: bool = True
    ) -> str:
        """Return the docstring of *node*, or ""; with *clean*, without its indentation."""
        text = ast.get_docstring(node, clean) or ""
        self.meter.count_node(text)
        return text.encode("utf-8", "replace").decode()

    def enumeration_members(self, owner: SourceClass, depth: int = 0) -> dict[str, Any]:
        """Return the members of *owner* by name; {} if it is not an enumeration.

        Raises:
            SourceError: the source does not determine a value.
        """
        bases = [_known_base(owner, base) for base in owner.node.bases]
        base = bases[-1] if bases else ""
        if base not in ENUMERATIONS:
            return {}
        value_type = _BASE_TYPES.get(base)
        for mixin in bases[:-1]:
            if mixin not in _MIXIN_TYPES:
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_TYPE,
                    "an enumeration may mix in only str, int or float: the values are unknown "
                    "otherwise",
                    owner.node,
                )
            value_type = _MIXIN_TYPES[mixin]
        members: dict[str, Any] = {}
        for statement in owner.node.body:
            if isinstance(statement, ast.FunctionDef) and statement.name in _VALUE_METHODS:
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_TYPE,
                    f"{statement.name} computes the values of the enumeration, and is not run",
                    statement,
                )
            for name, node in _member_assignments(statement):
                preceding = list(members.values())
                members[name] = self._read_member(owner, node, base, preceding, depth)
                _check_member_type(members[name], value_type, node)
            if len(members) > self.meter.bounds.fields:
                raise SourceError(
                    DiagnosticCode.TOO_LARGE,
                    f"an enumeration of more than {self.meter.bounds.fields} members",
                    owner.node,
                )
        return members

    def _read_constant(self, node: ast.Constant) -> Any:
        value = node.value
        if isinstance(value, bytes):
            try:
                value = value.decode()
            except UnicodeDecodeError:
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_SYNTAX,
                    "these bytes are not UTF-8, so no JSON string",
                    node,
                ) from None
        if isinstance(value, str):
            self.meter.count_node(value)
            if not _is_unicode(value):
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_SYNTAX,
                    "a JSON string cannot contain a lone surrogate",
                    node,
                )
            return value
        if isinstance(value, int) and value.bit_length() > self.meter.bounds.integer_bits:
            raise SourceError(
                DiagnosticCode.TOO_LARGE,
                f"an integer of more than {self.meter.bounds.integer_bits:,} bits",
                node,
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise SourceError(
                DiagnosticCode.UNSUPPORTED_SYNTAX, "JSON has no infinite numbers", node
            )
        if value is None or isinstance(value, int | float):
            return value
        raise _not_a_literal(node)

    def _read_signed(self, node: ast.UnaryOp, scope: Scope, depth: int) -> Any:
        value = self.read(node.operand, scope, depth + 1)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _not_a_literal(node)
        return -value if isinstance(node.op, ast.USub) else value

    def _read_dict(self, node: ast.Dict, scope: Scope, depth: int) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise _not_a_literal(value)
            name = self.read(key, scope, depth + 1)
            if isinstance(name, bool) or not isinstance(name, str | int):
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_SYNTAX,
                    "property names of a JSON object must be strings",
                    key,
                )
            properties[str(name)] = self.read(value, scope, depth + 1)
        return properties

    def _read_name(self, node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> Any:
        # In JSON, the member `Colour.RED` and its value `Colour.RED.value` are the same.
        target = node.value if isinstance(node, ast.Attribute) and node.attr == "value" else node
        binding = scope.resolve(target)
        if isinstance(binding, Alias) and target is node:
            return self.read(binding.value, binding.scope, depth + 1)
        if isinstance(binding, ClassAttribute):
            members = self.enumeration_members(binding.owner, depth + 1)
            if binding.name in members:
                return members[binding.name]
        raise _not_a_literal(node)

    def _read_call(self, node: ast.Call, scope: Scope) -> Any:
        if not isinstance(node.func, ast.Name | ast.Attribute) or node.keywords:
            raise _not_a_literal(node)
        binding = scope.resolve(node.func)
        name = binding.name if isinstance(binding, KnownName) else ""
        if name in _EMPTY_CONSTRUCTORS and not node.args:
            return _EMPTY_CONSTRUCTORS[name]()
        if len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            text = node.args[0].value
            if isinstance(text, str) and name == "decimal.Decimal" and _is_decimal(text):
                return text
            if isinstance(text, str) and name.startswith("pathlib.") and _is_path(text):
                return text
        raise _not_a_literal(node)

    def _read_member(
        self, owner: SourceClass, node: ast.expr, base: str, preceding: list[Any], depth: int
    ) -> Any:
        if isinstance(node, ast.Call) and not node.args and not node.keywords:
            callee = (
                owner.body_scope.resolve(node.func)
                if isinstance(node.func, ast.Name | ast.Attribute)
                else None
            )
            if callee == KnownName("enum.auto"):
                return _automatic_value(owner, node, base, preceding)
        return self.read(node, owner.body_scope, depth + 1)


def _not_a_literal(node: ast.expr) -> SourceError:
    return SourceError(
        DiagnosticCode.UNSUPPORTED_SYNTAX, "not a literal, and the source is not run", node
    )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_decimal(text: str) -> bool:
    """Whether decimal.Decimal prints *text* unchanged: digits and at most one point."""
    whole, point, fraction = text.removeprefix("-").partition(".")
    is_integer = whole.isascii() and whole.isdigit() and (whole == "0" or whole[0] != "0")
    return is_integer and (not point or (fraction.isascii() and fraction.isdigit()))


def _is_path(text: str) -> bool:
    """Whether pathlib prints *text* unchanged."""
    parts = text.removeprefix("/").split("/")
    return text in ("/", ".") or (all(part not in ("", ".") for part in parts) and text.isascii())


def _without_duplicates(items: list[Any]) -> list[Any]:
    # By type as well: 1, 1.0 and True are equal.
    unique: dict[tuple[str, str], Any] = {}
    for item in items:
        unique.setdefault((type(item).__name__, repr(item)), item)
    return list(unique.values())


def _known_base(owner: SourceClass, base: ast.expr) -> str:
    binding = owner.scope.resolve(base) if isinstance(base, ast.Name | ast.Attribute) else None
    return binding.name if isinstance(binding, KnownName) else ""


def _member_assignments(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets, value = statement.targets, statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets, value = [statement.target], statement.value
    # Names with leading underscores are private to the enumeration.
    return [
        (target.id, value)
        for target in targets
        if isinstance(target, ast.Name) and not target.id.startswith("_")
    ]


def _automatic_value(owner: SourceClass, node: ast.Call, base: str, preceding: list[Any]) -> Any:
    """Return the value of ``auto()`` after the values *preceding*."""
    if base == "enum.StrEnum":
        return next(
            target.id.lower()
            for statement in owner.node.body
            if isinstance(statement, ast.Assign) and statement.value is node
            for target in statement.targets
            if isinstance(target, ast.Name)
        )
    # After values that do not ascend, releases of Python differ.
    if not all(type(value) is int for value in preceding) or preceding != sorted(preceding):
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_TYPE,
            "auto() is supported only after ascending integers; write the value",
            node,
        )
    if base in ("enum.Flag", "enum.IntFlag"):
        return 1 << max((value.bit_length() for value in preceding), default=0)
    return max(preceding, default=0) + 1


def _check_member_type(value: Any, value_type: type | None, node: ast.expr) -> None:
    if value_type is not None and type(value) is not value_type:
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_TYPE,
            f"the value of this member must be written as {value_type.__name__}: its conversion "
            "is not run",
            node,
        )
