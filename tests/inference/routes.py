"""The two routes from a source text to definitions: by running it, and by reading it."""

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

__all__ = ["Said", "by_reading", "by_running", "in_order"]

_numbers = count()


@dataclass(frozen=True, slots=True)
class Said:
    """What a route says of a text."""

    definitions: tuple[Any, ...]
    codes: tuple[str, ...]

    @property
    def canonical(self) -> tuple[bytes, ...]:
        """The definitions in a form that is the same for what means the same."""
        return tuple(rfc8785.dumps(in_order(one)) for one in self.definitions)

    def agrees(self, other: "Said") -> bool:
        """Whether *other*, which may tell of more errors than the first, says the same."""
        if not self.definitions and not other.definitions:
            return set(self.codes) <= set(other.codes)
        return (self.canonical, self.codes) == (other.canonical, other.codes)


def in_order(value: Any) -> Any:
    """Return *value* with its ``properties`` as lists, so that their order counts."""
    if isinstance(value, list):
        return [in_order(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        name: [[each, in_order(inner)] for each, inner in one.items()]
        if name == "properties" and isinstance(one, dict)
        else in_order(one)
        for name, one in value.items()
    }


def by_running(source: str) -> Said:
    """Run *source* and tell what the client infers; an error is all that it tells."""
    # typing remembers types by what is equal, and Literal[1, 2] equals Literal[2, 1].
    for forget in typing._cleanups:  # type: ignore[attr-defined]
        forget()
    name = f"inferred_source_{next(_numbers)}"
    file = f"<{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    module = ModuleType(name)
    sys.modules[name] = module
    try:
        with warnings.catch_warnings():
            # Of what is said where pydantic does not heed it.
            warnings.simplefilter("ignore")
            exec(compile(source, file, "exec", dont_inherit=True), vars(module))
        made = [one for one in vars(module).values() if hasattr(one, ATTRIBUTE)]
        told = tuple(found.code for one in made for found in tool_config(one).diagnostics)
        return Said(tuple(tool_definition(one) for one in made), tuple(sorted(told)))
    except InferenceError as error:
        return Said((), (error.code,))
    except PydanticSchemaGenerationError:
        # A model with a field that has no schema is no class in the first place.
        return Said((), ("UNSUPPORTED_TYPE",))
    finally:
        del sys.modules[name], linecache.cache[file]


def by_reading(source: str) -> Said:
    """Tell what the server infers from the text; of errors, the codes, each once."""
    found = infer_tools(source.encode(), InferenceOptions(), Limits())
    told = [each.code for each in found.diagnostics]
    if not found.tools:
        told = sorted({each.code for each in found.diagnostics if each.severity == "error"})
    return Said(tuple(json.loads(each.json) for each in found.tools), tuple(sorted(told)))
