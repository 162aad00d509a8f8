"""Compiled schemas: schemas that were checked and made ready, the only judges."""

from functools import cached_property

from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.fast import FastEngine
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.admission import read
from sidecheck_server.core.schemas.compilation import Artifact
from sidecheck_server.core.schemas.source import SchemaSource

__all__ = ["CompiledSchema"]


class CompiledSchema:
    """A schema that can judge. Immutable but for the engine that it makes when needed."""

    def __init__(self, source: SchemaSource, artifact: Artifact, limits: Limits) -> None:
        self.source = source
        self.artifact = artifact
        self.limits = limits
        self.fast: FastEngine | None = None
        if artifact.fast is not None:
            self.fast = FastEngine(artifact.fast, artifact.dialect, limits)

    @property
    def digest(self) -> str:
        """The digest of the schema."""
        return self.artifact.digest

    @property
    def why_complete(self) -> str:
        """Why only the complete engine may judge, or ""."""
        return self.artifact.why_complete

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
            max_steps=self.limits.steps,
        )
