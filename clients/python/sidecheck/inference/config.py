"""Options of the tool decorator, and the configuration of a tool."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from sidecheck.inference.errors import Diagnostic

__all__ = ["OnUnsupported", "ToolConfig", "ToolOptions"]

#: Treatment of an annotation that has no JSON Schema.
OnUnsupported: TypeAlias = Literal["error", "any"]

_STRING: Final = ("a string", str)
_BOOLEAN: Final = ("True or False", bool)
_INTEGER: Final = ("an integer", int)
#: Types of options: the description, and the type for isinstance.
_OPTION_TYPES: Final[Mapping[str, tuple[str, Any]]] = {
    "name": _STRING,
    "description": _STRING,
    "category": _STRING,
    "title": _STRING,
    "read_only": _BOOLEAN,
    "destructive": _BOOLEAN,
    "idempotent": _BOOLEAN,
    "open_world": _BOOLEAN,
    "inject_root": _BOOLEAN,
    "autowire": _BOOLEAN,
    "max_attempts": _INTEGER,
    "cache_ttl": ("a number", int | float),
    "cache_size": _INTEGER,
    "validate": _BOOLEAN,
}
_NULLABLE: Final = frozenset(
    {"name", "description", "title", "read_only", "destructive", "idempotent", "open_world"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Options of the decorator; see `sidecheck.inference.tool`."""

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
    validate: bool = True
    on_unsupported: OnUnsupported = "error"

    def __post_init__(self) -> None:
        for option, (type_name, option_type) in _OPTION_TYPES.items():
            value = getattr(self, option)
            if value is None and option in _NULLABLE:
                continue
            # In Python, True is an int as well.
            is_bool = isinstance(value, bool)
            if not isinstance(value, option_type) or (is_bool and option_type is not bool):
                raise ValueError(f"invalid {option} {value!r:.100}; expected {type_name}")
        if self.name == "":
            raise ValueError('invalid name ""; omit it to use the name of the function')
        if self.max_attempts < 1:
            raise ValueError(f"invalid max_attempts {self.max_attempts}; expected at least 1")
        # NaN is not at least 0.
        if not self.cache_ttl >= 0:
            raise ValueError(f"invalid cache_ttl {self.cache_ttl}; expected at least 0 seconds")
        if self.cache_size < 1:
            raise ValueError(f"invalid cache_size {self.cache_size}; expected at least 1")
        if self.on_unsupported not in {"error", "any"}:
            raise ValueError(
                f'invalid on_unsupported {self.on_unsupported!r}; expected one of "error", "any"'
            )

    @property
    def annotations(self) -> dict[str, Any]:
        """The ``annotations`` of the definition: the options that were set."""
        annotations = {
            "title": self.title,
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }
        return {name: value for name, value in annotations.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ToolConfig:
    """Configuration of a tool: its definition, and the options of its calls."""

    name: str
    #: The description, or "".
    description: str
    category: str
    #: ``title`` and the hints of MCP's ``ToolAnnotations`` that were set.
    annotations: dict[str, Any]
    input_schema: dict[str, Any]
    #: The canonical schema, with any root; None if results have no schema.
    output_schema: dict[str, Any] | None
    inject_root: bool
    inject_settings: tuple[str, ...]
    autowire: bool
    #: Names of the parameters that the server injects.
    injected: tuple[str, ...]
    retry_on: tuple[type[Exception], ...]
    max_attempts: int
    #: In seconds; 0 disables the cache.
    cache_ttl: float
    validate: bool
    #: Warnings, in the order of the parameters.
    diagnostics: tuple[Diagnostic, ...]
    #: Digest of the definition, equal to the digest that the service computes.
    fingerprint: str
    #: Name and version of the package that generated the schemas.
    generator: str

    @property
    def definition(self) -> dict[str, Any]:
        """The definition as in a ``tools/list`` result; not a copy."""
        definition = {
            "name": self.name,
            "description": self.description or None,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": self.annotations or None,
        }
        return {name: value for name, value in definition.items() if value is not None}
