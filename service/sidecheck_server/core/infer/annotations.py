"""Annotations: JSON Schemas of types, from the expressions that name them.

The schemas equal the schemas of pydantic 2.14, without generated titles.

A schema refers to a class by a reference. The class is read when its definition is requested,
so classes may refer to each other and to themselves.
"""

import ast
import copy
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, SourceError
from sidecheck_server.core.infer.fields import FieldInfo, read_default
from sidecheck_server.core.infer.generics import (
    is_type_variable,
    specialize_alias,
    specialize_class,
)
from sidecheck_server.core.infer.known_types import (
    ITERATORS,
    MAPPINGS,
    SEQUENCES,
    SERIALIZED,
    SETS,
    SIMPLE,
    TUPLES,
    TypeKind,
    is_content,
)
from sidecheck_server.core.infer.models import TypeReader, class_schema, functional_schema
from sidecheck_server.core.infer.scopes import (
    Alias,
    Binding,
    ForeignName,
    KnownName,
    Scope,
    SourceClass,
)
from sidecheck_server.core.infer.type_schemas import (
    NULL,
    HoldsContent,
    TypeSchema,
    enumeration_schema,
    mapping_schema,
    union_schema,
)
from sidecheck_server.core.infer.unwrapping import (
    ReadContext,
    known_name,
    subscript_arguments,
    union_branches,
    unwrap,
    unwrap_alias,
)
from sidecheck_server.core.types import Severity

__all__ = ["AnnotationReader"]

# Reading a definition reads another one only for the discriminator of a union.
_MAX_NESTED_READS = 10
_INVALID_NAME_CHARACTERS = re.compile(r"[^a-zA-Z0-9.\-_]")


@dataclass(slots=True, eq=False)
class _Definition:
    """Definition of a class that a schema refers to."""

    #: The class, the call of ``TypedDict`` with its scope, or None if the schema is fixed.
    subject: SourceClass | tuple[ast.Call, Scope] | None
    schema: dict[str, Any] | None = None
    #: Error that explains a missing schema.
    error: SourceError | HoldsContent | None = None
    #: Names of the definitions that it refers to.
    references: set[str] = field(default_factory=set)


class _Definitions:
    """The definitions of one source, for the mode of *types*."""

    def __init__(self, types: TypeReader) -> None:
        self._types = types
        self._definitions: dict[str, _Definition] = {}
        #: By the key of a class, or the node of a call.
        self._names: dict[object, str] = {}
        self._nested_reads = 0
        #: Names of the definitions that the schema being read refers to.
        self.references: set[str] = set()

    @property
    def is_reading(self) -> bool:
        """Whether a class is being read."""
        return self._nested_reads > 0

    def reference(self, subject: SourceClass) -> TypeSchema:
        """Return the reference to a class."""
        return self._reference(subject.key, subject.name, subject, subject.node)

    def reference_to_call(self, node: ast.Call, scope: Scope) -> TypeSchema | None:
        """Return the reference to ``TypedDict(name, {...})``; None for other calls."""
        if known_name(node.func, scope) != "typing.TypedDict" or not node.args:
            return None
        name = self._types.context.literals.read_string(node.args[0], scope)
        return self._reference(node, name, (node, scope), node)

    def reference_to_any(self, name: str) -> TypeSchema:
        """Return the reference to a definition *name* that admits any value."""
        self._definitions.setdefault(name, _Definition(None, {}))
        self.references.add(name)
        return TypeSchema({"$ref": f"#/$defs/{name}"})

    def tagged_union(
        self, schemas: list[dict[str, Any]], discriminator: str, node: ast.expr
    ) -> dict[str, Any]:
        """Return the union of *schemas*, references to classes with *discriminator*.

        Raises:
            SourceError: a class has no such field.
        """
        mapping: dict[str, str] = {}
        for schema in schemas:
            reference = schema.get("$ref", "")
            definition = self._schema_of(reference.rpartition("/")[2])
            tag = definition.get("properties", {}).get(discriminator, {})
            values = [tag["const"]] if "const" in tag else tag.get("enum", [])
            if not values:
                raise SourceError(
                    DiagnosticCode.UNSUPPORTED_TYPE,
                    f"every branch of this union must be a class with a literal {discriminator}",
                    node,
                )
            mapping |= {str(value): reference for value in values}
        return {
            "oneOf": schemas,
            "discriminator": {"mapping": mapping, "propertyName": discriminator},
        }

    def collect(self) -> dict[str, dict[str, Any]]:
        """Return the definitions in `references`, and the definitions that they refer to.

        Raises:
            SourceError: one of the classes has no schema.
        """
        collected: dict[str, dict[str, Any]] = {}
        pending = sorted(self.references, reverse=True)
        while pending:
            name = pending.pop()
            self._types.context.meter.count_node()
            if name not in collected:
                definition = self._definitions[name]
                collected[name] = self._read(definition)
                pending.extend(sorted(definition.references, reverse=True))
        return collected

    def _schema_of(self, name: str) -> dict[str, Any]:
        """Return the definition *name*; {} if there is none, or if it is being read."""
        definition = self._definitions.get(name)
        return {} if definition is None else self._read(definition)

    def _reference(
        self,
        key: object,
        name: str,
        subject: SourceClass | tuple[ast.Call, Scope],
        node: ast.AST,
    ) -> TypeSchema:
        if key not in self._names:
            bound = self._types.context.meter.bounds.classes
            if len(self._definitions) >= bound:
                raise SourceError(
                    DiagnosticCode.TOO_LARGE, f"more than {bound} classes are used", node
                )
            unique = _make_unique(_INVALID_NAME_CHARACTERS.sub("_", name), self._definitions)
            self._names[key] = unique
            self._definitions[unique] = _Definition(subject)
        self.references.add(self._names[key])
        return TypeSchema({"$ref": f"#/$defs/{self._names[key]}"})

    def _read(self, definition: _Definition) -> dict[str, Any]:
        if definition.error is not None:
            raise definition.error
        if definition.schema is not None:
            return definition.schema
        if self._nested_reads > _MAX_NESTED_READS:
            raise SourceError(
                DiagnosticCode.TOO_DEEP, "discriminated unions are nested too deeply", None
            )
        outer, self.references = self.references, definition.references
        self._nested_reads += 1
        # A recursive read of this definition returns an empty schema.
        definition.schema = {}
        try:
            if isinstance(definition.subject, SourceClass):
                definition.schema = class_schema(self._types, definition.subject)
            elif definition.subject is not None:
                definition.schema = functional_schema(self._types, *definition.subject)
        except (SourceError, HoldsContent) as error:
            definition.error = error
            raise
        finally:
            self._nested_reads -= 1
            self.references = outer
        return definition.schema


def _make_unique(name: str, used: Iterable[str]) -> str:
    """Return *name*, with a number appended if it is *used*."""
    unique, number = name, 1
    while unique in used:
        number += 1
        unique = f"{name}_{number}"
    return unique


# Results of these types are binary or never returned: they have no output schema.
_WITHOUT_OUTPUT_SCHEMA = frozenset(
    {"builtins.bytes", "pydantic.Base64Bytes", "typing.Never", "typing.NoReturn"}
)


class AnnotationReader:
    """Reader of the types of one source, for one mode of schemas.

    The schemas refer to classes in `definitions`.
    """

    def __init__(self, context: ReadContext) -> None:
        self.context = context
        self.definitions = _Definitions(self)

    def read_type(self, node: ast.expr, scope: Scope, depth: int = 0) -> dict[str, Any]:
        """Return the schema of the type *node*.

        Raises:
            SourceError: the source does not determine it.
            HoldsContent: in mode "serialization", it contains MCP content.
        """
        type_schema, info = self.read_field(node, scope, depth)
        return type_schema.build() | info.keywords

    def read_field(
        self, node: ast.expr, scope: Scope, depth: int = 0, default: ast.expr | None = None
    ) -> tuple[TypeSchema, FieldInfo]:
        """Return the schema of a field's type, and the metadata of type and *default*.

        Raises:
            SourceError: the source does not determine them.
            HoldsContent: in mode "serialization", the type contains MCP content.
        """
        info = FieldInfo()
        node, inner_scope, depth = unwrap(node, scope, depth, info, self.context)
        if default is not None:
            read_default(default, scope, info, self.context.literals)
        while info.omitted:
            self.context.diagnostics.add(info.omitted.pop(0), Severity.WARNING)
        type_schema = self._read(node, inner_scope, depth, info)
        for constraint in info.constraints:
            type_schema.constrain(constraint)
        return type_schema, info

    def read_with_definitions(
        self, node: ast.expr, scope: Scope, default: ast.expr | None = None
    ) -> tuple[TypeSchema, FieldInfo, dict[str, dict[str, Any]]]:
        """Return the result of `read_field`, and the definitions that the schema needs.

        Raises:
            SourceError: the source does not determine them.
            HoldsContent: in mode "serialization", the type contains MCP content.
        """
        self.definitions.references = set()
        type_schema, info = self.read_field(node, scope, default=default)
        return type_schema, info, self.definitions.collect()

    @property
    def _is_serialization(self) -> bool:
        return self.context.mode == "serialization"

    def _read(self, node: ast.expr, scope: Scope, depth: int, info: FieldInfo) -> TypeSchema:
        if isinstance(node, ast.Constant) and node.value is None:
            return TypeSchema(dict(NULL))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._read_union([node], scope, depth, info)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._read_binding(scope.resolve(node), node)
        if isinstance(node, ast.Subscript):
            return self._read_generic(node, scope, depth, info)
        if isinstance(node, ast.Call):
            if is_type_variable(node, scope):
                return TypeSchema({})
            reference = self.definitions.reference_to_call(node, scope)
            if reference is not None:
                return reference
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_SYNTAX,
            "expected a type: a name, a name with [...], or types joined with |; the source is "
            "not run",
            node,
        )

    def _read_binding(self, binding: Binding, node: ast.expr) -> TypeSchema:
        if isinstance(binding, SourceClass):
            return self.definitions.reference(binding)
        if isinstance(binding, KnownName):
            return self._read_known(binding.name, node)
        if isinstance(binding, ForeignName):
            if self._is_serialization and is_content(binding.name):
                raise HoldsContent
            raise SourceError(
                DiagnosticCode.UNRESOLVED_NAME,
                f"{binding.name} is defined outside the source, and nothing is imported; define "
                "it in the source or use a known type",
                node,
            )
        raise SourceError(
            DiagnosticCode.UNRESOLVED_NAME,
            f"{ast.unparse(node)} is not a type that the source defines",
            node,
        )

    def _read_known(self, name: str, node: ast.expr) -> TypeSchema:
        if (
            self._is_serialization
            and name in _WITHOUT_OUTPUT_SCHEMA
            and not self.definitions.is_reading
        ):
            raise HoldsContent
        if name in SIMPLE:
            schema, kind = SIMPLE[name]
            if self._is_serialization and name in SERIALIZED:
                schema = SERIALIZED[name]
            return TypeSchema(copy.deepcopy(schema), kind)
        if name == "pydantic.JsonValue":
            return self.definitions.reference_to_any("JsonValue")
        if name in SEQUENCES or name in TUPLES:
            return TypeSchema({"type": "array", "items": {}}, TypeKind.ARRAY)
        if name in SETS:
            schema = {"type": "array", "items": {}, "uniqueItems": True}
            return TypeSchema(schema, TypeKind.ARRAY)
        if name in MAPPINGS:
            schema = {"type": "object", "additionalProperties": True}
            return TypeSchema(schema, TypeKind.OBJECT)
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_TYPE, f"no JSON Schema is known for {name}", node
        )

    def _read_generic(
        self, node: ast.Subscript, scope: Scope, depth: int, info: FieldInfo
    ) -> TypeSchema:
        name = known_name(node.value, scope)
        arguments = subscript_arguments(node)
        if name == "typing.Optional" and len(arguments) == 1:
            return self._read_union([*arguments, ast.Constant(None)], scope, depth, info)
        if name == "typing.Union":
            return self._read_union(arguments, scope, depth, info)
        if name == "typing.Literal":
            return TypeSchema(self._literal_schema(arguments, scope, depth))
        if name in TUPLES:
            return self._read_tuple(arguments, scope, depth)
        if (container := self._read_container(name, arguments, scope, depth)) is not None:
            return container
        if name == "re.Pattern":
            return self._read_known(name, node)
        if name == "pydantic.Json" and len(arguments) == 1:
            return TypeSchema(self._json_schema(self.read_type(arguments[0], scope, depth)))
        if name:
            raise SourceError(
                DiagnosticCode.UNSUPPORTED_TYPE,
                f"no JSON Schema is known for {name} with {len(arguments)} type parameters",
                node,
            )
        return self._read_specialized(node, scope, depth)

    def _read_specialized(self, node: ast.Subscript, scope: Scope, depth: int) -> TypeSchema:
        """Return the schema of a class or alias of the source with type arguments."""
        binding = scope.resolve(node.value)
        if isinstance(binding, SourceClass):
            return self.definitions.reference(specialize_class(binding, node, scope))
        if isinstance(binding, Alias):
            alias = specialize_alias(binding, node, scope)
            if alias is not None:
                return self.read_field(alias.value, alias.scope, depth)[0]
        self._read_binding(binding, node.value)
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_TYPE,
            f"{ast.unparse(node.value)} has no type parameters",
            node,
        )

    def _read_container(
        self, name: str, arguments: list[ast.expr], scope: Scope, depth: int
    ) -> TypeSchema | None:
        """Return the schema of the container *name*; None for other types."""
        if (name in SEQUENCES or name in SETS) and len(arguments) == 1:
            items = self.read_type(arguments[0], scope, depth)
            schema: dict[str, Any] = {"type": "array", "items": items}
            if name in SETS:
                schema["uniqueItems"] = True
            return TypeSchema(schema, TypeKind.ARRAY)
        if name in ITERATORS and self._is_serialization and not self.definitions.is_reading:
            items = self.read_type(arguments[0], scope, depth)
            return TypeSchema({"type": "array", "items": items}, TypeKind.ARRAY)
        if name in MAPPINGS and len(arguments) == 2:
            keys, values = (self.read_type(argument, scope, depth) for argument in arguments)
            return TypeSchema(mapping_schema(keys, values), TypeKind.OBJECT)
        if name == "collections.Counter" and len(arguments) == 1:
            keys = self.read_type(arguments[0], scope, depth)
            return TypeSchema(mapping_schema(keys, {"type": "integer"}), TypeKind.OBJECT)
        return None

    def _read_union(
        self, nodes: list[ast.expr], scope: Scope, depth: int, info: FieldInfo
    ) -> TypeSchema:
        branches = union_branches(nodes, scope, depth, self.context)
        non_null = [
            self.read_field(node, branch_scope, branch_depth)
            for node, branch_scope, branch_depth in branches
            if node is not None
        ]
        unique: dict[str, TypeSchema] = {}
        for branch, branch_info in non_null:
            if branch_info.keywords:
                described = TypeSchema(branch.build() | branch_info.keywords)
            else:
                described = branch
            unique.setdefault(repr(described.build()), described)
        if not unique:
            return TypeSchema(dict(NULL))
        schemas = [branch.build() for branch in unique.values()]
        if info.discriminator:
            tagged = self.definitions.tagged_union(schemas, info.discriminator, nodes[0])
            union = TypeSchema(tagged)
        elif len(unique) == 1:
            union = next(iter(unique.values()))
        else:
            union = TypeSchema(union_schema(schemas))
        admits_null = len(non_null) < len(branches)
        return TypeSchema({}, TypeKind.NULLABLE, union) if admits_null else union

    def _read_tuple(self, arguments: list[ast.expr], scope: Scope, depth: int) -> TypeSchema:
        last = arguments[-1] if len(arguments) == 2 else None
        if isinstance(last, ast.Constant) and last.value is ...:
            items = self.read_type(arguments[0], scope, depth)
            return TypeSchema({"type": "array", "items": items}, TypeKind.ARRAY)
        length = len(arguments)
        schema: dict[str, Any] = {"type": "array", "minItems": length, "maxItems": length}
        if arguments:
            schema["prefixItems"] = [
                self.read_type(argument, scope, depth) for argument in arguments
            ]
        return TypeSchema(schema, TypeKind.ARRAY)

    def _literal_schema(
        self, arguments: list[ast.expr], scope: Scope, depth: int
    ) -> dict[str, Any]:
        values = self._literal_values(arguments, scope, depth)
        # By type as well: 1, 1.0 and True are equal.
        unique = {(type(value), value): value for value in values}
        return enumeration_schema(list(unique.values()), allow_const=True)

    def _literal_values(self, arguments: list[ast.expr], scope: Scope, depth: int) -> list[Any]:
        """Return the values of `Literal`, nested literals flattened."""
        values: list[Any] = []
        for argument in arguments:
            node, inner_scope, inner_depth = unwrap_alias(
                argument, scope, depth, self.context.meter
            )
            if (
                isinstance(node, ast.Subscript)
                and known_name(node.value, inner_scope) == "typing.Literal"
            ):
                values += self._literal_values(subscript_arguments(node), inner_scope, inner_depth)
            else:
                values.append(self.context.literals.read(node, inner_scope, inner_depth))
        return values

    def _json_schema(self, inner: dict[str, Any]) -> dict[str, Any]:
        if self._is_serialization:
            return inner
        return {"type": "string", "contentMediaType": "application/json", "contentSchema": inner}
