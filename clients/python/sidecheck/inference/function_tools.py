"""A function that is a tool, with everything that its calls need."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sidecheck.inference.arguments import ValidArguments, valid_arguments, valid_values
from sidecheck.inference.configs import Options, ToolConfig
from sidecheck.inference.inferring import Inferred
from sidecheck.inference.injection import Resources
from sidecheck.inference.outputs import Outputs
from sidecheck.inference.running import run_async, run_sync
from sidecheck.tool_functions import ATTRIBUTE

__all__ = ["FunctionTool", "as_tool", "tool_of"]


class FunctionTool:
    """What hangs on a function that is a tool."""

    def __init__(self, target: Callable[..., Any], inferred: Inferred, options: Options) -> None:
        self.config: ToolConfig = inferred.config
        self.outputs: Outputs | None = inferred.outputs
        self.is_async = _is_async(target)
        #: Runs the function with arguments that are as it takes them.
        self.run = (run_async if self.is_async else run_sync)(target, options)
        self._inferred = inferred
        self._signature = inspect.signature(target)
        # Fields as defaults are made values here: Python would hand over the field.
        self._makers = {
            one.name: one.maker for one in inferred.signature.arguments if one.maker is not None
        }

    @property
    def definition(self) -> dict[str, Any]:
        """The definition in its natural form; not a copy."""
        return self.config.definition

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """Return the arguments of a call in Python: with its fields' defaults, and judged.

        Raises:
            TypeError: They do not fit the signature.
            InvalidArguments: They are judged, and not what the tool takes.
        """
        bound = self._signature.bind_partial(*args, **kwargs)
        for name, maker in self._makers.items():
            if name not in bound.arguments:
                bound.arguments[name] = maker.get_default(call_default_factory=True)
        bound = self._signature.bind(*bound.args, **bound.kwargs)
        inputs = self._inferred.inputs
        if self.config.validate and inputs is not None:
            further = inputs.signature.further
            extra = bound.arguments.get(further.name, {}) if further else {}
            names = {one.name for one in inputs.signature.arguments}
            given = {name: one for name, one in bound.arguments.items() if name in names}
            values = valid_values(self.config.name, inputs, {**given, **extra})
            bound.arguments.update({name: one for name, one in values.items() if name in names})
            if further and extra:
                bound.arguments[further.name] = {name: values[name] for name in extra}
        return bound

    @property
    def passes_through(self) -> bool:
        """Whether a call in Python is handed on as it is."""
        return not self.config.validate and not self._makers

    def judged(self, arguments: Mapping[str, Any]) -> ValidArguments:
        """Return the values for a call's *arguments*, decoded JSON.

        Raises:
            InvalidArguments: They are not what the tool takes.
            TypeError: The tool's input schema was given, not inferred.
        """
        if self._inferred.inputs is None:
            raise TypeError(
                f"the input schema of {self.config.name!r} was given, so the service judges by"
                " it: its function's types say nothing of it"
            )
        return valid_arguments(self.config.name, self._inferred.inputs, arguments)

    def filled(self, arguments: Mapping[str, Any], resources: Resources | None) -> dict[str, Any]:
        """Return what the function is called with for a call's *arguments*.

        Raises:
            InvalidArguments: They are judged, and not what the tool takes.
            NotProvided: Nothing provides a parameter that the server fills in.
        """
        injections = self._inferred.signature.injections
        if self.config.validate:
            values = self.judged(arguments).values
        else:
            injected = {one.name for one in injections}
            names = {one.wire: one.name for one in self._inferred.signature.arguments}
            renamed = {names.get(name, name): one for name, one in arguments.items()}
            values = {name: one for name, one in renamed.items() if name not in injected}
            for name, maker in self._makers.items():
                if name not in values:
                    values[name] = maker.get_default(call_default_factory=True)
        for one in injections:
            values.update(one.fill(resources))
        return values


def _is_async(target: Callable[..., Any]) -> bool:
    while isinstance(target, functools.partial):
        target = target.func
    if not inspect.isroutine(target):
        target = type(target).__call__
    return inspect.iscoroutinefunction(target)


def as_tool(target: Callable[..., Any], tool: FunctionTool) -> Callable[..., Any]:
    """Return a function that is called as *target* is, and is the tool."""
    if tool.is_async:

        @functools.wraps(target)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            if tool.passes_through:
                return await tool.run(*args, **kwargs)
            bound = tool.bound(args, kwargs)
            return await tool.run(*bound.args, **bound.kwargs)

        made: Callable[..., Any] = call_async
    else:

        @functools.wraps(target)
        def call(*args: Any, **kwargs: Any) -> Any:
            if tool.passes_through:
                return tool.run(*args, **kwargs)
            bound = tool.bound(args, kwargs)
            return tool.run(*bound.args, **bound.kwargs)

        made = call
    if not hasattr(target, "__name__"):
        made.__name__ = made.__qualname__ = tool.config.name
    setattr(made, ATTRIBUTE, tool)
    return made


def tool_of(function: Callable[..., Any]) -> FunctionTool:
    """Return the tool that *function* is.

    Raises:
        TypeError: It is none.
    """
    tool = getattr(function, ATTRIBUTE, None)
    if not isinstance(tool, FunctionTool):
        raise TypeError(f"{function!r} is no tool: decorate it with @tool()")
    return tool
