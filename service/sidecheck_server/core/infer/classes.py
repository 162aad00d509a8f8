"""Classes of the source: their kinds, bases, and configuration."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeAlias

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, SourceError
from sidecheck_server.core.infer.fields import callee_name
from sidecheck_server.core.infer.generics import specialize_class
from sidecheck_server.core.infer.literals import ENUMERATIONS, LiteralReader
from sidecheck_server.core.infer.scopes import ForeignName, KnownName, Scope, SourceClass
from sidecheck_server.core.infer.source import Meter

__all__ = [
    "ClassConfig",
    "ClassKind",
    "bases_of",
    "dataclass_decorator",
    "kind_of",
    "read_config",
]


class ClassKind(StrEnum):
    """Kind of a class that has a schema; the values are phrases for messages."""

    MODEL = "a model"
    ROOT = "a root model"
    DATACLASS = "a dataclass"
    TYPED_DICT = "a typed dictionary"
    NAMED_TUPLE = "a named tuple"
    ENUMERATION = "an enumeration"


@dataclass(slots=True)
class ClassConfig:
    """The part of `model_config` and its equivalents that affects the schema."""

    #: Value of ``additionalProperties``; None omits it.
    extra: bool | None = None
    #: Whether a string below a field describes it.
    attribute_docstrings: bool = False
    #: Keywords of the schema.
    keywords: dict[str, Any] = field(default_factory=dict)


_Setting: TypeAlias = tuple[str | None, ast.expr, Scope]

_KINDS = {
    "pydantic.BaseModel": ClassKind.MODEL,
    "pydantic.RootModel": ClassKind.ROOT,
    "typing.NamedTuple": ClassKind.NAMED_TUPLE,
    "typing.TypedDict": ClassKind.TYPED_DICT,
    **dict.fromkeys(ENUMERATIONS, ClassKind.ENUMERATION),
}
_DATACLASS_DECORATORS = frozenset({"dataclasses.dataclass", "pydantic.dataclasses.dataclass"})
# Bases that add nothing to the schema.
_NEUTRAL_BASES = frozenset(
    {"abc.ABC", "builtins.float", "builtins.int", "builtins.object", "builtins.str"}
)
_GENERIC_BASES = frozenset({"typing.Generic", "typing.Protocol"})
_MAX_GENERATIONS = 20
_EXTRA = {"allow": True, "forbid": False, "ignore": None}
# Settings that change validation or behaviour, but not the schema.
_WITHOUT_SCHEMA = frozenset(
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


def dataclass_decorator(subject: SourceClass) -> ast.expr | None:
    """Return the decorator that makes *subject* a dataclass."""
    for decorator in subject.node.decorator_list:
        if callee_name(decorator, subject.scope) in _DATACLASS_DECORATORS:
            return decorator
    return None


def bases_of(subject: SourceClass) -> list[SourceClass]:
    """Return the bases of *subject* that the source defines, with their type arguments."""
    bases: list[SourceClass] = []
    for base in subject.node.bases:
        name = base.value if isinstance(base, ast.Subscript) else base
        if not isinstance(name, ast.Name | ast.Attribute):
            continue
        binding = subject.scope.resolve(name)
        if isinstance(binding, SourceClass):
            if isinstance(base, ast.Subscript):
                binding = specialize_class(binding, base, subject.scope)
            bases.append(binding)
    return bases


def kind_of(subject: SourceClass, meter: Meter, generation: int = 0) -> ClassKind:
    """Return the kind of *subject*.

    Raises:
        SourceError: it has no schema, or a base from outside the source.
    """
    meter.count_node()
    if generation > _MAX_GENERATIONS:
        raise SourceError(
            DiagnosticCode.TOO_DEEP,
            f"more than {_MAX_GENERATIONS} generations of inheritance",
            subject.node,
        )
    kinds: list[ClassKind] = []
    for base in subject.node.bases:
        kinds += _kinds_by_base(base, subject, meter, generation)
    if dataclass_decorator(subject) is not None:
        kinds.append(ClassKind.DATACLASS)
    if len(set(kinds)) == 1:
        return kinds[0]
    message = (
        f"{subject.node.name} is a plain class, which has no schema; make it a dataclass or a "
        "BaseModel"
        if not kinds
        else f"{subject.node.name} is {' and '.join(sorted(set(kinds)))} at once"
    )
    raise SourceError(DiagnosticCode.UNSUPPORTED_TYPE, message, subject.node)


def _kinds_by_base(
    base: ast.expr, subject: SourceClass, meter: Meter, generation: int
) -> list[ClassKind]:
    base_name = base.value if isinstance(base, ast.Subscript) else base
    if not isinstance(base_name, ast.Name | ast.Attribute):
        raise SourceError(DiagnosticCode.UNSUPPORTED_SYNTAX, "a base class must be a name", base)
    binding = subject.scope.resolve(base_name)
    if isinstance(binding, SourceClass):
        return [kind_of(binding, meter, generation + 1)]
    if isinstance(binding, KnownName):
        if binding.name in (_NEUTRAL_BASES if base_name is base else _GENERIC_BASES):
            return []
        kind = _KINDS.get(binding.name)
        if kind and (base_name is base or kind is ClassKind.ROOT):
            return [kind]
    if isinstance(binding, ForeignName):
        raise SourceError(
            DiagnosticCode.UNRESOLVED_NAME,
            f"the base class {binding.name} is defined outside the source, so its fields are "
            "unknown",
            base,
        )
    raise SourceError(
        DiagnosticCode.UNSUPPORTED_TYPE,
        f"classes with the base {ast.unparse(base_name)} are not supported",
        base,
    )


def read_config(subject: SourceClass, kind: ClassKind, literals: LiteralReader) -> ClassConfig:
    """Return the configuration of *subject*, inherited settings included.

    Raises:
        SourceError: a setting has an unknown effect on the schema.
    """
    config = ClassConfig()
    _apply_settings(subject, kind, config, literals)
    return config


def _apply_settings(
    subject: SourceClass, kind: ClassKind, config: ClassConfig, literals: LiteralReader
) -> None:
    literals.meter.count_node()
    for base in reversed(bases_of(subject)):
        _apply_settings(base, kind, config, literals)
    for name, node, scope in _settings(subject, kind):
        if name == "extra":
            value = literals.read_string(node, scope)
            if value not in _EXTRA:
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_SYNTAX,
                    f"extra must be one of {', '.join(_EXTRA)}",
                    node,
                )
            config.extra = _EXTRA[value]
        elif name == "title":
            config.keywords["title"] = literals.read_string(node, scope)
        elif name == "json_schema_extra":
            extra = literals.read(node, scope)
            if not isinstance(extra, dict):
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_SYNTAX, f"{name} must be a dictionary", node
                )
            config.keywords |= extra
        elif name == "use_attribute_docstrings":
            config.attribute_docstrings = literals.read(node, scope) is True
        elif name not in _WITHOUT_SCHEMA:
            raise SourceError(
                DiagnosticCode.UNSUPPORTED_SYNTAX,
                f"the effect of {name or '**'} on the schema is unknown",
                node,
            )


def _settings(subject: SourceClass, kind: ClassKind) -> Iterator[_Setting]:
    if kind in (ClassKind.MODEL, ClassKind.ROOT):
        for keyword in subject.node.keywords:
            yield keyword.arg, keyword.value, subject.scope
    for statement in subject.node.body:
        assignment = _assignment(statement)
        if assignment is not None and assignment[0] in ("model_config", "__pydantic_config__"):
            yield from _config_items(assignment[1], subject.body_scope)
        elif isinstance(statement, ast.ClassDef) and statement.name == "Config":
            config_scope = subject.body_scope.child(statement)
            for inner in statement.body:
                if (setting := _assignment(inner)) is not None:
                    yield *setting, config_scope
    decorator = dataclass_decorator(subject)
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
        if keyword.arg == "config":
            yield from _config_items(keyword.value, subject.scope)


def _assignment(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    target: ast.expr | None = None
    if isinstance(statement, ast.Assign):
        target = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    if isinstance(target, ast.Name):
        value = getattr(statement, "value", None)
        return (target.id, value) if value is not None else None
    return None


def _config_items(node: ast.expr, scope: Scope) -> Iterator[_Setting]:
    if isinstance(node, ast.Call) and not node.args:
        for keyword in node.keywords:
            yield keyword.arg, keyword.value, scope
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            name = key.value if isinstance(key, ast.Constant) else None
            yield (name if isinstance(name, str) else None), value, scope
    else:
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            "a configuration must be ConfigDict(...) or {...}",
            node,
        )
