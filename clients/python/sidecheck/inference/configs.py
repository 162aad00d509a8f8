"""What was said of a tool, and what was made of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from sidecheck.inference.errors import Diagnostic

__all__ = ["Options", "ToolConfig"]

OnUnsupported: TypeAlias = Literal["error", "any"]

_TEXT: Final = ("a string", str)
_ANSWER: Final = ("True or False", bool)
_COUNT: Final = ("an integer", int)
#: What options are, in words and for isinstance; None is what was not said.
_KINDS: Final[Mapping[str, tuple[str, Any]]] = {
    "name": _TEXT,
    "description": _TEXT,
    "category": _TEXT,
    "title": _TEXT,
    "read_only": _ANSWER,
    "destructive": _ANSWER,
    "idempotent": _ANSWER,
    "open_world": _ANSWER,
    "inject_root": _ANSWER,
    "autowire": _ANSWER,
    "max_attempts": _COUNT,
    "cache_ttl": ("a number", int | float),
    "cache_size": _COUNT,
    "validate": _ANSWER,
}
_UNSAID: Final = frozenset(
    {"name", "description", "title", "read_only", "destructive", "idempotent", "open_world"}
)


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
        for option, (said, kind) in _KINDS.items():
            value = getattr(self, option)
            if value is None and option in _UNSAID:
                continue
            # True is an integer to Python, and none to people.
            if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
                raise ValueError(f"{option} is {said}, not {value!r:.100}")
        if self.name == "":
            raise ValueError("name is empty: leave it out for the function's own")
        if self.max_attempts < 1:
            raise ValueError(f"max_attempts is at least 1, not {self.max_attempts}")
        # NaN is not at least anything.
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
