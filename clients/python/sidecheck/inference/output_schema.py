"""Output schema of a tool in canonical form, and serialization of results."""

import types
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Any, Final, Never, NoReturn, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from sidecheck.inference.annotations import nested_types, underlying_class
from sidecheck.inference.content_blocks import is_content_helper
from sidecheck.inference.diagnostics import FunctionDiagnostics
from sidecheck.inference.input_schema import describe_type
from sidecheck.inference.schema_generator import ToolSchemaGenerator, inline_root
from sidecheck.inference.signatures import MISSING
from sidecheck.json_copies import NotJson, copy_json

__all__ = ["InvalidResult", "OutputModel", "build_output"]

#: Names of MCP types that are results or content of tools, and have no output schema.
_CONTENT_TYPES: Final = frozenset(
    {
        "AudioContent",
        "CallToolResult",
        "EmbeddedResource",
        "ImageContent",
        "ResourceLink",
        "ServerResult",
        "TextContent",
    }
)
_WITHOUT_SCHEMA: Final = (MISSING, None, types.NoneType, Any, object, Never, NoReturn)
_SEQUENCES: Final = frozenset(
    {list, tuple, set, frozenset, deque, Sequence, Collection, Iterable, AbstractSet}
)


class _ContentInType(Exception):
    """The type contains MCP content."""


class InvalidResult(ValueError):
    """A tool returned a value that its output schema does not admit."""


@dataclass(frozen=True, slots=True)
class OutputModel:
    """Schema and serialization of the results of a tool."""

    adapter: TypeAdapter[Any]
    #: The canonical schema: its root may have any type.
    schema: dict[str, Any]

    def dump(self, value: Any) -> Any:
        """Return *value* as JSON by the schema, with its aliases.

        Raises:
            InvalidResult: *value* is not of the annotated type, or has no JSON form.
        """
        try:
            dumped = self.adapter.dump_python(value, mode="json", by_alias=True, warnings="error")
            return copy_json({"result": dumped}, "")["result"]
        except NotJson as error:
            # The location in the message begins with the empty name passed above.
            reason = str(error).removeprefix("/")
            raise InvalidResult(f"the result violates the output schema: {reason}") from error
        except (ValueError, RecursionError) as error:
            raise InvalidResult(f"the result violates the output schema: {error}") from error


def build_output(annotation: Any, diagnostics: FunctionDiagnostics) -> OutputModel | None:
    """Return the output model for *annotation*, or None without a schema.

    There is no schema for None and ``Any``, for MCP content and ``bytes``, also as parts of
    other types, and for sequences of ``Any``, which may contain content. The search for content
    includes the fields of classes.

    Raises:
        InferenceError: the type has no JSON Schema.
    """
    bare = annotation
    while get_origin(bare) is Annotated:
        bare = get_args(bare)[0]
    # Compared by identity, since some annotations are not hashable.
    if any(bare is excluded for excluded in _WITHOUT_SCHEMA):
        return None
    classes = [underlying_class(nested) for nested in nested_types(annotation)]
    if any(cls is bytes or _is_content(cls, diagnostics) for cls in classes):
        return None
    if _is_sequence_of_any(bare):
        return None

    class Generator(ToolSchemaGenerator):
        def generate_inner(self, schema: Any) -> JsonSchemaValue:
            if _is_content(schema.get("cls"), diagnostics):
                raise _ContentInType
            return super().generate_inner(schema)

    try:
        adapter, schema = describe_type(
            annotation, "serialization", diagnostics, "return", Generator
        )
    except _ContentInType:
        return None
    return OutputModel(adapter, inline_root(schema)) if _is_informative(schema) else None


def _is_sequence_of_any(bare: Any) -> bool:
    origin, arguments = get_origin(bare) or bare, get_args(bare)
    if not any(origin is sequence for sequence in _SEQUENCES):
        return False
    if origin is tuple and arguments and Ellipsis not in arguments:
        return False  # A tuple of known length.
    return all(
        argument is Any or argument is object or argument is Ellipsis for argument in arguments
    )


def _is_informative(schema: dict[str, Any]) -> bool:
    """Return whether *schema* admits less than any value, any list or null."""
    if "anyOf" in schema:
        branches = schema["anyOf"]
        return {} not in branches and any(_is_informative(branch) for branch in branches)
    if schema.get("type") == "array" and not schema.get("items", schema.get("prefixItems")):
        return False
    return schema not in ({}, {"type": "null"})


def _is_content(cls: Any, diagnostics: FunctionDiagnostics) -> bool:
    """Return whether a class has a name of MCP content and is from another module.

    Names such as ``Image`` are helpers for content only in the packages of SDKs.
    """
    name, module = getattr(cls, "__name__", ""), getattr(cls, "__module__", None)
    if not isinstance(module, str) or module == getattr(diagnostics.function, "__module__", None):
        return False
    return name in _CONTENT_TYPES or is_content_helper(cls)
