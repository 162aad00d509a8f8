"""Parameters that the server fills in, and that are no arguments of a call."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Protocol, TypeVar, get_args, get_origin

from sidecheck.inference.annotations import Scope, underlying

__all__ = [
    "Injected",
    "Injection",
    "Injections",
    "NotProvided",
    "Resources",
    "SettingSource",
    "injectable",
]

T = TypeVar("T")

#: Classes that are known by name: what frameworks call the context of a request.
_CONTEXTS: Final = frozenset(
    {
        "AgentContext",
        "Context",
        "Request",
        "RunContext",
        "RunContextWrapper",
        "ServerSession",
        "ToolContext",
    }
)
#: Those of which a class under one is one too. Protocols call data requests: MCP does.
_INHERITED: Final = _CONTEXTS - {"Request"}
#: What frameworks call their marks of such parameters.
_MARKS: Final = frozenset({"CurrentContext", "Depends", "InjectedToolArg", "Resolve"})
#: Classes that autowiring knows by name, registered or not.
_WIRED: Final = frozenset({"Settings", "ConfigPaths"})
_ROOT: Final = "project_root"

_providers: dict[type, Callable[[], Any] | None] = {}


class Resources(Protocol):
    """Where a server's own things come from when a tool is called."""

    def resolve(self, wanted: type[Any], /) -> Any:
        """Return the one of type *wanted*.

        Raises:
            LookupError: There is none; a registered provider or the parameter's own
                default stands in.
        """


class SettingSource(Protocol):
    """What `Resources` give when settings are wanted."""

    def get(self, name: str, /) -> Any:
        """Return the setting with a name like ``git.path``."""


class NotProvided(LookupError):
    """A parameter is filled in by the server, and nothing provides it."""


class _Marker:
    """Says of a parameter that it is no argument."""


#: Says of a parameter that it is no argument: ``Annotated[T, Injected]``, or as the
#: default ``Injected()``.
Injected: Final[Any] = _Marker


def injectable(wanted: type[T], provider: Callable[[], T] | None = None) -> type[T]:
    """Have parameters of type *wanted*, or of a class under it, filled in, and return it.

    It holds for tools that are made afterwards, unless with ``autowire=False``. The
    *provider* is called for each call of a tool whose resources have none.
    """
    _providers[wanted] = provider
    return wanted


@dataclass(frozen=True, slots=True)
class Injection:
    """One parameter that the server fills in."""

    name: str
    #: The type to ask for; ``object`` if it is not known.
    wanted: type[Any]
    #: The setting to ask for, or "".
    setting: str = ""
    #: Whether the function has something of its own in its place.
    optional: bool = False

    def fill(self, resources: Resources | None) -> dict[str, Any]:
        """Return the parameter with its value; nothing where the function's own stands in.

        Raises:
            NotProvided: Nothing provides it.
        """
        try:
            if resources is not None:
                found = resources.resolve(self.wanted)
                return {self.name: found.get(self.setting) if self.setting else found}
        except LookupError:
            pass
        provider = next((_providers[one] for one in _mro(self.wanted) if _providers.get(one)), None)
        if provider is not None:
            return {self.name: provider()}
        if self.optional:
            return {}
        raise NotProvided(
            f"nothing provides {self.name!r}, of type {self.wanted.__name__}: give resources"
            " that resolve it, or a provider to injectable()"
        )


@dataclass(frozen=True, slots=True)
class Injections:
    """Tells which parameters the server fills in."""

    #: Whether ``project_root`` is one.
    root: bool = False
    #: Settings like ``git.path``; the parameter for it is ``git_path``.
    settings: tuple[str, ...] = ()
    #: Whether types given to `injectable` are known.
    autowire: bool = True
    #: Further parameters by name, and types.
    injected: tuple[str | type, ...] = ()
    _by_setting: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        names = {setting.replace(".", "_"): setting for setting in self.settings}
        object.__setattr__(self, "_by_setting", names)

    def of(self, parameter: inspect.Parameter, scope: Scope) -> Injection | None:
        """Return how *parameter* is filled in, or None if it is an argument."""
        name, default = parameter.name, parameter.default
        optional = default is not inspect.Parameter.empty and not _is_mark(default)
        if name in self._by_setting:
            return Injection(name, SettingSource, self._by_setting[name], optional)
        try:
            annotation = scope.resolve(parameter.annotation)
        except (NameError, SyntaxError, TypeError, AttributeError):
            annotation = None
        wanted = underlying(annotation)
        known = wanted if isinstance(wanted, type) else object
        if self.root and name == _ROOT:
            return Injection(name, Path, "", optional)
        if (
            name in self.injected
            or _is_mark(default)
            or _is_marked(annotation)
            or (self._wires(known) if annotation is not None else _is_context(parameter))
        ):
            return Injection(name, known, "", optional)
        return None

    def _wires(self, wanted: type) -> bool:
        given = tuple(one for one in self.injected if isinstance(one, type))
        if wanted in given:
            return True
        known = _CONTEXTS | _WIRED if self.autowire else _CONTEXTS
        if _is_called(wanted, known) or any(_is_called(one, _INHERITED) for one in _mro(wanted)):
            return True
        return self.autowire and any(one in _providers for one in _mro(wanted))


def _mro(wanted: type) -> Iterable[type]:
    return getattr(wanted, "__mro__", (wanted,))


def _is_called(wanted: type, names: frozenset[str]) -> bool:
    """Say whether a class has one of *names*, and is no caller's.

    pydantic makes a class of its own for a generic one with its parameters.
    """
    return wanted.__name__.partition("[")[0] in names and not _is_data(wanted)


def _is_data(wanted: type) -> bool:
    """Say whether a class that is called as a context is a caller's: its fields are data."""
    framework = wanted.__module__.partition(".")[0] in {"fastmcp", "mcp"} or any(
        one.__name__ == "BaseSettings" for one in _mro(wanted)
    )
    described = ("__pydantic_fields__", "__dataclass_fields__", "__required_keys__")
    return not framework and any(hasattr(wanted, one) for one in described)


def _is_context(parameter: inspect.Parameter) -> bool:
    """Say whether the text of an annotation that cannot be resolved names a context.

    Such names are often imported for type checkers alone.
    """
    text = parameter.annotation
    if not isinstance(text, str):
        return False
    return text.partition("[")[0].partition("|")[0].strip().rpartition(".")[2] in _CONTEXTS


def _is_marked(annotation: Any) -> bool:
    if get_origin(annotation) is not Annotated:
        return False
    return any(_is_mark(one) for one in get_args(annotation)[1:])


def _is_mark(value: Any) -> bool:
    kind = value if isinstance(value, type) else type(value)
    return kind is _Marker or kind.__name__.lstrip("_") in _MARKS
