"""Definitions: the classes that schemas refer to, by name.

A class stands in a schema as a reference and is read when its definition is requested, so
classes may refer to each other and to themselves.
"""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, SourceError
from sidecheck_server.core.infer.models import TypeReader, class_schema, functional_schema
from sidecheck_server.core.infer.scopes import Scope, SourceClass
from sidecheck_server.core.infer.type_schemas import HoldsContent, TypeSchema
from sidecheck_server.core.infer.unwrapping import known_name

__all__ = ["Definitions"]

# A definition is read within another only for the discriminator of a union.
_MAX_NESTED_READS = 10
_INVALID_NAME_CHARACTERS = re.compile(r"[^a-zA-Z0-9.\-_]")


@dataclass(slots=True, eq=False)
class _Definition:
    """A class that a schema refers to."""

    #: The class, the call of ``TypedDict`` with its scope, or None if the schema is fixed.
    subject: SourceClass | tuple[ast.Call, Scope] | None
    schema: dict[str, Any] | None = None
    #: Why it has no schema.
    error: SourceError | HoldsContent | None = None
    #: Names of the definitions that it refers to.
    references: set[str] = field(default_factory=set)


class Definitions:
    """The definitions of one source, for the mode of *types*."""

    def __init__(self, types: TypeReader) -> None:
        self._types = types
        self._definitions: dict[str, _Definition] = {}
        self._names: dict[ast.AST, str] = {}
        self._nested_reads = 0
        #: Names of the definitions that the schema being read refers to.
        self.references: set[str] = set()

    @property
    def is_reading(self) -> bool:
        """Whether a class is being read."""
        return self._nested_reads > 0

    def reference(self, subject: SourceClass) -> TypeSchema:
        """Return the reference to a class."""
        return self._reference(subject.node, subject.node.name, subject)

    def reference_to_call(self, node: ast.Call, scope: Scope) -> TypeSchema | None:
        """Return the reference to ``TypedDict(name, {...})``; None for other calls."""
        if known_name(node.func, scope) != "typing.TypedDict" or not node.args:
            return None
        name = self._types.context.literals.read_string(node.args[0], scope)
        return self._reference(node, name, (node, scope))

    def reference_to_any(self, name: str) -> TypeSchema:
        """Return the reference to a definition *name* that admits any value."""
        self._definitions.setdefault(name, _Definition(None, {}))
        self.references.add(name)
        return TypeSchema({"$ref": f"#/$defs/{name}"})

    def tagged_union(
        self, schemas: list[dict[str, Any]], discriminator: str, node: ast.expr
    ) -> dict[str, Any]:
        """Return the union of *schemas*, references to classes with a literal *discriminator*.

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
        """Return the definitions that `references` names, and those that these refer to.

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
        self, node: ast.AST, name: str, subject: SourceClass | tuple[ast.Call, Scope]
    ) -> TypeSchema:
        if node not in self._names:
            bound = self._types.context.meter.bounds.classes
            if len(self._definitions) >= bound:
                raise SourceError(
                    DiagnosticCode.TOO_LARGE, f"more than {bound} classes are used", node
                )
            unique = _unique_name(_INVALID_NAME_CHARACTERS.sub("_", name), self._definitions)
            self._names[node] = unique
            self._definitions[unique] = _Definition(subject)
        self.references.add(self._names[node])
        return TypeSchema({"$ref": f"#/$defs/{self._names[node]}"})

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
        # A read of this definition within its own read returns an empty schema.
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


def _unique_name(name: str, used: Iterable[str]) -> str:
    """Return *name*, with a number appended if it is *used*."""
    unique, number = name, 1
    while unique in used:
        number += 1
        unique = f"{name}_{number}"
    return unique
