"""Schemas of classes, such as models, dataclasses and enumerations."""

import ast
from dataclasses import dataclass
from typing import Any, Protocol

from sidecheck_server.core.infer.classes import (
    ClassConfig,
    ClassKind,
    bases_of,
    dataclass_decorator,
    kind_of,
    read_config,
)
from sidecheck_server.core.infer.diagnostics import DiagnosticCode, SourceError
from sidecheck_server.core.infer.fields import (
    SCHEMA_METHODS,
    FieldInfo,
    add_default,
    callee_name,
)
from sidecheck_server.core.infer.scopes import Scope, SourceClass
from sidecheck_server.core.infer.type_schemas import TypeSchema, enumeration_schema
from sidecheck_server.core.infer.unwrapping import ReadContext, known_name, unwrap

__all__ = ["TypeReader", "class_schema", "functional_schema"]


class TypeReader(Protocol):
    """Reader of the types of fields."""

    @property
    def context(self) -> ReadContext:
        """The shared objects, for the mode of this reader."""

    def read_type(self, node: ast.expr, scope: Scope, depth: int = 0) -> dict[str, Any]:
        """Return the schema of a type."""

    def read_field(
        self, node: ast.expr, scope: Scope, depth: int = 0, default: ast.expr | None = None
    ) -> tuple[TypeSchema, FieldInfo]:
        """Return the schema of the type of a field, and its metadata."""


@dataclass(frozen=True, slots=True)
class _Field:
    """A declared field."""

    name: str
    annotation: ast.expr
    scope: Scope
    default: ast.expr | None = None
    keyword_only: bool = False
    #: For a typed dictionary: whether the field is required unless its type states otherwise.
    total: bool | None = None
    docstring: str = ""


# Decorators of methods that determine the schema of output, or of input.
_SERIALIZER_DECORATORS = frozenset(
    {"pydantic.computed_field", "pydantic.field_serializer", "pydantic.model_serializer"}
)
_VALIDATOR_DECORATORS = frozenset({"pydantic.field_validator", "pydantic.model_validator"})


def class_schema(types: TypeReader, subject: SourceClass) -> dict[str, Any]:
    """Return the schema of a class in pydantic's form, without a generated title.

    Raises:
        SourceError: the source does not determine it.
    """
    literals = types.context.literals
    kind = kind_of(subject, literals.meter)
    if kind is ClassKind.ENUMERATION:
        values = list(literals.enumeration_members(subject).values())
        if not values:
            raise SourceError(
                DiagnosticCode.UNSUPPORTED_TYPE,
                "an enumeration without members admits no value",
                subject.node,
            )
        return _with_docstring(types, subject, enumeration_schema(values, allow_const=False))
    fields = _FieldReader(types.context, kind).read(subject)
    if kind is ClassKind.NAMED_TUPLE:
        return _named_tuple_schema(types, fields)
    config = read_config(subject, kind, literals)
    is_root = kind is ClassKind.ROOT
    schema = (
        _root_schema(types, subject, fields) if is_root else _object_schema(types, fields, config)
    )
    # To pydantic, a model with arguments is a subclass, and inherits no docstring.
    if not subject.arguments or kind not in (ClassKind.MODEL, ClassKind.ROOT):
        schema = _with_docstring(types, subject, schema)
    return schema if is_root else schema | config.keywords


def functional_schema(types: TypeReader, node: ast.Call, scope: Scope) -> dict[str, Any]:
    """Return the schema of ``TypedDict(name, {...}, total=...)``.

    Raises:
        SourceError: the source does not determine it.
    """
    literals = types.context.literals
    total, fields = True, {}
    for keyword in node.keywords:
        if keyword.arg != "total":
            raise SourceError(
                DiagnosticCode.UNSUPPORTED_SYNTAX,
                "TypedDict supports no keyword but total",
                keyword.value,
            )
        total = literals.read(keyword.value, scope) is not False
    if len(node.args) != 2 or not isinstance(node.args[1], ast.Dict):
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_SYNTAX, "the fields must be a dictionary literal", node
        )
    for key, value in zip(node.args[1].keys, node.args[1].values, strict=True):
        if key is None:
            raise SourceError(DiagnosticCode.UNSUPPORTED_SYNTAX, "** is not supported here", value)
        name = literals.read_string(key, scope)
        fields[name] = _Field(name, value, scope, total=total)
    return _object_schema(types, fields, ClassConfig())


def _with_docstring(
    types: TypeReader, subject: SourceClass, schema: dict[str, Any]
) -> dict[str, Any]:
    """Return *schema* with the docstring of the class as its description."""
    text = types.context.literals.read_docstring(subject.node)
    # Docstrings that Python generates are not descriptions.
    if text == "An enumeration." or text.startswith(f"{subject.node.name}("):
        return schema
    return {"description": text} | schema if text else schema


def _field_schema(types: TypeReader, field: _Field) -> tuple[dict[str, Any], bool]:
    """Return the schema of *field*, and whether it has no default."""
    type_schema, info = types.read_field(field.annotation, field.scope, default=field.default)
    schema = type_schema.build() | info.keywords
    context = types.context
    return schema, add_default(schema, info, context.literals, context.diagnostics)


def _object_schema(
    types: TypeReader, fields: dict[str, _Field], config: ClassConfig
) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    mode = types.context.mode
    # Keyword-only fields follow the others, as in the signature.
    for field in sorted(fields.values(), key=lambda field: field.keyword_only):
        type_schema, info = types.read_field(field.annotation, field.scope, default=field.default)
        if info.exclude and mode == "serialization":
            continue
        schema = type_schema.build() | info.keywords
        if field.docstring and config.attribute_docstrings:
            schema.setdefault("description", field.docstring)
        is_required = add_default(schema, info, types.context.literals, types.context.diagnostics)
        if field.total is not None:
            is_required = field.total if info.required is None else info.required
        name = info.wire_name(field.name, mode)
        if is_required:
            required.append(name)
        properties[name] = schema
    object_schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        object_schema["required"] = required
    if config.extra is not None:
        object_schema["additionalProperties"] = config.extra
    return object_schema


def _named_tuple_schema(types: TypeReader, fields: dict[str, _Field]) -> dict[str, Any]:
    items: list[Any] = []
    required = 0
    for field in fields.values():
        schema, is_required = _field_schema(types, field)
        required += is_required
        items.append(schema)
    array: dict[str, Any] = {"type": "array", "minItems": required, "maxItems": len(items)}
    return {**array, "prefixItems": items} if items else array


def _root_schema(
    types: TypeReader, subject: SourceClass, fields: dict[str, _Field]
) -> dict[str, Any]:
    if "root" in fields:
        return _field_schema(types, fields["root"])[0]
    for base in subject.node.bases:
        if (
            isinstance(base, ast.Subscript)
            and known_name(base.value, subject.scope) == "pydantic.RootModel"
        ):
            return types.read_type(base.slice, subject.scope)
    for base_class in bases_of(subject):
        return _root_schema(types, base_class, fields)
    message = "this RootModel has no type; write RootModel[...]"
    raise SourceError(DiagnosticCode.UNSUPPORTED_TYPE, message, subject.node)


class _FieldReader:
    """Reader of the fields that classes of one kind declare and inherit."""

    def __init__(self, context: ReadContext, kind: ClassKind) -> None:
        self._context = context
        self._kind = kind

    def read(self, subject: SourceClass) -> dict[str, _Field]:
        """Return the fields of *subject* by name, inherited fields first.

        Raises:
            SourceError: the source does not determine them.
        """
        self._context.meter.count_node()
        fields: dict[str, _Field] = {}
        for base in reversed(bases_of(subject)):
            for name, inherited_field in self.read(base).items():
                if name in fields and fields[name] != inherited_field:
                    raise SourceError(
                        DiagnosticCode.UNSUPPORTED_TYPE,
                        f"two bases declare {name}; declare it in the class itself",
                        subject.node,
                    )
                fields[name] = inherited_field
        # Without the decorator, a class derived from a dataclass adds no fields.
        if self._kind is not ClassKind.DATACLASS or dataclass_decorator(subject) is not None:
            self._add_declared_fields(subject, fields)
        bound = self._context.meter.bounds.fields
        if len(fields) > bound:
            raise SourceError(
                DiagnosticCode.TOO_LARGE, f"a class of more than {bound} fields", subject.node
            )
        return fields

    def _add_declared_fields(self, subject: SourceClass, fields: dict[str, _Field]) -> None:
        keyword_only = self._class_option(subject, "kw_only", default=False)
        total: bool | None = None
        if self._kind is ClassKind.TYPED_DICT:
            total = self._class_option(subject, "total", default=True)
        scope = subject.body_scope
        body = subject.node.body
        for statement, next_statement in zip(body, [*body[1:], None], strict=True):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._check_method(statement, subject)
            elif isinstance(statement, ast.Assign):
                self._check_assignment(statement)
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                annotation = self._field_annotation(statement, statement.target.id, scope)
                if annotation is None:
                    continue
                if known_name(annotation, scope) == "dataclasses.KW_ONLY":
                    keyword_only = True
                    continue
                name = statement.target.id
                fields[name] = _Field(
                    name,
                    annotation,
                    scope,
                    statement.value,
                    self._is_keyword_only(statement.value, scope, default=keyword_only),
                    total,
                    _docstring_of(next_statement),
                )

    def _field_annotation(
        self, statement: ast.AnnAssign, name: str, scope: Scope
    ) -> ast.expr | None:
        """Return the type of the field *name*; None if the statement declares no field."""
        models = (ClassKind.MODEL, ClassKind.ROOT)
        if name == "model_config" or (self._kind in models and name.startswith("_")):
            return None
        if self._kind is ClassKind.TYPED_DICT:
            return statement.annotation
        node, node_scope, _ = unwrap(statement.annotation, scope, 0, FieldInfo(), self._context)
        generic = node.value if isinstance(node, ast.Subscript) else node
        qualifier = known_name(generic, node_scope)
        if qualifier == "typing.ClassVar":
            return None
        if qualifier in ("typing.Final", "dataclasses.InitVar") and isinstance(node, ast.Subscript):
            return node.slice
        return statement.annotation

    def _is_keyword_only(self, value: ast.expr | None, scope: Scope, *, default: bool) -> bool:
        if self._kind is not ClassKind.DATACLASS or not isinstance(value, ast.Call):
            return default and self._kind is ClassKind.DATACLASS
        for keyword in value.keywords:
            if keyword.arg == "kw_only":
                return self._context.literals.read(keyword.value, scope) is True
        return default

    def _class_option(self, subject: SourceClass, name: str, *, default: bool) -> bool:
        decorator = dataclass_decorator(subject)
        keywords = [*subject.node.keywords]
        if isinstance(decorator, ast.Call):
            keywords += decorator.keywords
        for keyword in keywords:
            if keyword.arg == name:
                return self._context.literals.read(keyword.value, subject.scope) is True
        return default

    def _check_assignment(self, statement: ast.Assign) -> None:
        if self._kind not in (ClassKind.MODEL, ClassKind.ROOT):
            return
        for target in statement.targets:
            name = target.id if isinstance(target, ast.Name) else "_"
            if not name.startswith("_") and name != "model_config":
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_SYNTAX,
                    f"the attribute {name} of a model needs a type or ClassVar",
                    target,
                )

    def _check_method(
        self, method: ast.FunctionDef | ast.AsyncFunctionDef, subject: SourceClass
    ) -> None:
        """Check that *method* does not determine the schema."""
        if method.name in SCHEMA_METHODS:
            raise SourceError(
                DiagnosticCode.UNSUPPORTED_TYPE,
                f"{method.name} determines the schema, and is not run",
                method,
            )
        for decorator in method.decorator_list:
            name = callee_name(decorator, subject.scope)
            modes = [
                keyword.value.value
                for keyword in getattr(decorator, "keywords", ())
                if keyword.arg == "mode" and isinstance(keyword.value, ast.Constant)
            ]
            if self._context.mode == "serialization":
                determines_schema = name in _SERIALIZER_DECORATORS
            else:
                determines_schema = name in _VALIDATOR_DECORATORS and modes == ["plain"]
            if determines_schema:
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_TYPE,
                    f"{name.rpartition('.')[2]} determines the schema, and is not run",
                    decorator,
                )


def _docstring_of(next_statement: ast.stmt | None) -> str:
    """Return the string in *next_statement*, the statement after a field, or ""."""
    if isinstance(next_statement, ast.Expr) and isinstance(next_statement.value, ast.Constant):
        value = next_statement.value.value
        if isinstance(value, str):
            return value.strip()
    return ""
