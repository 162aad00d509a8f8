"""Injection of parameters that are not arguments of a call."""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Protocol, TypeVar, get_args, get_origin

from sidecheck.inference.annotations import Scope, underlying_class

__all__ = [
    "Injected",
    "Injection",
    "InjectionRules",
    "NotProvided",
    "Resources",
    "SettingSource",
    "injectable",
]

T = TypeVar("T", bound=type[Any])

#: Class names of request contexts in frameworks.
_CONTEXT_NAMES: Final = frozenset(
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
#: Classes whose derived classes are injected too. Without Request, since protocols such as MCP
#: use that name for data.
_INHERITED_NAMES: Final = _CONTEXT_NAMES - {"Request"}
#: Class names of markers for injected parameters in frameworks.
_MARKER_NAMES: Final = frozenset({"CurrentContext", "Depends", "InjectedToolArg", "Resolve"})
#: Class names that autowiring injects, registered or not.
_AUTOWIRED_NAMES: Final = frozenset({"Settings", "ConfigPaths"})
_ROOT_PARAMETER: Final = "project_root"

#: Files and folders that identify the root of a project.
PROJECT_FILES: Final = (
    "pyproject.toml",
    "setup.py",
    "package.json",
    "go.mod",
    "Cargo.toml",
    ".git",
)
_REMEDY: Final = (
    "register how to make it once with injectable({name}, provider), pass resources that resolve"
    " {name} to call_tool, or pass the parameter in a call of the function"
)

_providers: dict[type, Callable[[], Any] | None] = {}


class Resources(Protocol):
    """Source of the server's objects for a call of a tool."""

    def resolve(self, resource_type: type[Any], /) -> Any:
        """Return the object of type *resource_type*.

        Raises:
            LookupError: there is no such object; a registered provider or the parameter's
                default is used instead.
        """


class SettingSource(Protocol):
    """Source of settings, an object that `Resources` resolve."""

    def get(self, name: str, /) -> Any:
        """Return the setting with a name like ``git.path``, or None if it is not set."""


class NotProvided(LookupError):
    """Nothing provides a parameter that the server injects."""


class _Marker:
    """Marker of an injected parameter."""


#: Marks an injected parameter: ``Annotated[T, Injected]``, or the default ``Injected()``.
Injected: Final[Any] = _Marker


def injectable(injected_type: T, provider: Callable[[], Any] | None = None) -> T:
    """Inject parameters of *injected_type* or of a derived class, and return the type.

    This affects tools that are created afterwards, except with ``autowire=False``. *provider*
    is called for each call of a tool whose resources have no such object.
    """
    _providers[injected_type] = provider
    return injected_type


def find_project_root() -> Path:
    """Return the nearest folder from the working directory upward with a project file.

    Raises:
        LookupError: there is no such folder.
    """
    working_folder = Path.cwd()
    for folder in (working_folder, *working_folder.parents):
        if any((folder / name).exists() for name in PROJECT_FILES):
            return folder
    raise LookupError("no project file")


@dataclass(frozen=True, slots=True)
class Injection:
    """An injected parameter."""

    name: str
    #: The type to resolve; ``object`` if it is unknown.
    resource_type: type[Any]
    #: Name of the setting to read, or "".
    setting: str = ""
    #: Whether the parameter has a default.
    optional: bool = False
    #: Whether the parameter is the root of the project, and whether it is annotated as ``str``.
    root: bool = False
    root_as_text: bool = False

    def resolve(self, resources: Resources | None) -> dict[str, Any]:
        """Return the parameter with its value, or {} to use its default.

        The value comes from *resources*, else from a provider given to `injectable`, else, for
        the root of the project, from `find_project_root`.

        Raises:
            NotProvided: nothing provides the parameter.
        """
        try:
            if resources is not None:
                return {self.name: self._read(resources.resolve(self.resource_type))}
        except LookupError:
            pass
        providers = (_providers.get(base) for base in _mro(self.resource_type))
        provider = next(filter(None, providers), None)
        try:
            if provider is not None:
                return {self.name: self._read(provider())}
            if self.root:
                root = find_project_root()
                return {self.name: str(root) if self.root_as_text else root}
        except LookupError:
            pass
        if self.optional:
            return {}
        raise NotProvided(self._describe_failure())

    def _read(self, resource: Any) -> Any:
        """Return *resource*, or the setting in it.

        Raises:
            LookupError: the setting is not set.
        """
        if not self.setting:
            return resource
        value = resource.get(self.setting)
        if value is None:
            raise LookupError(self.setting)
        return value

    def _describe_failure(self) -> str:
        name = self.resource_type.__name__
        remedy = _REMEDY.format(name=name)
        if self.root:
            files = ", ".join(PROJECT_FILES)
            return (
                f"nothing provides parameter {self.name!r}: no folder from {Path.cwd()} upward has"
                f" one of {files}; {remedy}"
            )
        if self.setting:
            return (
                f"nothing provides parameter {self.name!r}, the setting {self.setting!r}; {remedy},"
                " where the source of settings has a method get(name)"
            )
        return f"nothing provides parameter {self.name!r} of type {name}; {remedy}"


@dataclass(frozen=True, slots=True)
class InjectionRules:
    """Rules that decide which parameters of a function are injected."""

    #: Whether ``project_root`` is injected.
    root: bool = False
    #: Settings like ``git.path``, whose parameter is ``git_path``.
    settings: tuple[str, ...] = ()
    #: Whether types given to `injectable` are injected.
    autowire: bool = True
    #: Further parameter names and types.
    injected: tuple[str | type, ...] = ()
    _settings_by_parameter: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        settings = {setting.replace(".", "_"): setting for setting in self.settings}
        object.__setattr__(self, "_settings_by_parameter", settings)

    def injection_of(self, parameter: inspect.Parameter, scope: Scope) -> Injection | None:
        """Return the injection of *parameter*, or None if it is an argument."""
        name, default = parameter.name, parameter.default
        optional = default is not inspect.Parameter.empty and not _is_marker(default)
        if name in self._settings_by_parameter:
            return Injection(name, SettingSource, self._settings_by_parameter[name], optional)
        try:
            annotation = scope.resolve(parameter.annotation)
        except (NameError, SyntaxError, TypeError, AttributeError):
            annotation = None
        underlying = underlying_class(annotation)
        resource_type = underlying if isinstance(underlying, type) else object
        if self.root and name == _ROOT_PARAMETER:
            return Injection(name, Path, "", optional, root=True, root_as_text=resource_type is str)
        if (
            name in self.injected
            or _is_marker(default)
            or _has_marker(annotation)
            or (
                self._injects_type(resource_type)
                if annotation is not None
                else _names_context(parameter)
            )
        ):
            return Injection(name, resource_type, "", optional)
        return None

    def _injects_type(self, resource_type: type) -> bool:
        if any(resource_type is injected for injected in self.injected):
            return True
        names = _CONTEXT_NAMES | _AUTOWIRED_NAMES if self.autowire else _CONTEXT_NAMES
        if _is_injected_class(resource_type, names):
            return True
        if any(_is_injected_class(base, _INHERITED_NAMES) for base in _mro(resource_type)):
            return True
        return self.autowire and any(base in _providers for base in _mro(resource_type))


def _mro(cls: type) -> Iterable[type]:
    return getattr(cls, "__mro__", (cls,))


def _is_injected_class(cls: type, names: frozenset[str]) -> bool:
    """Return whether a class has one of *names* and is not a class of data.

    Pydantic creates a separate class for a generic class with type parameters, whose name has
    these in brackets.
    """
    return cls.__name__.partition("[")[0] in names and not _is_data_class(cls)


def _is_data_class(cls: type) -> bool:
    """Return whether a class with the name of a context is data of the caller."""
    is_framework = cls.__module__.partition(".")[0] in {"fastmcp", "mcp"} or any(
        base.__name__ == "BaseSettings" for base in _mro(cls)
    )
    attributes = ("__pydantic_fields__", "__dataclass_fields__", "__required_keys__")
    return not is_framework and any(hasattr(cls, attribute) for attribute in attributes)


def _names_context(parameter: inspect.Parameter) -> bool:
    """Return whether an unresolvable annotation names a context.

    Code often imports such names for type checkers only.
    """
    text = parameter.annotation
    if not isinstance(text, str):
        return False
    name = text.partition("[")[0].partition("|")[0].strip().rpartition(".")[2]
    return name in _CONTEXT_NAMES


def _has_marker(annotation: Any) -> bool:
    if get_origin(annotation) is not Annotated:
        return False
    return any(map(_is_marker, get_args(annotation)[1:]))


def _is_marker(value: Any) -> bool:
    cls = value if isinstance(value, type) else type(value)
    return cls is _Marker or cls.__name__.lstrip("_") in _MARKER_NAMES
