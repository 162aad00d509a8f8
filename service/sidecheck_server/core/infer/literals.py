"""Literals: values that the text spells out, and their JSON.

A value is read from the tree, never computed: constants, signs before numbers, lists,
tuples, sets and dictionaries, names of such values, members of enumerations, and a few
calls whose outcome is plain.
"""

import ast
import math
from typing import Any

from sidecheck_server.core.infer.bounds import Meter
from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.enumerations import members_of
from sidecheck_server.core.infer.scopes import Alias, Known, Member, Scope

__all__ = ["Literals"]

_EMPTY = {
    "builtins.list": list, "builtins.dict": dict, "builtins.set": list,
    "builtins.frozenset": list, "builtins.tuple": list,
}  # fmt: skip


class Literals:
    """Reads values, counting them on *meter*."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter

    def read(self, node: ast.expr, scope: Scope, depth: int = 0) -> Any:
        """Return the JSON of the value of *node*.

        Tuples and sets are arrays, as pydantic writes them, and bytes are text.

        Raises:
            Complaint: it is no literal, or none that JSON could tell.
        """
        self.meter.deep(depth, node)
        self.meter.node()
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            return self._signed(node, scope, depth)
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            items = [self.read(each, scope, depth + 1) for each in node.elts]
            return _once_each(items) if isinstance(node, ast.Set) else items
        if isinstance(node, ast.Dict):
            return self._dict(node, scope, depth)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._named(node, scope, depth)
        if isinstance(node, ast.Call):
            return self._called(node, scope)
        raise _no_literal(node)

    def text(self, node: ast.expr, scope: Scope) -> str:
        """Return the text that *node* is.

        Raises:
            Complaint: it is something else.
        """
        found = self.read(node, scope)
        if not isinstance(found, str):
            raise Complaint(Code.UNSUPPORTED_SYNTAX, "this must be a text", node)
        return found

    def docstring(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        """Return the docstring of *node*, without its indentation; "" if it has none."""
        text = ast.get_docstring(node) or ""
        self.meter.node(text)
        return text.encode("utf-8", "replace").decode()

    def _constant(self, node: ast.Constant) -> Any:
        value = node.value
        if isinstance(value, bytes):
            try:
                value = value.decode()
            except UnicodeDecodeError:
                raise Complaint(
                    Code.UNSUPPORTED_SYNTAX, "these bytes are not UTF-8, and no JSON text", node
                ) from None
        if isinstance(value, str):
            self.meter.node(value)
            if not _is_unicode(value):
                raise Complaint(
                    Code.UNSUPPORTED_SYNTAX, "half of a surrogate pair is no text of JSON", node
                )
            return value
        if isinstance(value, int) and value.bit_length() > self.meter.bounds.integer_bits:
            raise Complaint(
                Code.TOO_LARGE,
                f"an integer of more than {self.meter.bounds.integer_bits:,} bits",
                node,
            )
        if isinstance(value, float) and not math.isfinite(value):
            raise Complaint(Code.UNSUPPORTED_SYNTAX, "JSON has no infinite numbers", node)
        if value is None or isinstance(value, int | float):
            return value
        raise _no_literal(node)

    def _signed(self, node: ast.UnaryOp, scope: Scope, depth: int) -> Any:
        found = self.read(node.operand, scope, depth + 1)
        if isinstance(found, bool) or not isinstance(found, int | float):
            raise _no_literal(node)
        return -found if isinstance(node.op, ast.USub) else found

    def _dict(self, node: ast.Dict, scope: Scope, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                raise _no_literal(value)
            name = self.read(key, scope, depth + 1)
            if isinstance(name, bool) or not isinstance(name, str | int):
                raise Complaint(
                    Code.UNSUPPORTED_SYNTAX, "members of a JSON object are named by texts", key
                )
            found[str(name)] = self.read(value, scope, depth + 1)
        return found

    def _named(self, node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> Any:
        # `Colour.RED.value` is the value of the member, as Colour.RED is once it is JSON.
        named = node.value if isinstance(node, ast.Attribute) and node.attr == "value" else node
        found = scope.meaning(named)
        if isinstance(found, Alias) and named is node:
            return self.read(found.value, found.scope, depth + 1)
        if isinstance(found, Member):
            members = members_of(found.owner, self, depth + 1)
            if found.name in members:
                return members[found.name]
        raise _no_literal(node)

    def _called(self, node: ast.Call, scope: Scope) -> Any:
        if not isinstance(node.func, ast.Name | ast.Attribute) or node.keywords:
            raise _no_literal(node)
        called = scope.meaning(node.func)
        name = called.name if isinstance(called, Known) else ""
        if name in _EMPTY and not node.args:
            return _EMPTY[name]()
        if len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            text = node.args[0].value
            if isinstance(text, str) and name == "decimal.Decimal" and _is_decimal(text):
                return text
            if isinstance(text, str) and name.startswith("pathlib.") and _is_path(text):
                return text
        raise _no_literal(node)


def _no_literal(node: ast.expr) -> Complaint:
    return Complaint(
        Code.UNSUPPORTED_SYNTAX,
        "this is no literal, and nothing of the text is run to find out what it is",
        node,
    )


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_decimal(text: str) -> bool:
    """Whether decimal.Decimal writes *text* as it is: digits, and a point within them."""
    whole, point, fraction = text.removeprefix("-").partition(".")
    plain = whole.isascii() and whole.isdigit() and (whole == "0" or whole[0] != "0")
    return plain and (not point or (fraction.isascii() and fraction.isdigit()))


def _is_path(text: str) -> bool:
    """Whether pathlib writes *text* as it is."""
    parts = text.removeprefix("/").split("/")
    return text in ("/", ".") or (all(part not in ("", ".") for part in parts) and text.isascii())


def _once_each(items: list[Any]) -> list[Any]:
    kept: dict[tuple[str, Any], Any] = {}
    for item in items:
        kept.setdefault((type(item).__name__, repr(item)), item)
    return list(kept.values())
