"""Tools made of functions: validation, injection and execution of calls."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sidecheck.inference.arguments import ValidArguments, convert_arguments, validate_values
from sidecheck.inference.config import ToolConfig, ToolOptions
from sidecheck.inference.execution import wrap_async, wrap_sync
from sidecheck.inference.infer import InferredTool
from sidecheck.inference.injection import Resources
from sidecheck.inference.output_schema import OutputModel
from sidecheck.tool_functions import ATTRIBUTE

__all__ = ["FunctionTool", "make_tool", "tool_of"]


class FunctionTool:
    """A tool, stored in an attribute of its function."""

    def __init__(
        self, target: Callable[..., Any], inferred: InferredTool, options: ToolOptions
    ) -> None:
        self.config: ToolConfig = inferred.config
        self.output_model: OutputModel | None = inferred.output_model
        self.is_async = _is_async(target)
        #: Runs the function with converted values.
        self.run = (wrap_async if self.is_async else wrap_sync)(target, options)
        self._input_model = inferred.input_model
        self._arguments = inferred.signature.arguments
        self._injections = inferred.signature.injections
        self._signature = inspect.signature(target)
        # Python would pass a field as the default; its value is produced here instead.
        self._default_fields = {
            argument.name: argument.default_field
            for argument in self._arguments
            if argument.default_field is not None
        }

    @property
    def definition(self) -> dict[str, Any]:
        """The canonical definition; not a copy."""
        return self.config.definition

    @property
    def passes_through(self) -> bool:
        """Whether calls in Python reach the function unchanged."""
        return not self.config.validate and not self._default_fields

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """Return the bound arguments of a call in Python, with defaults of fields, validated.

        Raises:
            TypeError: they do not match the signature.
            InvalidArguments: the tool validates, and they violate the input schema.
        """
        bound = self._signature.bind_partial(*args, **kwargs)
        for name, default_field in self._default_fields.items():
            if name not in bound.arguments:
                bound.arguments[name] = default_field.get_default(call_default_factory=True)
        bound = self._signature.bind(*bound.args, **bound.kwargs)
        if self.config.validate and self._input_model is not None:
            parameter = self._input_model.signature.additional
            additional = bound.arguments.get(parameter.name, {}) if parameter else {}
            names = {argument.name for argument in self._arguments}
            given = {name: value for name, value in bound.arguments.items() if name in names}
            values = validate_values(self.config.name, self._input_model, {**given, **additional})
            bound.arguments.update({name: value for name, value in values.items() if name in names})
            if parameter and additional:
                bound.arguments[parameter.name] = {name: values[name] for name in additional}
        return bound

    def validate(self, arguments: Mapping[str, Any]) -> ValidArguments:
        """Return the values of a call's *arguments*, decoded JSON.

        Raises:
            InvalidArguments: they violate the input schema.
            TypeError: the input schema was given, not inferred.
        """
        if self._input_model is None:
            raise TypeError(
                f"the input schema of {self.config.name!r} was given, not inferred from types;"
                " validate with the service"
            )
        return convert_arguments(self.config.name, self._input_model, arguments)

    def call_values(
        self, arguments: Mapping[str, Any], resources: Resources | None
    ) -> dict[str, Any]:
        """Return the keyword arguments of the function for a call's *arguments*.

        Raises:
            InvalidArguments: the tool validates, and they violate the input schema.
            NotProvided: nothing provides an injected parameter.
        """
        if self.config.validate:
            values = self.validate(arguments).values
        else:
            injected = {injection.name for injection in self._injections}
            names = {argument.wire_name: argument.name for argument in self._arguments}
            by_name = {names.get(name, name): value for name, value in arguments.items()}
            values = {name: value for name, value in by_name.items() if name not in injected}
            for name, default_field in self._default_fields.items():
                if name not in values:
                    values[name] = default_field.get_default(call_default_factory=True)
        for injection in self._injections:
            values.update(injection.resolve(resources))
        return values


def _is_async(target: Callable[..., Any]) -> bool:
    while isinstance(target, functools.partial):
        target = target.func
    if not inspect.isroutine(target):
        target = type(target).__call__
    return inspect.iscoroutinefunction(target)


def make_tool(target: Callable[..., Any], tool: FunctionTool) -> Callable[..., Any]:
    """Return a function with the signature of *target* that holds *tool*."""
    if tool.is_async:

        @functools.wraps(target)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            if tool.passes_through:
                return await tool.run(*args, **kwargs)
            bound = tool.bind(args, kwargs)
            return await tool.run(*bound.args, **bound.kwargs)

        function: Callable[..., Any] = call_async
    else:

        @functools.wraps(target)
        def call(*args: Any, **kwargs: Any) -> Any:
            if tool.passes_through:
                return tool.run(*args, **kwargs)
            bound = tool.bind(args, kwargs)
            return tool.run(*bound.args, **bound.kwargs)

        function = call
    if not hasattr(target, "__name__"):
        function.__name__ = function.__qualname__ = tool.config.name
    setattr(function, ATTRIBUTE, tool)
    return function


def tool_of(function: Callable[..., Any]) -> FunctionTool:
    """Return the tool of *function*.

    Raises:
        TypeError: it has none.
    """
    tool = getattr(function, ATTRIBUTE, None)
    if not isinstance(tool, FunctionTool):
        raise TypeError(f"{function!r} is not a tool: decorate it with @tool()")
    return tool
