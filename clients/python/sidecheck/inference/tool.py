"""The decorator that makes a tool of a function."""

import inspect
import sys
import time
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeVar, overload

from sidecheck.inference.configs import OnUnsupported, Options
from sidecheck.inference.function_tools import FunctionTool, as_tool
from sidecheck.inference.inferring import infer

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
    validate: bool = False,
    on_unsupported: OnUnsupported = "error",
) -> Callable[[F], F]: ...


def tool(function: F | None = None, /, **options: Any) -> F | Callable[[F], F]:
    """Make a tool of a function, as ``@tool`` or ``@tool(...)``.

    The function stays one, with the same signature, and a coroutine function if it was.
    Its definition is inferred here and now, once.

    Args:
        function: The function, if there are no options.
        **options: These.
            ``name``, ``description``: The function's own, and its docstring without
            sections, if they are not given.
            ``category``: A word for those who sort tools; no part of the definition.
            ``input_schema``, ``output_schema``: Taken as they are, instead of inferred.
            ``title``, ``read_only``, ``destructive``, ``idempotent``, ``open_world``: The
            annotations of MCP's ``Tool``. What is not set is not told, and the protocol's
            own defaults hold.
            ``inject_root``: The server fills in ``project_root``.
            ``inject_settings``: Settings that the server fills in; ``git.path`` is the
            parameter ``git_path``.
            ``autowire``: Parameters of types given to `injectable` are filled in.
            ``injected``: Further types, and names of parameters, that are filled in.
            ``retry_on``, ``max_attempts``: After these exceptions alone, the function is
            tried again, up to so many times in all.
            ``cache_ttl``, ``cache_size``, ``clock``: Results are kept for so many seconds of
            the clock, by arguments; at most so many of them. Each call with the same
            arguments gets the same object.
            ``validate``: Calls are judged before they run.
            ``on_unsupported``: An annotation that has no schema is an error ("error"), or
            admits anything with a warning ("any").

    Raises:
        InferenceError: The function is no tool as it stands.
        ValueError: An option is of another kind than these.
        TypeError: It is no function, or there is no such option.
    """
    if function is not None:
        made: F = _made(function, _options(), sys._getframe(1))  # noqa: SLF001  (names of the caller)
        return made
    settled = _options(**options)

    def decorate(decorated: F) -> F:
        result: F = _made(decorated, settled, sys._getframe(1))  # noqa: SLF001  (names of the caller)
        return result

    return decorate


def infer_tool(target: Callable[..., Any], /, **options: Any) -> Callable[..., Any]:
    """Return a function that is a tool and calls *target*, which stays as it is.

    A target may be anything that can be called: a bound method, a ``functools.partial``,
    an object with ``__call__``. The options are those of `tool`, and so are the errors.
    """
    made: Callable[..., Any] = _made(target, _options(**options), sys._getframe(1))  # noqa: SLF001
    return made


def _options(
    *,
    retry_on: type[Exception] | tuple[type[Exception], ...] | None = (),
    inject_settings: Iterable[str] | None = (),
    injected: Iterable[str | type] = (),
    clock: Callable[[], float] = time.monotonic,
    **others: Any,
) -> Options:
    unknown = others.keys() - {one.name for one in fields(Options)}
    if unknown:
        raise TypeError(f"a tool has no option {min(unknown)!r}")
    return Options(
        retry_on=_several(
            "retry_on",
            (retry_on,) if isinstance(retry_on, type) else retry_on,
            "classes under Exception",
            lambda one: isinstance(one, type) and issubclass(one, Exception),
        ),
        inject_settings=_several(
            "inject_settings",
            inject_settings,
            "the names of settings",
            lambda one: isinstance(one, str),
        ),
        injected=_several(
            "injected",
            injected,
            "types and names of parameters",
            lambda one: isinstance(one, str | type),
        ),
        clock=clock,
        **others,
    )


def _several(option: str, given: Any, what: str, fits: Callable[[Any], bool]) -> tuple[Any, ...]:
    """Return *given* as a tuple; a single string is not taken for its letters.

    Raises:
        ValueError: It is not several of *what*.
    """
    if given is None:
        return ()
    if isinstance(given, str | type) or not isinstance(given, Iterable):
        raise ValueError(f"{option} is a list of {what}, not {given!r:.100}")  # noqa: TRY004  (as for its parts)
    several = tuple(given)
    for one in several:
        if not fits(one):
            raise ValueError(f"{option} is a list of {what}, and {one!r:.100} is none")
    return several


def _made(target: Any, options: Options, frame: types.FrameType | None) -> Any:
    if isinstance(target, staticmethod | classmethod):
        return type(target)(_made(target.__func__, options, frame))
    if not callable(target) or inspect.isclass(target):
        raise TypeError(f"a tool is made of a function, not of {target!r}{_instead(target)}")
    return as_tool(target, FunctionTool(target, infer(target, options, frame), options))


def _instead(target: Any) -> str:
    """Return what would be right, where one can guess it."""
    if isinstance(target, str):
        return f": the name is an option, as in @tool(name={target!r})"
    if inspect.isclass(target):
        return ": decorate its methods, or a function that makes one"
    return ""
