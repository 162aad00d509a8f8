"""Field metadata: `Field(...)`, defaults, and the metadata of `Annotated`."""

import ast
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, Diagnostics, SourceError
from sidecheck_server.core.infer.literals import LiteralReader
from sidecheck_server.core.infer.scopes import (
    Alias,
    Binding,
    ForeignName,
    KnownName,
    Scope,
    SourceClass,
)
from sidecheck_server.core.infer.type_schemas import CONSTRAINTS, Constraint
from sidecheck_server.core.infer.types import SchemaMode

__all__ = [
    "INJECTION_MARKERS",
    "SCHEMA_METHODS",
    "FieldInfo",
    "add_default",
    "callee_name",
    "read_default",
    "read_metadata",
]


@dataclass(slots=True)
class FieldInfo:
    """Metadata of a type: constraints, keywords, default, aliases."""

    constraints: list[Constraint] = field(default_factory=list)
    #: Keywords of the schema: title, description, examples and others.
    keywords: dict[str, Any] = field(default_factory=dict)
    #: Annotation keywords that cannot be read and are omitted.
    omitted: list[SourceError] = field(default_factory=list)
    #: A bare string in the metadata, which describes the field.
    text: str = ""
    #: The expression of the default and the scope of its names.
    default: tuple[ast.expr, Scope] | None = None
    #: Whether a function computes the default, which is therefore unknown.
    has_factory: bool = False
    alias: str | None = None
    validation_alias: str | None = None
    serialization_alias: str | None = None
    exclude: bool = False
    kw_only: bool = False
    discriminator: str = ""
    #: True for Required, False for NotRequired.
    required: bool | None = None
    #: Whether the server injects the value, as for `Depends(...)`.
    injected: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the metadata does not affect the schema."""
        return not (self.constraints or self.keywords or self.discriminator)

    def wire_name(self, name: str, mode: SchemaMode) -> str:
        """Return the JSON name, in *mode*, of a field called *name*."""
        alias = self.serialization_alias if mode == "serialization" else self.validation_alias
        return alias or self.alias or name


#: Methods by which a class defines its schema for pydantic.
SCHEMA_METHODS = frozenset({"__get_pydantic_core_schema__", "__get_pydantic_json_schema__"})
#: Names of calls and classes that mark an injected parameter.
INJECTION_MARKERS = frozenset(
    {"CurrentContext", "Depends", "Injected", "InjectedToolArg", "Resolve"}
)
_ANNOTATION_KEYWORDS = frozenset({"deprecated", "description", "examples", "title"})
# Arguments that change validation or behaviour, but not the schema.
_WITHOUT_SCHEMA = frozenset(
    {
        "allow_inf_nan", "alias_priority", "ascii_only", "coerce_numbers_to_str",
        "decimal_places", "fail_fast", "frozen", "hash", "init", "max_digits", "metadata",
        "repr", "strict", "strip_whitespace", "to_lower", "to_upper", "union_mode",
        "validate_default", "compare",
    }
)  # fmt: skip
_STRINGS = frozenset({"alias", "discriminator", "serialization_alias", "validation_alias"})
_BOOLEANS = frozenset({"exclude", "kw_only"})
_FIELD_FUNCTIONS = frozenset({"pydantic.Field", "dataclasses.field"})
# Classes of annotated_types, with the constraints that their arguments set.
_CONSTRAINT_CLASSES = {
    "Ge": ("ge",),
    "Gt": ("gt",),
    "Interval": ("gt", "ge", "lt", "le"),
    "Le": ("le",),
    "Len": ("min_length", "max_length"),
    "Lt": ("lt",),
    "MaxLen": ("max_length",),
    "MinLen": ("min_length",),
    "MultipleOf": ("multiple_of",),
}
# Metadata of pydantic that determines the schema by code, or by unsupported rules.
_SCHEMA_METADATA = frozenset(
    {
        "Discriminator", "EncodedBytes", "EncodedStr", "GetPydanticSchema", "PlainSerializer",
        "PlainValidator", "Tag", "WithJsonSchema", "WrapSerializer", "WrapValidator",
    }
)  # fmt: skip


def read_default(node: ast.expr, scope: Scope, info: FieldInfo, literals: LiteralReader) -> None:
    """Add to *info* the expression after the ``=`` of a field or a parameter."""
    if isinstance(node, ast.Call):
        name = callee_name(node, scope)
        if name in _FIELD_FUNCTIONS or name.rpartition(".")[2] in ("Field", "field"):
            _resolve_callee(node, scope)
            _read_field(node, scope, info, literals)
            return
        if name.rpartition(".")[2] in INJECTION_MARKERS:
            info.injected = True
            return
    info.default = (node, scope)


def read_metadata(node: ast.expr, scope: Scope, info: FieldInfo, literals: LiteralReader) -> None:
    """Add to *info* an item of the metadata of `Annotated`.

    Unknown metadata is ignored.

    Raises:
        SourceError: it determines the schema by code, or cannot be read.
    """
    if (text := _string_constant(node, scope)) is not None:
        info.text = info.text or literals.read_string(text, scope)
        return
    name = callee_name(node, scope)
    module, _, last = name.rpartition(".")
    if last in INJECTION_MARKERS:
        info.injected = True
    elif name == "pydantic.Field" and isinstance(node, ast.Call):
        _read_field(node, scope, info, literals)
    elif module == "annotated_types" and last in _CONSTRAINT_CLASSES and isinstance(node, ast.Call):
        for constraint, value in _arguments(node, _CONSTRAINT_CLASSES[last]):
            _add_constraint(constraint, value, scope, info, literals)
    elif name == "pydantic.StringConstraints" and isinstance(node, ast.Call):
        for keyword in node.keywords:
            _read_keyword(keyword, scope, info, literals)
    elif (module == "pydantic" and last in _SCHEMA_METADATA) or _has_schema_method(node, scope):
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_TYPE, f"{last} may change the schema, and is not run", node
        )


def add_default(
    schema: dict[str, Any], info: FieldInfo, literals: LiteralReader, diagnostics: Diagnostics
) -> bool:
    """Add a literal default to *schema*; return whether the field is required."""
    if info.has_factory:
        return False
    if info.default is None:
        return True
    node, scope = info.default
    if isinstance(node, ast.Constant) and node.value is ...:
        return True
    try:
        schema["default"] = literals.read(node, scope)
    except SourceError as error:
        message = f"the default is omitted from the schema: {error.message}"
        diagnostics.warn(DiagnosticCode.DEFAULT_NOT_JSON, message, node)
    return False


def callee_name(node: ast.expr, scope: Scope) -> str:
    """Return the dotted name of *node*, or of its callee; "" for other expressions.

    A name without a known binding is returned as written.
    """
    callee = node.func if isinstance(node, ast.Call) else node
    if not isinstance(callee, ast.Name | ast.Attribute):
        return ""
    try:
        binding = scope.resolve(callee)
    except SourceError:
        return callee.id if isinstance(callee, ast.Name) else callee.attr
    if isinstance(binding, KnownName):
        return binding.name
    return getattr(binding, "name", "")


def _string_constant(node: ast.expr, scope: Scope) -> ast.expr | None:
    """Return *node*, or the value of its alias, if it is a string; else None."""
    if isinstance(node, ast.Name):
        try:
            binding = scope.resolve(node)
        except SourceError:
            return None
        node = binding.value if isinstance(binding, Alias) else node
    return node if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _resolve_callee(node: ast.expr, scope: Scope) -> Binding | None:
    """Return the binding of *node*, or of its callee; None for other expressions.

    Raises:
        SourceError: it is foreign, so its effect on the schema is unknown.
    """
    callee = node.func if isinstance(node, ast.Call) else node
    if not isinstance(callee, ast.Name | ast.Attribute):
        return None
    binding = scope.resolve(callee)
    if isinstance(binding, ForeignName):
        raise SourceError(
            DiagnosticCode.UNRESOLVED_NAME,
            f"{binding.name} is defined outside the source, so its effect on the schema is unknown",
            node,
        )
    return binding


def _has_schema_method(node: ast.expr, scope: Scope) -> bool:
    """Whether the class of *node* defines its schema by a method."""
    binding = _resolve_callee(node, scope)
    return isinstance(binding, SourceClass) and any(
        isinstance(statement, ast.FunctionDef) and statement.name in SCHEMA_METHODS
        for statement in binding.node.body
    )


def _arguments(node: ast.Call, names: tuple[str, ...]) -> list[tuple[str, ast.expr]]:
    positional = list(zip(names, node.args, strict=False))
    return positional + [
        (keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg in names
    ]


def _read_field(node: ast.Call, scope: Scope, info: FieldInfo, literals: LiteralReader) -> None:
    if len(node.args) > 1 or any(isinstance(argument, ast.Starred) for argument in node.args):
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_SYNTAX, "only the default may be positional", node
        )
    for argument in node.args:
        info.default = (argument, scope)
        info.has_factory = False
    for keyword in node.keywords:
        _read_keyword(keyword, scope, info, literals)


def _read_keyword(
    keyword: ast.keyword, scope: Scope, info: FieldInfo, literals: LiteralReader
) -> None:
    name, node = keyword.arg, keyword.value
    literals.meter.count_node()
    if name == "default":
        info.default, info.has_factory = (node, scope), False
    elif name == "default_factory":
        info.default, info.has_factory = None, True
    elif name in _WITHOUT_SCHEMA or (isinstance(node, ast.Constant) and node.value is None):
        pass
    elif name in CONSTRAINTS:
        _add_constraint(name, node, scope, info, literals)
    elif name in _STRINGS:
        setattr(info, name, literals.read_string(node, scope))
    elif name in _BOOLEANS:
        setattr(info, name, literals.read(node, scope) is True)
    elif name in _ANNOTATION_KEYWORDS:
        _add_annotation(name, node, scope, info, literals)
    else:
        info.keywords |= _read_extra(name, node, scope, literals)


def _add_annotation(
    name: str, node: ast.expr, scope: Scope, info: FieldInfo, literals: LiteralReader
) -> None:
    """Add an annotation keyword, which may be omitted since it asserts nothing."""
    try:
        info.keywords[name] = literals.read(node, scope)
    except SourceError as error:
        omissible = (DiagnosticCode.UNRESOLVED_NAME, DiagnosticCode.UNSUPPORTED_SYNTAX)
        if error.code not in omissible:
            raise
        message = f"the {name} is omitted from the schema: {error.message}"
        info.omitted.append(SourceError(DiagnosticCode.UNSUPPORTED_SYNTAX, message, node))


def _read_extra(
    name: str | None, node: ast.expr, scope: Scope, literals: LiteralReader
) -> dict[str, Any]:
    """Return the keywords of ``json_schema_extra={...}``."""
    extra = literals.read(node, scope) if name == "json_schema_extra" else None
    if not isinstance(extra, dict):
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            f"the effect of {name or '**'} on the schema is unknown",
            node,
        )
    return extra


def _add_constraint(
    name: str, node: ast.expr, scope: Scope, info: FieldInfo, literals: LiteralReader
) -> None:
    try:
        value = literals.read(node, scope)
    except SourceError:
        # Bounds of dates and times are computed values; the schema has no keyword for them.
        value = None
    if value is not None or not isinstance(node, ast.Constant):
        info.constraints.append(Constraint(name, value, node))
