"""Compiled schemas: schemas that were checked and made ready, the only judges."""

from functools import cached_property

from sidecheck_server.core.compiler.admission import read
from sidecheck_server.core.compiler.compilation import Artifact
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fast import FastEngine
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["CompiledSchema"]

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
        context = read(self.source, self.limits)
        return CompleteEngine(
            context.schema,
            context.dialect,
            context.documents,
            assert_formats=self.source.assert_formats,
            dialect_of=context.dialect_of,
            limits=self.limits,
        )
