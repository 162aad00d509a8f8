"""Admission: what a schema must be before anything is made of it.

In this order, each step safe for what the steps before let pass: bounds, JSON,
dialect, meta-schema, references, patterns, endless loops.
"""

from dataclasses import dataclass

from sidecheck_server.core.compiler.meta_schemas import check_against_meta_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.patterns import UNBOUNDED, PatternError, PatternFault, compile_pattern
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.schemas.dialects import (
    DEFAULT_DIALECT,
    DIALECTS,
    Dialect,
    dialect_named,
    dialect_of,
)
from sidecheck_server.core.schemas.references import (
    Subschema,
    Survey,
    check_reference_cycles,
    survey_schema,
)
from sidecheck_server.core.schemas.resources import Resources
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import Document, JsonValue, as_pointer

__all__ = ["AdmittedSchema", "PatternAdmission", "SchemaContext", "admit_schema", "read_source"]


class PatternAdmission:
    """The patterns that were admitted so far."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: set[str] = set()
        self._instructions = 0
        #: Whether one of them needs backtracking.
        self.backtracking = False

    def admit(self, here: Subschema) -> None:
        """Admit the patterns that stand in one subschema.

        Raises:
            Refusal: INVALID_PATTERN, UNSUPPORTED_PATTERN or LIMIT_EXCEEDED.
        """
        if "$ref" in here.schema and here.dialect.reference_hides_siblings:
            return
        in_force = here.dialect.keywords
        members = here.schema.get("patternProperties")
        found: list[tuple[JsonValue, tuple[str, ...]]] = []
        if "pattern" in in_force and "pattern" in here.schema:
            found.append((here.schema["pattern"], ("pattern",)))
        if "patternProperties" in in_force and isinstance(members, dict):
            found += [(source, ("patternProperties", source)) for source in members]
        for source, path in found:
            if source not in self._known:
                self._known.add(str(source))
                self._admit(str(source), here.place + as_pointer(path))

    def _admit(self, source: str, place: str) -> None:
        limits = self._limits
        try:
            pattern = compile_pattern(
                source,
                max_length=limits.pattern_length,
                backtracking=limits.allow_backtracking,
            )
        except PatternError as refused:
            reason, said = _REASONS[refused.fault]
            metadata = {"place": place, "offset": str(refused.offset)}
            if reason is ErrorReason.LIMIT_EXCEEDED:
                metadata |= {"bound": "pattern_length", "limit": str(limits.pattern_length)}
            said = f"the pattern at {place} {said}: {refused.message}"
            raise RequestError(reason, said, metadata) from None
        if pattern.cost >= UNBOUNDED:
            self.backtracking = True
            return
        self._instructions += pattern.cost
        if self._instructions > limits.pattern_instructions:
            what = "the patterns of the schema are too large together once compiled"
            raise limit_exceeded_error("pattern_instructions", limits.pattern_instructions, what)


_REASONS = {
    PatternFault.SYNTAX: (ErrorReason.INVALID_PATTERN, "is not a regular expression of ECMA-262"),
    PatternFault.NOT_LINEAR: (ErrorReason.UNSUPPORTED_PATTERN, "cannot be matched in linear time"),
    PatternFault.TOO_LARGE: (ErrorReason.LIMIT_EXCEEDED, "is too large"),
}


class SchemaContext:
    """A schema with its dialect and documents, read but not checked."""

    def __init__(self, source: SchemaSource, limits: Limits) -> None:
        if len(source.json) > limits.schema_bytes:
            raise limit_exceeded_error(
                "schema_bytes", limits.schema_bytes, "the schema", len(source.json)
            )
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
class AdmittedSchema:
    """A schema that was checked, and whose references are known."""

    context: SchemaContext
    #: None for the schemas ``true`` and ``false``.
    survey: Survey | None
    #: Whether it has a pattern whose time nothing bounds.
    backtracking: bool


def read_source(source: SchemaSource, limits: Limits) -> SchemaContext:
    """Return the schema of *source* with its dialect and documents, without checking it.

    Raises:
        Refusal: LIMIT_EXCEEDED, SCHEMA_NOT_JSON, UNSUPPORTED_DIALECT, INVALID_REQUEST if
            two documents have one URI, or INVALID_SCHEMA if it is neither an object nor
            a boolean.
    """
    return SchemaContext(source, limits)


def admit_schema(source: SchemaSource, limits: Limits) -> AdmittedSchema:
    """Return the schema of *source*, checked.

    Raises:
        Refusal: as `read_source`, and INVALID_SCHEMA, INVALID_PATTERN, UNSUPPORTED_PATTERN,
            UNRESOLVABLE_REFERENCE or REFERENCE_CYCLE.
    """
    context = read_source(source, limits)
    try:
        admission = _Admission(context, limits)
        surveyed = admission.admit(context.schema, context.dialect)
    except RecursionError:
        raise limit_exceeded_error(
            "schema_depth", limits.schema_depth, "the schema and its meta-schemas nest too deep"
        ) from None
    return AdmittedSchema(context, surveyed, admission.patterns.backtracking)


class _Admission:
    """Admits a schema, and with it every meta-schema that was sent along for it."""

    def __init__(self, context: SchemaContext, limits: Limits) -> None:
        self.context = context
        self.limits = limits
        self.patterns = PatternAdmission(limits)
        self.admitted_dialects = set(DIALECTS)

    def admit(self, schema: JsonValue, dialect: Dialect) -> Survey | None:
        documents, dialect_of = self.context.documents, self.context.dialect_of
        self.admit_dialect(dialect)
        check_against_meta_schema(schema, dialect, documents, dialect_of)
        if not isinstance(schema, dict):
            return None
        resources = Resources(schema, dialect, documents, dialect_of)
        surveyed = survey_schema(resources, self.check, self.limits)
        for here in surveyed.reached.values():
            self.patterns.admit(here)
        check_reference_cycles(surveyed)
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
        check_against_meta_schema(found.schema, found.dialect, documents, dialect_of, found.place)


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
        raise limit_exceeded_error("documents", limits.documents, "the documents", len(documents))
    size = sum(len(document.json) for document in documents)
    if size > limits.documents_bytes:
        raise limit_exceeded_error("documents_bytes", limits.documents_bytes, "the documents", size)
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
