"""Admission: what a schema must be before anything is made of it.

In this order, each step safe for what the steps before let pass: bounds, JSON,
dialect, meta-schema, references, patterns, endless loops.
"""

from dataclasses import dataclass
from typing import Any

from referencing import Specification

from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.patterns import PatternFault, PatternRefused, compile_pattern
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.refusals import Reason, Refusal
from sidecheck_server.core.schemas.dialects import Dialect, dialect_named, dialect_of
from sidecheck_server.core.schemas.documents import SchemaRegistry, registry_of
from sidecheck_server.core.schemas.loops import refuse_endless_references
from sidecheck_server.core.schemas.meta_schemas import is_schema, refuse_invalid_schema
from sidecheck_server.core.schemas.references import Subschema, Survey, survey
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.words import Document, JsonValue, as_pointer

__all__ = ["Admitted", "Context", "admit", "read"]


class Context:
    """A schema with its dialect and documents, read but not checked."""

    def __init__(self, source: SchemaSource, limits: Limits) -> None:
        if len(source.json) > limits.schema_bytes:
            raise exceeded("schema_bytes", limits.schema_bytes, "the schema", len(source.json))
        self.schema = _decode(source.json, "the schema", limits)
        self.documents = _decode_documents(source.documents, limits)
        default = dialect_named(source.default_dialect, self.documents.get)
        self.dialect = dialect_of(self.schema, default, self.documents.get)
        self.registry: SchemaRegistry = registry_of(self.documents, self._specification_of)

    def dialect_of(self, schema: JsonValue, around: Dialect) -> Dialect:
        """Return the dialect that a resource declares, or that of what is *around* it."""
        return dialect_of(schema, around, self.documents.get)

    def _specification_of(self, document: JsonValue) -> Specification[Any]:
        """Tell how a document is read: in its dialect, or in that of the schema it came with."""
        try:
            dialect = self.dialect_of(document, self.dialect)
        except Refusal:
            # It matters only if a reference leads there, and is refused then.
            return Specification.OPAQUE
        return dialect.specification if is_schema(document, dialect) else Specification.OPAQUE


@dataclass(frozen=True, slots=True)
class Admitted:
    """A schema that was checked, and whose references are known."""

    context: Context
    #: None for the schemas ``true`` and ``false``.
    survey: Survey | None


def read(source: SchemaSource, limits: Limits) -> Context:
    """Return the schema of *source* with its dialect and documents, without checking it.

    Raises:
        Refusal: LIMIT_EXCEEDED, SCHEMA_NOT_JSON, UNSUPPORTED_DIALECT, or INVALID_SCHEMA
            if it is neither an object nor a boolean.
    """
    return Context(source, limits)


def admit(source: SchemaSource, limits: Limits) -> Admitted:
    """Return the schema of *source*, checked.

    Raises:
        Refusal: as `read`, and INVALID_SCHEMA, INVALID_PATTERN, UNSUPPORTED_PATTERN,
            UNRESOLVABLE_REFERENCE or ENDLESS_REFERENCE.
    """
    context = read(source, limits)
    refuse_invalid_schema(context.schema, context.dialect, context.registry, context.dialect_of)
    if not isinstance(context.schema, dict):
        return Admitted(context, None)

    def check(found: Subschema) -> None:
        refuse_invalid_schema(
            found.schema, found.dialect, context.registry, context.dialect_of, found.place
        )

    surveyed = survey(
        context.schema, context.dialect, context.registry, context.dialect_of, check, limits
    )
    for here in surveyed.reached.values():
        _refuse_bad_patterns(here, limits)
    refuse_endless_references(surveyed)
    return Admitted(context, surveyed)


def _decode(text: bytes, what: str, limits: Limits) -> JsonValue:
    try:
        value = decode(text, max_depth=limits.schema_depth, depth_bound="schema_depth")
    except MalformedError as error:
        first = error.violations[0]
        at = f" (at {first.instance_pointer})" if first.instance_pointer else ""
        raise Refusal(
            Reason.SCHEMA_NOT_JSON, f"{what}: {first.message}{at}", {"code": first.code}
        ) from None
    if not isinstance(value, dict | bool):
        raise Refusal(
            Reason.INVALID_SCHEMA, f"{what} is neither an object nor a boolean, as a schema must be"
        )
    return value


def _decode_documents(documents: tuple[Document, ...], limits: Limits) -> dict[str, JsonValue]:
    if len(documents) > limits.documents:
        raise exceeded("documents", limits.documents, "the documents", len(documents))
    size = sum(len(document.json) for document in documents)
    if size > limits.documents_bytes:
        raise exceeded("documents_bytes", limits.documents_bytes, "the documents", size)
    return {
        document.uri.removesuffix("#"): _decode(
            document.json, f"the document {document.uri[:200]}", limits
        )
        for document in documents
    }


def _refuse_bad_patterns(here: Subschema, limits: Limits) -> None:
    in_force = here.dialect.keywords
    members = here.schema.get("patternProperties")
    found: list[tuple[JsonValue, tuple[str, ...]]] = []
    if "pattern" in in_force and "pattern" in here.schema:
        found.append((here.schema["pattern"], ("pattern",)))
    if "patternProperties" in in_force and isinstance(members, dict):
        found += [(source, ("patternProperties", source)) for source in members]
    for source, path in found:
        try:
            compile_pattern(str(source), max_length=limits.pattern_length)
        except PatternRefused as refused:
            place = here.place + as_pointer(path)
            reason, said = _PATTERN_REASONS[refused.fault]
            raise Refusal(
                reason,
                f"the pattern at {place} {said}: {refused.message}",
                {"place": place, "offset": str(refused.offset)},
            ) from None


_PATTERN_REASONS = {
    PatternFault.SYNTAX: (Reason.INVALID_PATTERN, "is not a regular expression of ECMA-262"),
    PatternFault.NOT_LINEAR: (Reason.UNSUPPORTED_PATTERN, "cannot be matched in linear time"),
    PatternFault.TOO_LARGE: (Reason.LIMIT_EXCEEDED, "is too large"),
}
