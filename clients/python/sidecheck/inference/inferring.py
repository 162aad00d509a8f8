"""The definition of a tool out of a function."""

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sidecheck.inference.annotations import Scope
from sidecheck.inference.configs import Options, ToolConfig
from sidecheck.inference.docstrings import docs_of
from sidecheck.inference.errors import Diagnostic, InferenceError
from sidecheck.inference.fingerprints import fingerprint_of
from sidecheck.inference.generator import GENERATOR
from sidecheck.inference.injection import Injections
from sidecheck.inference.inputs import Inputs, inputs_of
from sidecheck.inference.outputs import Outputs, outputs_of
from sidecheck.inference.places import Placed
from sidecheck.inference.signatures import Signature, function_of, signature_of
from sidecheck.json_copies import NotJson, copy_json

__all__ = ["Inferred", "infer"]


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was made of a function."""

    config: ToolConfig
    signature: Signature
    #: None if the input schema was given.
    inputs: Inputs | None
    #: None if the output schema was given, or there is nothing to say of results.
    outputs: Outputs | None


def infer(target: Callable[..., Any], options: Options, frame: types.FrameType | None) -> Inferred:
    """Infer the tool that *target*, made one in *frame*, is.

    Raises:
        InferenceError: It is none as it stands.
        ValueError: A schema in *options* is no JSON object, or none of arguments, or there
            is no name.
    """
    function = function_of(target)
    qualified = getattr(function, "__qualname__", type(target).__qualname__)
    placed = Placed(function, qualified)
    name = options.name or _name_of(target, function)
    places = {one: at for at, one in enumerate(inspect.signature(target).parameters)}
    docs = docs_of(function.__doc__, places)
    anything = options.on_unsupported == "any"
    told: list[Diagnostic] = []

    injections = Injections(
        options.inject_root, options.inject_settings, options.autowire, options.injected
    )
    scope = Scope.of(function, frame)
    # A signature that no schema is made of needs none of its parts to be describable.
    given = _given(options.input_schema, "input_schema")
    if given is not None and given.get("type") != "object":
        raise ValueError('input_schema has "type": "object" at its root, as MCP has arguments')
    signature = signature_of(
        target, scope, injections, placed, lenient=given is not None, admit_anything=anything
    )
    told += signature.diagnostics
    inputs = None
    if given is None:
        inputs, more = inputs_of(signature, docs.parameters, placed, admit_anything=anything)
        told += more
    output_schema = _given(options.output_schema, "output_schema")
    outputs = None
    if output_schema is None:
        try:
            outputs = outputs_of(signature.returned, placed)
        except InferenceError as error:
            if not anything:
                raise
            told.append(placed.warning(error.code, "return", error.diagnostic.message))
        output_schema = outputs.schema if outputs else None
    config = ToolConfig(
        name=name,
        description=docs.text if options.description is None else options.description,
        category=options.category,
        annotations=options.annotations,
        input_schema=inputs.schema if inputs else given or {},
        output_schema=output_schema,
        inject_root=options.inject_root,
        inject_settings=options.inject_settings,
        autowire=options.autowire,
        injected=tuple(one.name for one in signature.injections),
        retry_on=options.retry_on,
        max_attempts=options.max_attempts,
        cache_ttl=options.cache_ttl,
        validate=options.validate,
        diagnostics=tuple(sorted(told, key=lambda one: places.get(one.parameter, len(places)))),
        fingerprint="",
        generator=GENERATOR,
    )
    fingerprint = fingerprint_of(config.definition)
    return Inferred(replace(config, fingerprint=fingerprint), signature, inputs, outputs)


def _name_of(target: Callable[..., Any], function: Callable[..., Any]) -> str:
    name: str = getattr(function, "__name__", "")
    if name == "__call__":
        return type(target).__name__
    if not name.isidentifier():
        raise ValueError(f"{name or target!r} is no name for a tool: give name=")
    return name


def _given(schema: Mapping[str, Any] | None, what: str) -> dict[str, Any] | None:
    """Return a copy of a schema that was given: untouched, but JSON.

    Raises:
        ValueError: It is no object, or no JSON.
    """
    if schema is None:
        return None
    if not isinstance(schema, dict):
        raise ValueError(f"{what} is an object, not of type {type(schema).__name__}")  # noqa: TRY004  (as for its parts)
    try:
        copy: dict[str, Any] = copy_json(schema, what)
    except NotJson as error:
        raise ValueError(str(error)) from None
    return copy
