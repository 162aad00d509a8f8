"""Compilation: from the bytes of a schema to what can judge.

It takes about a millisecond, or a hundred for a large schema, and holds the
interpreter, so a worker process does it and hands back the `Artifact`, which loads
quickly. What it refuses, it refuses for the same bytes always.
"""

from dataclasses import dataclass
from functools import cached_property

from sidecheck_server.core.compiler.admission import AdmittedSchema, admit_schema, read_source
from sidecheck_server.core.compiler.generation import generate_code
from sidecheck_server.core.compiler.lowering import lower_schema
from sidecheck_server.core.compiler.schema_warnings import SchemaWarning, find_schema_warnings
from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fast import FastCode, FastEngine
from sidecheck_server.core.formats import format_checker
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.canonical import CannotLowerError, Lowered
from sidecheck_server.core.schemas.dialects import STANDARD_DIALECTS, Dialect
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["Artifact", "CompiledSchema", "compile_schema"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """What compilation makes; it can cross a process border."""

    #: The digest of the schema.
    digest: str
    #: The name of the supported dialect that the schema's own is, or builds on.
    dialect: str
    #: Code for the fast engine; None if only the complete engine may judge.
    fast: FastCode | None
    #: Why only the complete engine may judge, or "".
    why_complete: str = ""
    #: Whether it has a pattern whose time nothing bounds.
    backtracking: bool = False
    #: What is odd about the schema.
    remarks: tuple[SchemaWarning, ...] = ()


def compile_schema(source: SchemaSource, limits: Limits) -> Artifact:
    """Return what judges under the schema of *source*.

    Raises:
        Refusal: the schema was not admitted; see `admit_schema`.
    """
    admitted = admit_schema(source, limits)
    context = admitted.context
    digest = digest_of(context.schema, source.documents)
    fast: FastCode | None
    dialect = STANDARD_DIALECTS[context.dialect.draft].name
    try:
        fast, why = _fast_code(admitted, source, limits), ""
    except CannotLowerError as error:
        fast, why = None, error.reason
    remarks = find_schema_warnings(admitted, source, limits)
    return Artifact(digest, dialect, fast, why, admitted.backtracking, remarks)


def _fast_code(admitted: AdmittedSchema, source: SchemaSource, limits: Limits) -> FastCode:
    if admitted.survey is None:
        schema = admitted.context.schema
        accept = Lowered({"d0": {} if schema is True else {"not": {}}})
        return generate_code(accept, limits)

    own = STANDARD_DIALECTS[admitted.context.dialect.draft].name

    def asserted(dialect: Dialect, name: str) -> bool:
        if not (source.assert_formats or dialect.asserts_format):
            return False
        standard = STANDARD_DIALECTS[dialect.draft].name
        if format_checker(name, standard) is None:
            return False
        if standard != own:
            # The code names a format without saying as whose.
            raise CannotLowerError("a format of another dialect")
        return True

    return generate_code(lower_schema(admitted.survey, asserted), limits)


_READ_AT_ONCE = 32 << 10
"""How much text, in bytes, is read again in some milliseconds."""


class CompiledSchema:
    """A schema that can judge. Immutable but for the engines that it makes when needed."""

    def __init__(self, source: SchemaSource, artifact: Artifact, limits: Limits) -> None:
        self.source = source
        self.artifact = artifact
        self.limits = limits

    @property
    def digest(self) -> str:
        """The digest of the schema."""
        return self.artifact.digest

    @property
    def why_complete(self) -> str:
        """Why only the complete engine may judge, or ""."""
        return self.artifact.why_complete

    @property
    def backtracking(self) -> bool:
        """Whether only a process that can be killed may judge."""
        return self.artifact.backtracking

    @cached_property
    def fast(self) -> FastEngine | None:
        """The fast engine, if it can judge; made when it is first asked for."""
        artifact = self.artifact
        if artifact.fast is None:
            return None
        return FastEngine(artifact.fast, artifact.dialect, self.limits)

    @property
    def explains_at_once(self) -> bool:
        """Whether the complete engine is there, or is made in a moment."""
        if "complete" in self.__dict__:
            return True
        documents = sum(len(document.json) for document in self.source.documents)
        return len(self.source.json) + documents <= _READ_AT_ONCE

    @cached_property
    def complete(self) -> CompleteEngine:
        """The complete engine; made for the first payload that needs it."""
        context = read_source(self.source, self.limits)
        return CompleteEngine(
            context.schema,
            context.dialect,
            context.documents,
            assert_formats=self.source.assert_formats,
            dialect_of=context.dialect_of,
            limits=self.limits,
        )
