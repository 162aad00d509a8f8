"""The decorator that turns a function into a tool."""

import inspect
import sys
import time
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeVar, overload

from sidecheck.inference.config import OnUnsupported, ToolOptions
from sidecheck.inference.function_tools import FunctionTool, make_tool
from sidecheck.inference.infer import infer

__all__ = ["infer_tool", "tool"]

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F, /) -> F: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    category: str = "general",
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
    title: str | None = None,
    read_only: bool | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    inject_root: bool = False,
    inject_settings: Iterable[str] = (),
    autowire: bool = True,
    injected: Iterable[str | type] = (),
    retry_on: type[Exception] | tuple[type[Exception], ...] = (),
    max_attempts: int = 1,
    cache_ttl: float = 0.0,
    cache_size: int = 128,
    clock: Callable[[], float] = time.monotonic,
    validate: bool = True,
    on_unsupported: OnUnsupported = "error",
) -> Callable[[F], F]: ...


def tool(function: F | None = None, /, **options: Any) -> F | Callable[[F], F]:
    """Turn a function into a tool, as ``@tool`` or ``@tool(...)``.

    The result is a function of the same kind with the same signature. The definition is
    inferred once, when the function is decorated.

    Args:
        function: The function, if there are no options.
        **options: The following.
            ``name``, ``description``: By default, the name of the function, and its docstring
            without sections.
            ``category``: Groups tools for display; not part of the definition.
            ``input_schema``, ``output_schema``: Used unchanged instead of inferred ones. The
            annotations that they replace need no JSON Schema.
            ``title``, ``read_only``, ``destructive``, ``idempotent``, ``open_world``: The
            annotations of MCP's ``Tool``. Options that are not set are omitted, so that the
            defaults of the protocol apply.
            ``inject_root``: Inject the parameter ``project_root``. Its value is from resources
            or a provider of ``Path``, or else the nearest folder from the working directory
            upward with a ``pyproject.toml`` or another project file.
            ``inject_settings``: Settings to inject; ``git.path`` is the parameter
            ``git_path``.
            ``autowire``: Inject parameters of types given to `injectable`.
            ``injected``: Further types and parameter names to inject.
            ``retry_on``, ``max_attempts``: Retry after these exceptions, up to the total number
            of attempts.
            ``cache_ttl``, ``cache_size``, ``clock``: Cache results by arguments: for how many
            seconds of the clock, and at most how many. Calls with equal arguments get the same
            object.
            ``validate``: Validate the arguments of calls, and convert them to the annotated
            types: models, dataclasses, dates, enumerations. With False the function gets the
            values unchanged. With an ``input_schema``, only that schema validates, only calls
            by `call_tool` are validated, and nothing is converted.
            ``on_unsupported``: For an annotation without a JSON Schema, raise an error
            ("error") or admit any value with a warning ("any"), which also omits ``*args``.

    Raises:
        InferenceError: The signature or a type of the function cannot be described.
        ValueError: An option has an invalid value.
        TypeError: *function* is not a function, or an option is unknown.
    """
    if function is not None:
        decorated_function: F = _make(function, _build_options(), sys._getframe(1))  # noqa: SLF001  (names of the caller)
        return decorated_function
    tool_options = _build_options(**options)

    def decorate(decorated: F) -> F:
        result: F = _make(decorated, tool_options, sys._getframe(1))  # noqa: SLF001  (names of the caller)
        return result

    return decorate


def infer_tool(target: Callable[..., Any], /, **options: Any) -> Callable[..., Any]:
    """Return a function that is a tool and calls *target*, which is not modified.

    *target* may be any callable: a bound method, a ``functools.partial``, an object with
    ``__call__``. Options and errors are those of `tool`.
    """
    function: Callable[..., Any] = _make(target, _build_options(**options), sys._getframe(1))  # noqa: SLF001
    return function


def _build_options(
    *,
    retry_on: type[Exception] | tuple[type[Exception], ...] | None = (),
    inject_settings: Iterable[str] | None = (),
    injected: Iterable[str | type] = (),
    clock: Callable[[], float] = time.monotonic,
    **others: Any,
) -> ToolOptions:
    unknown = others.keys() - {field.name for field in fields(ToolOptions)}
    if unknown:
        raise TypeError(f"unknown option {min(unknown)!r}")
    return ToolOptions(
        retry_on=_as_tuple(
            "retry_on",
            (retry_on,) if isinstance(retry_on, type) else retry_on,
            "subclasses of Exception",
            lambda item: isinstance(item, type) and issubclass(item, Exception),
        ),
        inject_settings=_as_tuple(
            "inject_settings",
            inject_settings,
            "names of settings",
            lambda item: isinstance(item, str),
        ),
        injected=_as_tuple(
            "injected",
            injected,
            "types and parameter names",
            lambda item: isinstance(item, str | type),
        ),
        clock=clock,
        **others,
    )


def _as_tuple(
    option: str, items: Any, expected: str, is_valid: Callable[[Any], bool]
) -> tuple[Any, ...]:
    """Return *items* as a tuple; reject a string instead of splitting it.

    Raises:
        ValueError: *items* are not a list of *expected*.
    """
    if items is None:
        return ()
    if isinstance(items, str | type) or not isinstance(items, Iterable):
        raise ValueError(f"invalid {option} {items!r:.100}; expected a list of {expected}")  # noqa: TRY004  (as for its items)
    result = tuple(items)
    for item in result:
        if not is_valid(item):
            raise ValueError(f"invalid item {item!r:.100} in {option}; expected {expected}")
    return result


def _make(target: Any, options: ToolOptions, frame: types.FrameType | None) -> Any:
    if isinstance(target, staticmethod | classmethod):
        return type(target)(_make(target.__func__, options, frame))
    if not callable(target) or inspect.isclass(target):
        raise TypeError(f"expected a function, not {target!r}{_remedy(target)}")
    return make_tool(target, FunctionTool(target, infer(target, options, frame), options))


def _remedy(target: Any) -> str:
    """Return a remedy for an invalid target of the decorator, or ""."""
    if isinstance(target, str):
        return f"; the name is an option: @tool(name={target!r})"
    if inspect.isclass(target):
        return "; decorate its methods, or a function that creates one"
    return ""
