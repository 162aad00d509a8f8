"""Compilation of a schema, from its bytes to the object that validates payloads.

Compilation takes about a millisecond, up to a hundred for a large schema, and holds
the interpreter. So a worker process does it and returns an `Artifact`, which loads
quickly. It is deterministic: the same bytes always give the same artifact or error.
"""

import marshal
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any

from sidecheck_server.core.compiler.admission import AdmittedSchema, admit_schema, read_source
from sidecheck_server.core.compiler.generation import generate_code
from sidecheck_server.core.compiler.lowering import lower_schema
from sidecheck_server.core.compiler.schema_warnings import SchemaWarning, find_schema_warnings
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fast import FastCode, FastEngine
from sidecheck_server.core.engines.text_checks import TextChecks
from sidecheck_server.core.formats import format_checker
from sidecheck_server.core.json_values import digest_of
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.memory import measure_memory
from sidecheck_server.core.schemas.canonical import CannotLowerError, Canonical, LoweredSchema
from sidecheck_server.core.schemas.dialects import STANDARD_DIALECTS, Dialect, SchemaSource

__all__ = ["Artifact", "CompiledSchema", "compile_schema"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """Result of a compilation, which can be pickled."""

    #: The digest of the schema.
    digest: str
    #: Name of the supported dialect that the schema's dialect is, or builds on.
    dialect: str
    #: Code of the fast engine; None if only the complete engine can evaluate.
    fast: FastCode | None
    #: Why only the complete engine can evaluate, or "".
    complete_only_reason: str = ""
    #: Whether a pattern needs backtracking, so that evaluation time has no bound.
    backtracking: bool = False
    #: Questionable parts of the schema.
    warnings: tuple[SchemaWarning, ...] = ()
    #: Estimated size of the compiled schema after use of both engines, in bytes.
    memory: int = 0
    #: Size of all patterns, in RE2 instructions.
    pattern_instructions: int = 0


def compile_schema(
    source: SchemaSource, limits: Limits, *, is_known_valid: bool = False
) -> Artifact:
    """Return the artifact of the schema of *source*.

    With *is_known_valid*, the schema is not checked against its meta-schema, whose own
    compilation takes longer than that of most schemas.

    Raises:
        RequestError: the schema is not admitted; see `admit_schema`.
    """
    admitted = admit_schema(source, limits, is_known_valid=is_known_valid)
    context = admitted.context
    digest = digest_of(context.schema, source.documents)
    fast: FastCode | None
    dialect = STANDARD_DIALECTS[context.dialect.draft].name
    try:
        fast, reason = _generate_fast_code(admitted, source, limits), ""
    except CannotLowerError as error:
        fast, reason = None, error.reason
    warnings = find_schema_warnings(admitted, source, limits)
    memory = _estimate_memory(source, admitted, fast, warnings)
    instructions = admitted.pattern_instructions
    return Artifact(
        digest, dialect, fast, reason, admitted.backtracking, warnings, memory, instructions
    )


def _generate_fast_code(admitted: AdmittedSchema, source: SchemaSource, limits: Limits) -> FastCode:
    if admitted.survey is None:
        body: Canonical = {} if admitted.context.schema is True else {"not": {}}
        return generate_code(LoweredSchema({"d0": body}), limits)

    own_dialect = STANDARD_DIALECTS[admitted.context.dialect.draft].name

    def asserts_format(dialect: Dialect, name: str) -> bool:
        if not (source.assert_formats or dialect.asserts_format):
            return False
        standard = STANDARD_DIALECTS[dialect.draft].name
        if format_checker(name, standard) is None:
            return False
        if standard != own_dialect:
            # Generated code binds each format name to one dialect.
            raise CannotLowerError("a format of another dialect")
        return True

    return generate_code(lower_schema(admitted.survey, asserts_format), limits)


_INLINE_BYTES = 32 << 10
"""Most bytes of schema text that are decoded again within some milliseconds."""


class CompiledSchema:
    """A compiled schema: the only object that validates payloads.

    Immutable except for the engines, which are created on first use.
    """

    def __init__(self, source: SchemaSource, artifact: Artifact, limits: Limits) -> None:
        self.source = source
        self.artifact = artifact
        self.limits = limits
        self._checks = TextChecks(limits, assert_formats=source.assert_formats)

    def __reduce__(self) -> tuple[Any, ...]:
        # Engines cannot be pickled; the copy creates its own.
        return CompiledSchema, (self.source, self.artifact, self.limits)

    @property
    def digest(self) -> str:
        """The digest of the schema."""
        return self.artifact.digest

    @property
    def complete_only_reason(self) -> str:
        """Why only the complete engine can evaluate, or ""."""
        return self.artifact.complete_only_reason

    @property
    def backtracking(self) -> bool:
        """Whether evaluation needs a process that can be killed."""
        return self.artifact.backtracking

    @cached_property
    def fast(self) -> FastEngine | None:
        """The fast engine, or None if only the complete engine can evaluate."""
        artifact = self.artifact
        if artifact.fast is None:
            return None
        return FastEngine(artifact.fast, artifact.dialect, self.limits, self._checks)

    @property
    def explains_inline(self) -> bool:
        """Whether the complete engine exists, or can be created within some milliseconds."""
        if "complete" in self.__dict__:
            return True
        documents = sum(len(document.json) for document in self.source.documents)
        return len(self.source.json) + documents <= _INLINE_BYTES

    @cached_property
    def complete(self) -> CompleteEngine:
        """The complete engine."""
        context = read_source(self.source, self.limits)
        return CompleteEngine(
            context.schema,
            context.dialect,
            context.documents,
            assert_formats=self.source.assert_formats,
            dialect_of=context.dialect_of,
            limits=self.limits,
            checks=self._checks,
        )


# Decision 0052: bytes of the objects that are created on use, as measured by
# tests/core/test_memory.py: a schema and its two engines, a generated function, a subschema
# and a keyword prepared by the complete engine, and an entry of its index of resources.
_SCHEMA_BYTES = 2_500
_FUNCTION_BYTES = 200
_SUBSCHEMA_BYTES = 190
_KEYWORD_BYTES = 95
_RESOURCE_BYTES = 500


def _estimate_memory(
    source: SchemaSource, admitted: AdmittedSchema, fast: FastCode | None, warnings: object
) -> int:
    """Return the estimated size of the compiled schema after use, in bytes.

    It covers the source, the artifact, both engines at their full size, and the states
    that RE2 caches for the patterns.
    """
    context = admitted.context
    memory = _SCHEMA_BYTES + admitted.pattern_memory
    memory += measure_memory(source, warnings, context.schema, context.documents)
    if fast is not None:
        # Measured apart from the schema: in the server, which unpickles the artifact, its
        # constants are copies.
        memory += measure_memory(fast)
        body: CodeType = marshal.loads(fast.code)  # noqa: S302  (it was generated here)
        memory += measure_memory(body)
        memory += _FUNCTION_BYTES * sum(type(constant) is CodeType for constant in body.co_consts)
    if admitted.survey is not None:
        resources = set()
        for subschema in admitted.survey.reached.values():
            memory += _SUBSCHEMA_BYTES + _KEYWORD_BYTES * len(subschema.schema)
            resources.add(id(subschema.resource))
        memory += _RESOURCE_BYTES * len(resources)
    return memory
