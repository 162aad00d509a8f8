"""Inference of a tool from a function."""

import inspect
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sidecheck_docstrings import parse_docstring

from sidecheck.inference.annotations import Scope
from sidecheck.inference.config import ToolConfig, ToolOptions
from sidecheck.inference.diagnostics import FunctionDiagnostics
from sidecheck.inference.errors import Diagnostic, InferenceError
from sidecheck.inference.fingerprints import fingerprint_of
from sidecheck.inference.injection import InjectionRules
from sidecheck.inference.input_schema import InputModel, build_input
from sidecheck.inference.output_schema import OutputModel, build_output
from sidecheck.inference.schema_checks import SchemaChecker
from sidecheck.inference.schema_generator import GENERATOR
from sidecheck.inference.signatures import Signature, read_signature, unwrap_function
from sidecheck.json_copies import NotJson, copy_json
from sidecheck.wrapping import wrapped_property

__all__ = ["InferredTool", "infer"]


@dataclass(frozen=True, slots=True)
class InferredTool:
    """Configuration and models of a tool."""

    config: ToolConfig
    signature: Signature
    #: None if the options have an input schema.
    input_model: InputModel | None
    #: None if the options have an output schema, or results have no schema.
    output_model: OutputModel | None
    #: Checker of arguments for an input schema in the options, or None.
    input_checker: SchemaChecker | None
    #: Checker of results for an output schema in the options, or None.
    output_checker: SchemaChecker | None


# Decision 0041: pydantic describes live types here, and the service reads source text.
def infer(
    target: Callable[..., Any], options: ToolOptions, frame: types.FrameType | None
) -> InferredTool:
    """Infer the tool of *target*, which the code in *frame* makes a tool.

    Raises:
        InferenceError: the signature or the types of *target* cannot be described.
        ValueError: a schema in *options* is not a JSON object, or not a schema of arguments,
            or there is no name.
    """
    function = unwrap_function(target)
    qualified_name = getattr(function, "__qualname__", type(target).__qualname__)
    diagnostics = FunctionDiagnostics(function, qualified_name)
    name = options.name or _name_of(target, function)
    positions = {
        parameter: position
        for position, parameter in enumerate(inspect.signature(target).parameters)
    }
    docstring = parse_docstring(function.__doc__, {*positions, *_parameters_of(function)})
    admit_any = options.on_unsupported == "any"
    warnings: list[Diagnostic] = []

    input_schema, input_checker = _copy_schema(options.input_schema, "input_schema")
    if input_schema is not None and input_schema.get("type") != "object":
        raise ValueError('invalid input_schema; MCP requires "type": "object" at the root')
    signature = read_signature(
        target,
        Scope.of(function, frame),
        InjectionRules(
            options.inject_root, options.inject_settings, options.autowire, options.injected
        ),
        diagnostics,
        # With a schema in the options, the types of the arguments need no schemas.
        injections_only=input_schema is not None,
        without_result=options.output_schema is not None,
        admit_any=admit_any,
    )
    warnings += signature.diagnostics
    input_model = None
    if input_schema is None:
        if docstring.unread and not _admits_more(target):
            message = docstring.describe_unread()
            warnings.append(diagnostics.warning("UNREAD_DOCSTRING", "", message))
        input_model, input_warnings = build_input(
            signature, docstring.parameters, diagnostics, admit_any=admit_any
        )
        input_schema = input_model.schema
        warnings += input_warnings
    output_schema, output_checker = _copy_schema(options.output_schema, "output_schema")
    output_model = None
    if output_schema is not None:
        wrapped_property(output_schema)  # Raises an error if a mark contradicts the schema.
    if output_schema is None:
        try:
            output_model = build_output(signature.result_type, diagnostics)
        except InferenceError as error:
            # Its tool can be called all the same.
            message = f"the result has no output schema: {error.diagnostic.message}"
            warnings.append(diagnostics.warning(error.code, "return", message))
        output_schema = output_model.schema if output_model else None
    warnings.sort(key=lambda warning: positions.get(warning.parameter, len(positions)))
    config = ToolConfig(
        name=name,
        description=docstring.text if options.description is None else options.description,
        category=options.category,
        annotations=options.annotations,
        input_schema=input_schema,
        output_schema=output_schema,
        inject_root=options.inject_root,
        inject_settings=options.inject_settings,
        autowire=options.autowire,
        injected=tuple(injection.name for injection in signature.injections),
        retry_on=options.retry_on,
        max_attempts=options.max_attempts,
        cache_ttl=options.cache_ttl,
        validate=options.validate,
        diagnostics=tuple(warnings),
        fingerprint="",
        generator=GENERATOR,
    )
    config = replace(config, fingerprint=fingerprint_of(config.definition))
    return InferredTool(config, signature, input_model, output_model, input_checker, output_checker)


def _parameters_of(function: Callable[..., Any]) -> Iterable[str]:
    """Return the names of all parameters of *function*; a partial one hides some."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()


def _admits_more(target: Callable[..., Any]) -> bool:
    """Return whether *target* has ``**kwargs``."""
    parameters = inspect.signature(target).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)


def _name_of(target: Callable[..., Any], function: Callable[..., Any]) -> str:
    name: str = getattr(function, "__name__", "")
    if name == "__call__":
        return type(target).__name__
    if not name.isidentifier():
        raise ValueError(f"{name or target!r} is not a name for a tool; pass name=")
    return name


def _copy_schema(
    schema: Mapping[str, Any] | None, option: str
) -> tuple[dict[str, Any], SchemaChecker] | tuple[None, None]:
    """Return a copy of the schema in *option*, and its checker.

    Raises:
        ValueError: *schema* is not a JSON object, or not a schema.
    """
    if schema is None:
        return None, None
    if not isinstance(schema, dict):
        raise ValueError(f"invalid {option} of type {type(schema).__name__}; expected an object")  # noqa: TRY004  (as for its parts)
    try:
        copy: dict[str, Any] = copy_json(schema, option)
    except NotJson as error:
        raise ValueError(str(error)) from None
    return copy, SchemaChecker(copy, option)
