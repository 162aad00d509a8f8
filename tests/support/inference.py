"""Inference from source text in tests, and pydantic's schemas for the same source.

The latter runs the source, which only tests may do, and only with their own sources.
"""

import inspect
import json
import sys
import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, get_type_hints

import typing_extensions
from pydantic import Field, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions, InferenceResult
from sidecheck_server.core.limits import Limits

__all__ = ["by_pydantic", "diagnostic_codes", "infer", "infer_definition", "running"]


def infer(source: str | bytes, **options: Any) -> InferenceResult:
    """Return the result of inference from *source*."""
    source_bytes = source.encode() if isinstance(source, str) else source
    return infer_tools(source_bytes, InferenceOptions(**options), Limits())


def infer_definition(source: str | bytes, **options: Any) -> dict[str, Any]:
    """Return the only definition in *source*, which has no diagnostics."""
    result = infer(source, **options)
    assert () == result.diagnostics
    (tool,) = result.tools
    definition: dict[str, Any] = json.loads(tool.json)
    return definition


def diagnostic_codes(source: str | bytes, **options: Any) -> list[tuple[str, int, int]]:
    """Return the code, the line and the column of each diagnostic."""
    return [
        (diagnostic.code, diagnostic.location.line, diagnostic.location.column)
        for diagnostic in infer(source, **options).diagnostics
    ]


class _UntitledGenerator(GenerateJsonSchema):
    """Generates only explicit titles."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _without_titles(schema: dict[str, Any], classes: set[str]) -> dict[str, Any]:
    """Return *schema* without the titles that are names of *classes*."""
    for name, subschema in [*schema.get("$defs", {}).items(), ("", schema)]:
        if subschema.get("title") in {name, *classes}:
            del subschema["title"]
    return schema


@contextmanager
def running(source: str) -> Iterator[types.ModuleType]:
    """Run *source* as a module that is registered during the block."""
    module = types.ModuleType("source_of_a_test")
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, module.__name__, "exec"), module.__dict__)
        yield module
    finally:
        del sys.modules[module.__name__]


def by_pydantic(module: types.ModuleType, name: str) -> tuple[dict[str, Any], Any]:
    """Return the input and the output schema of the function *name*."""
    function = getattr(module, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hints = get_type_hints(function, include_extras=True)
        result_type = hints.pop("return", Any)
        output_schema = TypeAdapter(result_type).json_schema(
            mode="serialization", schema_generator=_UntitledGenerator
        )
        fields = {
            parameter.name: _field(hints.get(parameter.name, Any), parameter.default)
            for parameter in inspect.signature(function).parameters.values()
        }
        arguments = typing_extensions.TypedDict("Arguments", fields)  # type: ignore[misc]
        input_schema = TypeAdapter(arguments).json_schema(schema_generator=_UntitledGenerator)
    classes = {
        class_name
        for value in vars(module).values()
        if (class_name := getattr(value, "__name__", ""))
    }
    return (
        _without_titles(input_schema, {"Arguments"} | classes) | {"additionalProperties": False},
        _inline_root(_without_titles(output_schema, classes)),
    )


def _field(hint: Any, default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return hint
    field = default if isinstance(default, FieldInfo) else Field(default=default)
    annotated = Annotated[hint, field]
    return annotated if field.is_required() else typing_extensions.NotRequired[annotated]


def _inline_root(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with the referenced definition in place of its root."""
    if "$ref" not in schema:
        return schema
    definitions = schema.pop("$defs")
    name = schema.pop("$ref").removeprefix("#/$defs/")
    schema = definitions[name] | schema
    if f'"#/$defs/{name}"' not in json.dumps(list(definitions.values())):
        del definitions[name]
    return {**schema, "$defs": definitions} if definitions else schema
