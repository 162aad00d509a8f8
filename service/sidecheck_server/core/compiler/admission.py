"""Admission: what a schema must be before anything is made of it.

In this order, each step safe for what the steps before let pass: bounds, JSON,
dialect, meta-schema, references, patterns, endless loops.
"""

from dataclasses import dataclass

from sidecheck_server.core.compiler.meta_schemas import refuse_invalid_schema
from sidecheck_server.core.compiler.pattern_admission import Patterns
from sidecheck_server.core.compiler.reference_cycles import refuse_endless_references
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.schemas.dialects import (
    DEFAULT_DIALECT,
    DIALECTS,
    Dialect,
    dialect_named,
    dialect_of,
)
from sidecheck_server.core.schemas.references import Subschema, Survey, survey
from sidecheck_server.core.schemas.resources import Resources
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document, JsonValue

__all__ = ["Admitted", "Context", "admit", "read"]


class Context:
    """A schema with its dialect and documents, read but not checked."""

    def __init__(self, source: SchemaSource, limits: Limits) -> None:
        if len(source.json) > limits.schema_bytes:
            raise exceeded("schema_bytes", limits.schema_bytes, "the schema", len(source.json))
        self.schema = _decode(source.json, "the schema", limits)
        self.documents = _decode_documents(source.documents, limits)
        self._dialects: dict[str, Dialect] = {}
        default = dialect_named(source.default_dialect, self.documents.get)
        self.dialect = self.dialect_of(self.schema, default)

    def dialect_of(self, schema: JsonValue, around: Dialect) -> Dialect:
        """Return the dialect that a resource declares, or that of what is *around* it."""
        declared = schema.get("$schema") if isinstance(schema, dict) else None
        known = self._dialects.get(declared) if isinstance(declared, str) else None
        if known is None:
            known = dialect_of(schema, around, self.documents.get)
            if isinstance(declared, str):
                self._dialects[declared] = known
        return known


@dataclass(frozen=True, slots=True)
class Admitted:
    """A schema that was checked, and whose references are known."""

    context: Context
    #: None for the schemas ``true`` and ``false``.
    survey: Survey | None
    #: Whether it has a pattern whose time nothing bounds.
    backtracking: bool


def read(source: SchemaSource, limits: Limits) -> Context:
    """Return the schema of *source* with its dialect and documents, without checking it.

    Raises:
        Refusal: LIMIT_EXCEEDED, SCHEMA_NOT_JSON, UNSUPPORTED_DIALECT, INVALID_REQUEST if
            two documents have one URI, or INVALID_SCHEMA if it is neither an object nor
            a boolean.
    """
    return Context(source, limits)


def admit(source: SchemaSource, limits: Limits) -> Admitted:
    """Return the schema of *source*, checked.

    Raises:
        Refusal: as `read`, and INVALID_SCHEMA, INVALID_PATTERN, UNSUPPORTED_PATTERN,
            UNRESOLVABLE_REFERENCE or REFERENCE_CYCLE.
    """
    context = read(source, limits)
    try:
        admission = _Admission(context, limits)
        surveyed = admission.admit(context.schema, context.dialect)
    except RecursionError:
        raise exceeded(
            "schema_depth", limits.schema_depth, "the schema and its meta-schemas nest too deep"
        ) from None
    return Admitted(context, surveyed, admission.patterns.backtracking)


class _Admission:
    """Admits a schema, and with it every meta-schema that was sent along for it."""

    def __init__(self, context: Context, limits: Limits) -> None:
        self.context = context
        self.limits = limits
        self.patterns = Patterns(limits)
        self.admitted_dialects = set(DIALECTS)

    def admit(self, schema: JsonValue, dialect: Dialect) -> Survey | None:
        documents, dialect_of = self.context.documents, self.context.dialect_of
        self.admit_dialect(dialect)
        refuse_invalid_schema(schema, dialect, documents, dialect_of)
        if not isinstance(schema, dict):
            return None
        resources = Resources(schema, dialect, documents, dialect_of)
        surveyed = survey(resources, self.check, self.limits)
        for here in surveyed.reached.values():
            self.patterns.admit(here)
        refuse_endless_references(surveyed)
        return surveyed

    def admit_dialect(self, dialect: Dialect) -> None:
        """Admit the meta-schema of *dialect*, unless it is published or was admitted."""
        if dialect.uri not in self.admitted_dialects:
            self.admitted_dialects.add(dialect.uri)
            meta = dialect.own_meta_schema
            try:
                self.admit(meta, self.context.dialect_of(meta, DEFAULT_DIALECT))
            except RequestError as refusal:
                raise _of_meta_schema(refusal, dialect) from None

    def check(self, found: Subschema) -> None:
        """Check a subschema that a reference leads to, outside of the schema."""
        self.admit_dialect(found.dialect)
        documents, dialect_of = self.context.documents, self.context.dialect_of
        refuse_invalid_schema(found.schema, found.dialect, documents, dialect_of, found.place)


def _of_meta_schema(refusal: RequestError, dialect: Dialect) -> RequestError:
    if "meta_schema" in refusal.metadata:
        return refusal
    return RequestError(
        refusal.reason,
        f"the meta-schema {dialect.uri[:200]}: {refusal.message}",
        {**refusal.metadata, "meta_schema": dialect.uri},
        refusal.violations,
    )


def _decode(text: bytes, what: str, limits: Limits) -> JsonValue:
    try:
        value = decode(text, max_depth=limits.schema_depth, depth_bound="schema_depth")
    except MalformedError as error:
        first = error.violations[0]
        at = f" (at {first.instance_location})" if first.instance_location else ""
        raise RequestError(
            ErrorReason.SCHEMA_NOT_JSON, f"{what}: {first.message}{at}", {"code": first.code}
        ) from None
    if not isinstance(value, dict | bool):
        raise RequestError(
            ErrorReason.INVALID_SCHEMA,
            f"{what} is neither an object nor a boolean, as a schema must be",
        )
    return value


def _decode_documents(documents: tuple[Document, ...], limits: Limits) -> dict[str, JsonValue]:
    if len(documents) > limits.documents:
        raise exceeded("documents", limits.documents, "the documents", len(documents))
    size = sum(len(document.json) for document in documents)
    if size > limits.documents_bytes:
        raise exceeded("documents_bytes", limits.documents_bytes, "the documents", size)
    decoded: dict[str, JsonValue] = {}
    for document in documents:
        uri = document.uri.removesuffix("#")
        if uri in decoded:
            raise RequestError(
                ErrorReason.INVALID_REQUEST,
                f"two documents have the URI {uri[:200]}",
                {"uri": uri[:200]},
            )
        decoded[uri] = _decode(document.json, f"the document {uri[:200]}", limits)
    return decoded
