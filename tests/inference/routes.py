"""The two routes from source text to definitions: execution and static inference."""

import json
import linecache
import sys
import typing
import warnings
from dataclasses import dataclass
from itertools import count
from types import ModuleType
from typing import Any

import rfc8785
from pydantic.errors import PydanticSchemaGenerationError
from sidecheck.inference import InferenceError, tool_config, tool_definition
from sidecheck.tool_functions import ATTRIBUTE
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits

__all__ = ["RouteResult", "in_order", "infer_live", "infer_text"]

_numbers = count()


@dataclass(frozen=True, slots=True)
class RouteResult:
    """Definitions and sorted diagnostic codes of a route."""

    definitions: tuple[Any, ...]
    codes: tuple[str, ...]

    @property
    def canonical(self) -> tuple[bytes, ...]:
        """The definitions as canonical JSON, with properties in order."""
        return tuple(rfc8785.dumps(in_order(definition)) for definition in self.definitions)

    def agrees(self, other: "RouteResult") -> bool:
        """Whether *other*, which may have errors beyond the first, is equivalent."""
        if not self.definitions and not other.definitions:
            return set(self.codes) <= set(other.codes)
        return (self.canonical, self.codes) == (other.canonical, other.codes)


def in_order(value: Any) -> Any:
    """Return *value* with ``properties`` as lists, to compare their order."""
    if isinstance(value, list):
        return [in_order(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: [[key, in_order(subschema)] for key, subschema in item.items()]
        if name == "properties" and isinstance(item, dict)
        else in_order(item)
        for name, item in value.items()
    }


def infer_live(source: str) -> RouteResult:
    """Run *source* and return the result of the client; an error is the only code."""
    # typing caches types by equality, and Literal[1, 2] equals Literal[2, 1].
    for clear_cache in typing._cleanups:  # type: ignore[attr-defined]
        clear_cache()
    name = f"inferred_source_{next(_numbers)}"
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = ModuleType(name)
    sys.modules[name] = module
    try:
        with warnings.catch_warnings():
            # Pydantic warns of metadata that has no effect.
            warnings.simplefilter("ignore")
            exec(compile(source, file, "exec", dont_inherit=True), vars(module))
        tools = [value for value in vars(module).values() if hasattr(value, ATTRIBUTE)]
        codes = [warning.code for tool in tools for warning in tool_config(tool).diagnostics]
        return RouteResult(tuple(map(tool_definition, tools)), tuple(sorted(codes)))
    except InferenceError as error:
        return RouteResult((), (error.code,))
    except PydanticSchemaGenerationError:
        # Pydantic rejects a model at its definition if a field has no schema.
        return RouteResult((), ("UNSUPPORTED_TYPE",))
    finally:
        del sys.modules[name], linecache.cache[file]


def infer_text(source: str) -> RouteResult:
    """Return the result of the server; without tools, the codes are those of errors."""
    result = infer_tools(source.encode(), InferenceOptions(), Limits())
    diagnostics = result.diagnostics
    codes = sorted(diagnostic.code for diagnostic in diagnostics)
    if not result.tools:
        codes = sorted(
            {diagnostic.code for diagnostic in diagnostics if diagnostic.severity == "error"}
        )
    return RouteResult(tuple(json.loads(tool.json) for tool in result.tools), tuple(codes))
