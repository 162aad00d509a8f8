"""Help for tests of inference: the text route, and what pydantic says of the same source.

The second runs the source, which only a test may do, and only with sources of its own.
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
from sidecheck_server.core.infer.inferring import infer_tools
from sidecheck_server.core.infer.words import InferenceOptions, Inferred
from sidecheck_server.core.limits import Limits

__all__ = ["by_pydantic", "codes", "definition", "infer", "running"]


def infer(source: str | bytes, **options: Any) -> Inferred:
    """Return what the text route makes of *source*."""
    text = source.encode() if isinstance(source, str) else source
    return infer_tools(text, InferenceOptions(**options), Limits())


def definition(source: str | bytes, **options: Any) -> dict[str, Any]:
    """Return the one definition in *source*, about which nothing is amiss."""
    found = infer(source, **options)
    assert () == found.diagnostics
    (tool,) = found.tools
    decoded: dict[str, Any] = json.loads(tool.json)
    return decoded


def codes(source: str | bytes, **options: Any) -> list[tuple[str, int, int]]:
    """Return the code, the line and the column of each diagnostic."""
    found = infer(source, **options).diagnostics
    return [(one.code, one.place.line, one.place.column) for one in found]


class _Untitled(GenerateJsonSchema):
    """Writes no title that the author did not."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _without_titles(schema: dict[str, Any], classes: set[str]) -> dict[str, Any]:
    """Return *schema* without the titles that are names of *classes*."""
    for name, each in [*schema.get("$defs", {}).items(), ("", schema)]:
        if each.get("title") in {name, *classes}:
            del each["title"]
    return schema


@contextmanager
def running(source: str) -> Iterator[types.ModuleType]:
    """Run *source*, as a module that can be found by its name as long as it is needed."""
    module = types.ModuleType("source_of_a_test")
    sys.modules[module.__name__] = module
    try:
        exec(compile(source, module.__name__, "exec"), module.__dict__)
        yield module
    finally:
        del sys.modules[module.__name__]


def by_pydantic(module: types.ModuleType, function: str) -> tuple[dict[str, Any], Any]:
    """Return the schemas of the input and of the output of *function*."""
    found = getattr(module, function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hints = get_type_hints(found, include_extras=True)
        output = hints.pop("return", Any)
        returned = TypeAdapter(output).json_schema(mode="serialization", schema_generator=_Untitled)
        fields = {
            parameter.name: _field(hints.get(parameter.name, Any), parameter.default)
            for parameter in inspect.signature(found).parameters.values()
        }
        arguments = typing_extensions.TypedDict("Arguments", fields)  # type: ignore[misc]
        taken = TypeAdapter(arguments).json_schema(schema_generator=_Untitled)
    classes = {name for each in vars(module).values() if (name := getattr(each, "__name__", ""))}
    return (
        _without_titles(taken, {"Arguments"} | classes) | {"additionalProperties": False},
        _inlined(_without_titles(returned, classes)),
    )


def _field(hint: Any, default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return hint
    said = default if isinstance(default, FieldInfo) else Field(default=default)
    whole = Annotated[hint, said]
    return whole if said.is_required() else typing_extensions.NotRequired[whole]


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """Return *schema* with what its root refers to in its place."""
    if "$ref" not in schema:
        return schema
    definitions = schema.pop("$defs")
    name = schema.pop("$ref").removeprefix("#/$defs/")
    schema = definitions[name] | schema
    if f'"#/$defs/{name}"' not in json.dumps([definitions[each] for each in definitions]):
        del definitions[name]
    return {**schema, "$defs": definitions} if definitions else schema
