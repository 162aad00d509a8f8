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
from sidecheck_server.core.schemas.canonical import CannotLowerError, Canonical, Lowered
from sidecheck_server.core.schemas.dialects import STANDARD_DIALECTS, Dialect, SchemaSource

__all__ = ["Artifact", "CompiledSchema", "compile_schema"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """Result of a compilation; it can cross process borders."""

    #: The digest of the schema.
    digest: str
    #: The name of the supported dialect that the schema's own is or builds on.
    dialect: str
    #: Code of the fast engine; None if only the complete engine can evaluate.
    fast: FastCode | None
    #: Why only the complete engine can evaluate, or "".
    complete_only_reason: str = ""
    #: Whether it has a pattern that needs backtracking, so that its time has no bound.
    backtracking: bool = False
    #: What is questionable about the schema.
    warnings: tuple[SchemaWarning, ...] = ()
    #: About how many bytes its compiled schema takes once both engines have been used.
    memory: int = 0
    #: The size of its patterns, in RE2 instructions.
    pattern_instructions: int = 0


def compile_schema(source: SchemaSource, limits: Limits) -> Artifact:
    """Return the artifact of the schema of *source*.

    Raises:
        RequestError: the schema is not admitted; see `admit_schema`.
    """
    admitted = admit_schema(source, limits)
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
        return generate_code(Lowered({"d0": body}), limits)

    own_dialect = STANDARD_DIALECTS[admitted.context.dialect.draft].name

    def asserts_format(dialect: Dialect, name: str) -> bool:
        if not (source.assert_formats or dialect.asserts_format):
            return False
        standard = STANDARD_DIALECTS[dialect.draft].name
        if format_checker(name, standard) is None:
            return False
        if standard != own_dialect:
            # The generated code has formats of one dialect only.
            raise CannotLowerError("a format of another dialect")
        return True

    return generate_code(lower_schema(admitted.survey, asserts_format), limits)


_INLINE_BYTES = 32 << 10
"""The most text, in bytes, that is decoded again within some milliseconds."""


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
        # Engines do not cross process borders.
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
        """Whether it must be evaluated in a process that can be killed."""
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
        """Whether the complete engine exists, or is created within some milliseconds."""
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


# What the parts that only use creates take, in bytes, by experiment
# (tests/core/test_memory.py): the objects of a schema and of its two engines, a function of
# the generated code, a subschema and a keyword that the complete engine prepared, and an
# entry of its index of resources.
_SCHEMA_BYTES = 2_500
_FUNCTION_BYTES = 200
_SUBSCHEMA_BYTES = 190
_KEYWORD_BYTES = 95
_RESOURCE_BYTES = 500


def _estimate_memory(
    source: SchemaSource, admitted: AdmittedSchema, fast: FastCode | None, warnings: object
) -> int:
    """Return about how many bytes the compiled schema takes once all of it has been used.

    That is source, artifact, the fast engine, the complete engine and the states of
    patterns. Engines grow while they are used, so the sum is what they grow to.
    """
    context = admitted.context
    memory = _SCHEMA_BYTES + admitted.pattern_memory
    memory += measure_memory(source, warnings, context.schema, context.documents)
    if fast is not None:
        # The artifact crosses to another process: its constants are copies.
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
