"""Annotations: the schema of a type, from the expression that names it.

The schemas are those that pydantic 2.14 writes without titles of its own. Where a type is
read otherwise than it is written, the direction decides.
"""

import ast
import copy
from typing import Any

from sidecheck_server.core.infer.bounds import Meter
from sidecheck_server.core.infer.classes import Classes
from sidecheck_server.core.infer.complaints import Code, Complaint, Complaints
from sidecheck_server.core.infer.fields import Info, read_default, read_metadata
from sidecheck_server.core.infer.forms import NULL, Form, IsContent, enumerated, mapping, union
from sidecheck_server.core.infer.known import (
    CONTENT_TYPES,
    MAPPINGS,
    SEQUENCES,
    SETS,
    SIMPLE,
    TUPLES,
    WRITTEN,
    Kind,
)
from sidecheck_server.core.infer.literals import Literals
from sidecheck_server.core.infer.parsing import parse_expression
from sidecheck_server.core.infer.scopes import Alias, Class, Foreign, Known, Meaning, Scope
from sidecheck_server.core.infer.unions import leaves_of, tagged
from sidecheck_server.core.types import Severity

__all__ = ["Types"]

_QUALIFIERS = {
    "typing.NotRequired": False,
    "typing.Required": True,
    "typing.ReadOnly": None,
}

# Types of results that tell a client nothing, or hold what has no place in JSON.
_SAYING_NOTHING = frozenset(
    {"builtins.bytes", "pydantic.Base64Bytes", "typing.Never", "typing.NoReturn"}
)


class Types:
    """Reads the types of one text, as they are read, or as they are *written*.

    Classes are in the schemas by reference; ``classes`` has their definitions.
    """

    def __init__(
        self, meter: Meter, literals: Literals, complaints: Complaints, *, written: bool
    ) -> None:
        self.meter = meter
        self.literals = literals
        self.complaints = complaints
        self.written = written
        self.classes = Classes(self)

    def schema(self, node: ast.expr, scope: Scope, depth: int = 0) -> dict[str, Any]:
        """Return the schema of the type that *node* names.

        Raises:
            Complaint: it has none that the text alone tells.
            IsContent: it holds a result of MCP, and is to be written.
        """
        form, info = self.field(node, scope, depth)
        return form.finished() | info.members

    def field(
        self, node: ast.expr, scope: Scope, depth: int = 0, default: ast.expr | None = None
    ) -> tuple[Form, Info]:
        """Return the type of a field, and what `Annotated` and its *default* say besides."""
        info = Info()
        node, inside, depth = self.peel(node, scope, depth, info)
        if default is not None:
            read_default(default, scope, info, self.literals)
        while info.left_out:
            self.complaints.add(info.left_out.pop(0), Severity.WARNING)
        form = self._form(node, inside, depth, info)
        for constraint in info.constraints:
            form.add(constraint)
        return form, info

    def peel(
        self, node: ast.expr, scope: Scope, depth: int, info: Info
    ) -> tuple[ast.expr, Scope, int]:
        """Return the type that is under quotes, aliases and `Annotated`.

        What is said on the way is added to *info*, from the inside to the outside.
        """
        said: list[tuple[ast.expr, Scope]] = []
        under: tuple[ast.expr, Scope] | None = (node, scope)
        while under is not None:
            node, scope = under
            self.meter.deep(depth, node)
            self.meter.node()
            depth += 1
            under = self._under(node, scope, info, said)
        for each, where in said:
            self.meter.node()
            read_metadata(each, where, info, self.literals)
        return node, scope, depth

    def _under(
        self, node: ast.expr, scope: Scope, info: Info, said: list[tuple[ast.expr, Scope]]
    ) -> tuple[ast.expr, Scope] | None:
        """Return what *node* is around of, and its scope; None if it is the type itself."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            self.meter.node(node.value)
            return parse_expression(node), scope
        if isinstance(node, ast.Name | ast.Attribute):
            found = scope.meaning(node)
            return (found.value, found.scope) if isinstance(found, Alias) else None
        if isinstance(node, ast.Subscript):
            head = self.known(node.value, scope)
            if head == "typing.Annotated" and isinstance(node.slice, ast.Tuple):
                said[:0] = [(each, scope) for each in node.slice.elts[1:]]
                return node.slice.elts[0], scope
            if head in _QUALIFIERS:
                info.required = _QUALIFIERS[head] if info.required is None else info.required
                return node.slice, scope
        if not isinstance(node, ast.Call) or len(node.args) != 2:
            return None
        makes_new = self.known(node.func, scope) == "typing.NewType"
        return (node.args[1], scope) if makes_new else None

    def known(self, node: ast.expr, scope: Scope) -> str:
        """Return the dotted name of a known *node*, or ""."""
        if not isinstance(node, ast.Name | ast.Attribute):
            return ""
        found = scope.meaning(node)
        return found.name if isinstance(found, Known) else ""

    def _form(self, node: ast.expr, scope: Scope, depth: int, info: Info) -> Form:
        if isinstance(node, ast.Constant) and node.value is None:
            return Form(dict(NULL))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union([node], scope, depth, info)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._named(scope.meaning(node), node)
        if isinstance(node, ast.Subscript):
            return self._generic(node, scope, depth, info)
        if isinstance(node, ast.Call):
            functional = self.classes.functional(node, scope)
            if functional is not None:
                return functional
        raise Complaint(
            Code.UNSUPPORTED_SYNTAX,
            "a type must be a name, one with [...], or several with |; nothing of the text is "
            "run to find out what this is",
            node,
        )

    def _named(self, found: Meaning, node: ast.expr) -> Form:
        if isinstance(found, Class):
            return self.classes.form(found)
        if isinstance(found, Known):
            return self._plain(found.name, node)
        if isinstance(found, Foreign):
            if self.written and found.name.rpartition(".")[2] in CONTENT_TYPES:
                raise IsContent
            raise Complaint(
                Code.UNRESOLVED_NAME,
                f"{found.name} is defined elsewhere, and nothing is imported; define it in the "
                "text, or use a type that is known",
                node,
            )
        raise Complaint(
            Code.UNRESOLVED_NAME, f"{ast.unparse(node)} is not a type that the text defines", node
        )

    def _plain(self, name: str, node: ast.expr) -> Form:
        if self.written and name in _SAYING_NOTHING and not self.classes.is_reading:
            raise IsContent
        if name in SIMPLE:
            schema, kind = SIMPLE[name]
            if self.written and name in WRITTEN:
                schema = WRITTEN[name]
            return Form(copy.deepcopy(schema), kind)
        if name == "pydantic.JsonValue":
            return self.classes.anything("JsonValue")
        if name in SEQUENCES or name in TUPLES:
            return Form({"type": "array", "items": {}}, Kind.ARRAY)
        if name in SETS:
            return Form({"type": "array", "items": {}, "uniqueItems": True}, Kind.ARRAY)
        if name in MAPPINGS:
            return Form({"type": "object", "additionalProperties": True}, Kind.OBJECT)
        raise Complaint(
            Code.UNSUPPORTED_TYPE, f"{name} has no schema, or none that is known here", node
        )

    def _generic(self, node: ast.Subscript, scope: Scope, depth: int, info: Info) -> Form:
        name = self.known(node.value, scope)
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "typing.Optional" and len(given) == 1:
            return self._union([*given, ast.Constant(None)], scope, depth, info)
        if name == "typing.Union":
            return self._union(given, scope, depth, info)
        if name == "typing.Literal":
            return Form(self._literal(self._values(given, scope, depth)))
        if name in TUPLES:
            return self._tuple(given, scope, depth)
        if (container := self._container(name, given, scope, depth)) is not None:
            return container
        if name == "re.Pattern":
            return self._plain(name, node)
        if name == "pydantic.Json" and len(given) == 1:
            return Form(self._json(self.schema(given[0], scope, depth)))
        if name:
            raise Complaint(
                Code.UNSUPPORTED_TYPE,
                f"{name} with {len(given)} parameters has no schema that is known here",
                node,
            )
        self._named(scope.meaning(node.value), node.value)
        raise Complaint(
            Code.UNSUPPORTED_TYPE,
            "classes of the text with parameters of their own are not read; write out the class",
            node,
        )

    def _container(self, name: str, given: list[ast.expr], scope: Scope, depth: int) -> Form | None:
        """Return the type of what holds values of one type; None if *name* is none."""
        if (name in SEQUENCES or name in SETS) and len(given) == 1:
            schema: dict[str, Any] = {"type": "array", "items": self.schema(given[0], scope, depth)}
            return Form(schema | ({"uniqueItems": True} if name in SETS else {}), Kind.ARRAY)
        if name in MAPPINGS and len(given) == 2:
            keys, values = (self.schema(each, scope, depth) for each in given)
            return Form(mapping(keys, values), Kind.OBJECT)
        if name == "collections.Counter" and len(given) == 1:
            keys = self.schema(given[0], scope, depth)
            return Form(mapping(keys, {"type": "integer"}), Kind.OBJECT)
        return None

    def _union(self, given: list[ast.expr], scope: Scope, depth: int, info: Info) -> Form:
        leaves = leaves_of(self, given, scope, depth)
        forms = [self.field(leaf, where, deep) for leaf, where, deep in leaves if leaf is not None]
        # A type that is named twice is there once.
        each: dict[str, Form] = {}
        for form, said in forms:
            whole = Form(form.finished() | said.members) if said.members else form
            each.setdefault(repr(whole.finished()), whole)
        if not each:
            return Form(dict(NULL))
        schemas = [form.finished() for form in each.values()]
        if info.discriminator:
            whole = Form(tagged(self, schemas, info.discriminator, given[0]))
        else:
            whole = next(iter(each.values())) if len(each) == 1 else Form(union(schemas))
        return Form({}, Kind.NULLABLE, whole) if len(forms) < len(leaves) else whole

    def _tuple(self, given: list[ast.expr], scope: Scope, depth: int) -> Form:
        if len(given) == 2 and isinstance(given[1], ast.Constant) and given[1].value is ...:
            items = self.schema(given[0], scope, depth)
            return Form({"type": "array", "items": items}, Kind.ARRAY)
        schema: dict[str, Any] = {"type": "array", "minItems": len(given), "maxItems": len(given)}
        if given:
            schema["prefixItems"] = [self.schema(each, scope, depth) for each in given]
        return Form(schema, Kind.ARRAY)

    def _values(self, given: list[ast.expr], scope: Scope, depth: int) -> list[Any]:
        """Return the values of `Literal`, those of literals within it among them."""
        found: list[Any] = []
        for each in given:
            node, where, deep = self.peel_names(each, scope, depth)
            if (
                isinstance(node, ast.Subscript)
                and self.known(node.value, where) == "typing.Literal"
            ):
                inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                found += self._values(inner, where, deep)
            else:
                found.append(self.literals.read(node, where, deep))
        return found

    def peel_names(self, node: ast.expr, scope: Scope, depth: int) -> tuple[ast.expr, Scope, int]:
        """Return what *node* is an alias of, but leave texts as they are."""
        while isinstance(node, ast.Name):
            self.meter.deep(depth, node)
            self.meter.node()
            found = scope.meaning(node)
            if not isinstance(found, Alias):
                break
            node, scope, depth = found.value, found.scope, depth + 1
        return node, scope, depth + 1

    @staticmethod
    def _literal(values: list[Any]) -> dict[str, Any]:
        return enumerated(list({(type(each), each): each for each in values}.values()), one=True)

    def _json(self, inner: dict[str, Any]) -> dict[str, Any]:
        if self.written:
            return inner
        return {"type": "string", "contentMediaType": "application/json", "contentSchema": inner}
