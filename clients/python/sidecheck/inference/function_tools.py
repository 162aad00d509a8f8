"""Tools from functions: validation, injection and execution of calls."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sidecheck.inference.arguments import ValidArguments, convert_arguments, convert_values
from sidecheck.inference.config import ToolConfig, ToolOptions
from sidecheck.inference.errors import ArgumentViolation, InvalidArguments
from sidecheck.inference.execution import wrap_async, wrap_sync
from sidecheck.inference.infer import InferredTool
from sidecheck.inference.injection import Resources
from sidecheck.inference.output_schema import OutputModel
from sidecheck.inference.schema_checks import SchemaChecker
from sidecheck.pointers import as_pointer
from sidecheck.tool_functions import ATTRIBUTE
from sidecheck.values.verdict import Change

__all__ = ["FunctionTool", "PreparedCall", "make_tool", "tool_of"]


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """Arguments for a call of a tool's function."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    #: Changes of the arguments: strings that were decoded as JSON.
    changes: tuple[Change, ...]


class FunctionTool:
    """A tool, stored in an attribute of its function."""

    def __init__(
        self, target: Callable[..., Any], inferred: InferredTool, options: ToolOptions
    ) -> None:
        self.config: ToolConfig = inferred.config
        self.output_model: OutputModel | None = inferred.output_model
        #: The module that defines the function.
        self.module: str = getattr(target, "__module__", None) or type(target).__module__
        self.is_async = _is_async(target)
        #: Runs the function with converted values.
        self.run = (wrap_async if self.is_async else wrap_sync)(target, options)
        self._input_model = inferred.input_model
        self._input_checker = inferred.input_checker
        self._output_checker = inferred.output_checker
        self._arguments = inferred.signature.arguments
        self._injections = inferred.signature.injections
        self._signature = inspect.signature(target)
        # The default in Python is the field object, so its value is computed for each call.
        self._default_fields = {
            argument.name: argument.default_field
            for argument in self._arguments
            if argument.default_field is not None
        }
        #: Whether calls in Python reach the function unchanged.
        self.passes_through = not (
            (self.config.validate and self._input_model) or self._default_fields or self._injections
        )

    @property
    def definition(self) -> dict[str, Any]:
        """The canonical definition; not a copy."""
        return self.config.definition

    @cached_property
    def output_checker(self) -> SchemaChecker:
        """Checker of values against the output schema; only for tools with such a schema.

        Raises:
            ValueError: the schema is broken.
        """
        return self._output_checker or SchemaChecker(
            self.config.output_schema or {}, "output_schema"
        )

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> inspect.BoundArguments:
        """Return the bound arguments of a call from Python, validated and converted.

        Raises:
            TypeError: the arguments do not match the signature.
            InvalidArguments: the tool validates, and the arguments violate its types.
            NotProvided: nothing provides an injected parameter that the call does not pass.
        """
        try:
            bound = self._signature.bind_partial(*args, **kwargs)
        except TypeError as error:
            raise _call_error(self.config.name, error) from None
        for name, default_field in self._default_fields.items():
            if name not in bound.arguments:
                bound.arguments[name] = default_field.get_default(call_default_factory=True)
        missing = [
            injection for injection in self._injections if injection.name not in bound.arguments
        ]
        # Other missing parameters are an error of the call, raised before providers are called.
        placeholders = dict.fromkeys(injection.name for injection in missing)
        try:
            self._signature.bind(*bound.args, **{**bound.kwargs, **placeholders})
        except TypeError as error:
            raise _call_error(self.config.name, error) from None
        if self.config.validate and self._input_model is not None:
            parameter = self._input_model.signature.additional
            additional = bound.arguments.get(parameter.name, {}) if parameter else {}
            names = {argument.name for argument in self._arguments}
            passed = {name: value for name, value in bound.arguments.items() if name in names}
            values = convert_values(self.config.name, self._input_model, {**passed, **additional})
            bound.arguments.update({name: value for name, value in values.items() if name in names})
            if parameter and additional:
                bound.arguments[parameter.name] = {name: values[name] for name in additional}
        for injection in missing:
            bound.arguments.update(injection.resolve(None))
        return bound

    def validate(self, arguments: Mapping[str, Any]) -> ValidArguments:
        """Return the Python values of a call's *arguments*, decoded JSON.

        Raises:
            InvalidArguments: the arguments violate the input schema.
        """
        if self._input_checker is not None:
            return self._input_checker.read_arguments(self.config.name, arguments)
        assert self._input_model is not None
        return convert_arguments(self.config.name, self._input_model, arguments)

    def read_call(
        self,
        arguments: Mapping[str, Any],
        resources: Resources | None,
        instance: tuple[Any, ...] = (),
    ) -> PreparedCall:
        """Return the arguments of the function for a call's *arguments*, decoded JSON.

        *instance* has the instance of a bound method.

        Raises:
            InvalidArguments: the tool validates, and the arguments violate the input schema;
                or the function cannot be called with them.
            NotProvided: nothing provides an injected parameter.
        """
        changes: tuple[Change, ...] = ()
        if self.config.validate:
            valid = self.validate(arguments)
            values, changes = dict(valid.values), valid.changes
        else:
            names = {argument.wire_name: argument.name for argument in self._arguments}
            values = {names.get(name, name): value for name, value in arguments.items()}
        if not (self.config.validate and self._input_model):
            injected = {injection.name for injection in self._injections}
            values = {name: value for name, value in values.items() if name not in injected}
            for name, default_field in self._default_fields.items():
                if name not in values:
                    values[name] = default_field.get_default(call_default_factory=True)
            self._check_names(values, injected, len(instance))
        for injection in self._injections:
            values.update(injection.resolve(resources))
        return PreparedCall(*self._as_call(values, instance), changes)

    def _parameters(self, instances: int) -> list[inspect.Parameter]:
        return list(self._signature.parameters.values())[instances:]

    def _check_names(self, values: dict[str, Any], injected: set[str], instances: int) -> None:
        """Check *values* by the names of the function's parameters.

        Raises:
            InvalidArguments: *values* has an unknown name, or lacks a required one.
        """
        parameters = [
            parameter
            for parameter in self._parameters(instances)
            if parameter.kind is not inspect.Parameter.VAR_POSITIONAL
        ]
        is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
        named = {p.name: p for p in parameters if p.kind is not p.VAR_KEYWORD}
        unknown = [] if is_open else [name for name in values if name not in named]
        missing = [
            name
            for name, parameter in named.items()
            if parameter.default is parameter.empty and name not in values and name not in injected
        ]
        violations = [ArgumentViolation("", f"{name!r} is required") for name in missing]
        violations += [
            ArgumentViolation(as_pointer((name,)), "unknown argument") for name in unknown
        ]
        if violations:
            raise InvalidArguments(self.config.name, tuple(violations))

    def _as_call(
        self, values: dict[str, Any], instance: tuple[Any, ...]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return *values* as positional and keyword arguments."""
        args = [*instance]
        for parameter in self._parameters(len(instance)):
            if parameter.kind is not parameter.POSITIONAL_ONLY or parameter.name not in values:
                break
            args.append(values.pop(parameter.name))
        return tuple(args), values


def _is_async(target: Callable[..., Any]) -> bool:
    while isinstance(target, functools.partial):
        target = target.func
    if not inspect.isroutine(target):
        target = type(target).__call__
    return inspect.iscoroutinefunction(target)


def _call_error(tool: str, error: TypeError) -> TypeError:
    """Return *error* of a signature with the name of the *tool*."""
    return TypeError(f"{tool}() {error}")


def make_tool(target: Callable[..., Any], tool: FunctionTool) -> Callable[..., Any]:
    """Return a function with the signature of *target* and the attribute for *tool*."""
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
        TypeError: *function* is not a tool.
    """
    tool = getattr(function, ATTRIBUTE, None)
    if not isinstance(tool, FunctionTool):
        raise TypeError(f"{function!r} is not a tool: decorate it with @tool()")
    return tool
