"""What was said of a tool, and what was made of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sidecheck.inference.errors import Diagnostic

__all__ = ["Options", "ToolConfig"]

OnUnsupported: TypeAlias = Literal["error", "any"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the decorator was told; see `sidecheck.inference.tool`."""

    name: str | None = None
    description: str | None = None
    category: str = "general"
    title: str | None = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    inject_root: bool = False
    inject_settings: tuple[str, ...] = ()
    autowire: bool = True
    injected: tuple[str | type, ...] = ()
    retry_on: tuple[type[Exception], ...] = ()
    max_attempts: int = 1
    cache_ttl: float = 0.0
    cache_size: int = 128
    clock: Callable[[], float]
    validate: bool = False
    on_unsupported: OnUnsupported = "error"

    def __post_init__(self) -> None:
        for fault in _wrong_types(self):
            raise ValueError(fault)
        if not all(isinstance(one, type) and issubclass(one, Exception) for one in self.retry_on):
            raise ValueError("retry_on is a class of exceptions, or a tuple of them")
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts is at least 1, not {self.max_attempts}")
        if not self.cache_ttl >= 0 or self.cache_size < 1:
            raise ValueError("cache_ttl is at least 0 seconds, and cache_size at least 1")
        if self.on_unsupported not in {"error", "any"}:
            raise ValueError(f'on_unsupported is "error" or "any", not {self.on_unsupported!r}')
        if self.validate and self.input_schema is not None:
            raise ValueError(
                "validate judges by the function's own types: leave out input_schema, or let"
                " the service judge by it"
            )

    @property
    def annotations(self) -> dict[str, Any]:
        """What the definition says under ``annotations``: only what was said."""
        told = {
            "title": self.title,
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return {name: value for name, value in told.items() if value is not None}


def _wrong_types(options: Options) -> Iterator[str]:
    for name in ("name", "description", "title"):
        value = getattr(options, name)
        if not isinstance(value, str | None):
            yield f"{name} is text, not of type {type(value).__name__}"
    for name in ("read_only", "destructive", "idempotent", "open_world"):
        value = getattr(options, name)
        if not isinstance(value, bool | None):
            yield f"{name} is True or False, or None if nothing is said, not {value!r}"


@dataclass(frozen=True, slots=True)
class ToolConfig:
    """A tool: its definition, and how it is called."""

    name: str
    #: "" if nobody described it.
    description: str
    category: str
    #: ``title`` and the hints of MCP's ``ToolAnnotations`` that were set.
    annotations: dict[str, Any]
    input_schema: dict[str, Any]
    #: In its natural form, with any root; None if nothing is said of results.
    output_schema: dict[str, Any] | None
    inject_root: bool
    inject_settings: tuple[str, ...]
    autowire: bool
    #: The parameters that the server fills in.
    injected: tuple[str, ...]
    retry_on: tuple[type[Exception], ...]
    max_attempts: int
    cache_ttl: float
    validate: bool
    #: Warnings, in the order of the parameters.
    diagnostics: tuple[Diagnostic, ...]
    #: The digest of the definition: that by which the service knows it, too.
    fingerprint: str
    #: What wrote the schemas, and its version.
    generator: str

    @property
    def definition(self) -> dict[str, Any]:
        """The definition as in a ``tools/list`` answer; not a copy."""
        told = {
            "name": self.name,
            "description": self.description or None,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": self.annotations or None,
        }
        return {name: value for name, value in told.items() if value is not None}
