"""Configuration: what `model_config` and its like say about the schema of a class."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.members import (
    ClassKind,
    bases_of,
    decorated_as_dataclass,
)
from sidecheck_server.core.infer.scopes import Class, Scope

if TYPE_CHECKING:
    from sidecheck_server.core.infer.annotations import Types

__all__ = ["Configuration", "read_configuration"]


@dataclass(slots=True)
class Configuration:
    """What of a configuration is in a schema."""

    #: Whether members beside the fields are admitted; None says nothing.
    extra: bool | None = None
    #: Whether texts below fields describe them.
    attribute_docstrings: bool = False
    #: What stands in the schema as it is.
    members: dict[str, Any] = field(default_factory=dict)


_Setting: TypeAlias = tuple[str | None, ast.expr, Scope]

_EXTRA = {"allow": True, "forbid": False, "ignore": None}
# What is checked, or done, without being told in a schema.
_UNTOLD = frozenset(
    {
        "allow_inf_nan", "arbitrary_types_allowed", "coerce_numbers_to_str", "defer_build",
        "from_attributes", "frozen", "hide_input_in_errors", "loc_by_alias", "orm_mode",
        "populate_by_name", "protected_namespaces", "regex_engine", "revalidate_instances",
        "str_strip_whitespace", "str_to_lower", "str_to_upper", "strict", "use_enum_values",
        "validate_assignment", "validate_by_alias", "validate_by_name", "validate_default",
        "validate_return", "validation_error_cause", "cache_strings",
        "allow_population_by_field_name",
        "serialize_by_alias", "ignored_types", "plugin_settings",
    }
)  # fmt: skip


def read_configuration(types: "Types", subject: Class, kind: ClassKind) -> Configuration:
    """Return the configuration of *subject*, that of its bases included.

    Raises:
        Complaint: it says something that changes the schema in a way not known here.
    """
    found = Configuration()
    _add(types, subject, kind, found)
    return found


def _add(types: "Types", subject: Class, kind: ClassKind, found: Configuration) -> None:
    types.meter.node()
    for base in reversed(bases_of(subject)):
        _add(types, base, kind, found)
    for name, node, scope in _settings(subject, kind):
        if name == "extra":
            value = types.literals.text(node, scope)
            if value not in _EXTRA:
                raise Complaint(
                    Code.UNSUPPORTED_SYNTAX, f"extra must be one of {', '.join(_EXTRA)}", node
                )
            found.extra = _EXTRA[value]
        elif name == "title":
            found.members["title"] = types.literals.text(node, scope)
        elif name == "json_schema_extra":
            value = types.literals.read(node, scope)
            if not isinstance(value, dict):
                raise Complaint(Code.UNSUPPORTED_SYNTAX, f"{name} must be a dict", node)
            found.members |= value
        elif name == "use_attribute_docstrings":
            found.attribute_docstrings = types.literals.read(node, scope) is True
        elif name not in _UNTOLD:
            raise Complaint(
                Code.UNSUPPORTED_SYNTAX,
                f"what {name or 'a dictionary of keywords'} does to the schema is not known here",
                node,
            )


def _settings(subject: Class, kind: ClassKind) -> Iterator[_Setting]:
    if kind in (ClassKind.MODEL, ClassKind.ROOT):
        for keyword in subject.node.keywords:
            yield keyword.arg, keyword.value, subject.scope
    for statement in subject.node.body:
        named = _assigned(statement)
        if named is not None and named[0] in ("model_config", "__pydantic_config__"):
            yield from _given(named[1], subject.inside)
        elif isinstance(statement, ast.ClassDef) and statement.name == "Config":
            inside = subject.inside.within(statement)
            for inner in statement.body:
                if (setting := _assigned(inner)) is not None:
                    yield *setting, inside
    decorator = decorated_as_dataclass(subject)
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
        if keyword.arg == "config":
            yield from _given(keyword.value, subject.scope)


def _assigned(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    target: ast.expr | None = None
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    if isinstance(target, ast.Name):
        value = getattr(statement, "value", None)
        return (target.id, value) if value is not None else None
    return None


def _given(node: ast.expr, scope: Scope) -> Iterator[_Setting]:
    if isinstance(node, ast.Call) and not node.args:
        for keyword in node.keywords:
            yield keyword.arg, keyword.value, scope
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            name = key.value if isinstance(key, ast.Constant) else None
            yield (name if isinstance(name, str) else None), value, scope
    else:
        raise Complaint(
            Code.UNSUPPORTED_SYNTAX, "a configuration must be ConfigDict(...) or {...}", node
        )
