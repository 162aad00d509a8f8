"""Definitions: the schemas of models, dataclasses, typed dictionaries and tuples with names."""

import ast
from typing import TYPE_CHECKING, Any

from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.configuration import Configuration, read_configuration
from sidecheck_server.core.infer.defaults import put_default
from sidecheck_server.core.infer.enumerations import members_of
from sidecheck_server.core.infer.forms import enumerated
from sidecheck_server.core.infer.members import ClassKind, Declared, Reader, kind_of
from sidecheck_server.core.infer.scopes import Class, Scope

if TYPE_CHECKING:
    from sidecheck_server.core.infer.annotations import Types

__all__ = ["read_class", "read_functional"]


def read_class(types: "Types", subject: Class) -> dict[str, Any]:
    """Return the schema of a class, as pydantic writes it without a title of its own.

    Raises:
        Complaint: it has none that the text alone tells.
    """
    kind = kind_of(subject, types.meter)
    if kind is ClassKind.ENUMERATION:
        values = list(members_of(subject, types.literals).values())
        if not values:
            raise Complaint(
                Code.UNSUPPORTED_TYPE, "an enumeration without members admits nothing", subject.node
            )
        return described(types, subject, enumerated(values, one=False))
    declared = Reader(types, kind).fields(subject)
    if kind is ClassKind.NAMED_TUPLE:
        return _named_tuple(types, declared)
    configuration = read_configuration(types, subject, kind)
    if kind is ClassKind.ROOT:
        return described(types, subject, _root(types, subject, declared))
    schema = _object(types, declared, configuration)
    return described(types, subject, schema) | configuration.members


def read_functional(types: "Types", node: ast.Call, scope: Scope) -> dict[str, Any]:
    """Return the schema of ``TypedDict(name, {...}, total=...)``."""
    total, declared = True, {}
    for keyword in node.keywords:
        if keyword.arg != "total":
            raise Complaint(Code.UNSUPPORTED_SYNTAX, "only total is read here", keyword.value)
        total = types.literals.read(keyword.value, scope) is not False
    if len(node.args) != 2 or not isinstance(node.args[1], ast.Dict):
        raise Complaint(Code.UNSUPPORTED_SYNTAX, "the fields must stand in a {...}", node)
    for key, value in zip(node.args[1].keys, node.args[1].values, strict=True):
        if key is None:
            raise Complaint(Code.UNSUPPORTED_SYNTAX, "** is not read here", value)
        name = types.literals.text(key, scope)
        declared[name] = Declared(name, value, scope, total=total)
    return _object(types, declared, Configuration())


def described(types: "Types", subject: Class, schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with the docstring of the class, if it has one."""
    text = types.literals.docstring(subject.node)
    # What Python itself puts there describes nothing.
    if text == "An enumeration." or text.startswith(f"{subject.node.name}("):
        return schema
    return {"description": text} | schema if text else schema


def _object(
    types: "Types", declared: dict[str, Declared], configuration: Configuration
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    # Fields by keyword follow the others, as in the signature.
    for each in sorted(declared.values(), key=lambda one: one.keyword_only):
        form, info = types.field(each.annotation, each.scope, default=each.default)
        if info.exclude and types.written:
            continue
        name = info.name(each.name, written=types.written)
        schema = form.finished() | info.members
        if each.docstring and configuration.attribute_docstrings:
            schema.setdefault("description", each.docstring)
        needed = put_default(types, schema, info)
        if each.total is not None:
            needed = each.total if info.required is None else info.required
        if needed:
            required.append(name)
        properties[name] = schema
    whole: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        whole["required"] = required
    if configuration.extra is not None:
        whole["additionalProperties"] = configuration.extra
    return whole


def _named_tuple(types: "Types", declared: dict[str, Declared]) -> dict[str, Any]:
    items: list[Any] = []
    needed = 0
    for each in declared.values():
        form, info = types.field(each.annotation, each.scope, default=each.default)
        schema = form.finished() | info.members
        needed += put_default(types, schema, info)
        items.append(schema)
    whole: dict[str, Any] = {"type": "array", "minItems": needed, "maxItems": len(items)}
    return {**whole, "prefixItems": items} if items else whole


def _root(types: "Types", subject: Class, declared: dict[str, Declared]) -> dict[str, Any]:
    if "root" in declared:
        root = declared["root"]
        form, info = types.field(root.annotation, root.scope, default=root.default)
        schema = form.finished() | info.members
        put_default(types, schema, info)
        return schema
    for base in subject.node.bases:
        if isinstance(base, ast.Subscript):
            return types.schema(base.slice, subject.scope)
    raise Complaint(Code.UNSUPPORTED_TYPE, "this RootModel does not say of what", subject.node)
