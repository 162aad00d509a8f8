"""Results: their schema in its natural form, and the adapter that writes them as JSON."""

import types
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Any, Final, Never, NoReturn, get_args, get_origin

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaValue

from sidecheck.inference.annotations import contained, underlying
from sidecheck.inference.generator import ToolSchema, tidied
from sidecheck.inference.inputs import described
from sidecheck.inference.places import Placed
from sidecheck.inference.signatures import MISSING
from sidecheck.json_copies import NotJson, copy_json

__all__ = ["InvalidResult", "Outputs", "outputs_of"]

#: The protocol's own content: a result of these is content and no data.
_CONTENT: Final = frozenset(
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
_NOTHING: Final = (MISSING, None, types.NoneType, Any, object, Never, NoReturn)
_SEQUENCES: Final = frozenset(
    {list, tuple, set, frozenset, deque, Sequence, Collection, Iterable, AbstractSet}
)


class _HoldsContent(Exception):
    """The protocol's own content is part of a type."""


class InvalidResult(ValueError):
    """A tool returned what its own schema does not admit."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The results of a tool."""

    adapter: TypeAdapter[Any]
    #: The schema in its natural form: its root may be anything.
    schema: dict[str, Any]

    def dump(self, value: Any) -> Any:
        """Return *value* as JSON, by the schema: aliases and all.

        Raises:
            InvalidResult: It is not of the type that the function is annotated with, or
                has no form in JSON.
        """
        try:
            written = self.adapter.dump_python(value, mode="json", by_alias=True, warnings="error")
            return copy_json({"result": written}, "")["result"]
        except NotJson as error:
            why = str(error).removeprefix("/")  # The place begins with a member without a name.
            raise InvalidResult(f"the result is not what the schema admits: {why}") from error
        except (ValueError, RecursionError) as error:
            raise InvalidResult(f"the result is not what the schema admits: {error}") from error


def outputs_of(annotation: Any, placed: Placed) -> Outputs | None:
    """Return the results of type *annotation*, or None if there is nothing to say of them.

    That is so for nothing and for anything, for the protocol's own content and ``bytes``,
    also as parts of others, and for sequences of anything, which may hold content. Content
    counts in the fields of classes too.

    Raises:
        InferenceError: The type cannot be described.
    """
    bare = annotation
    while get_origin(bare) is Annotated:
        bare = get_args(bare)[0]
    # By identity: not every annotation can be hashed.
    if any(bare is one for one in _NOTHING):
        return None
    parts = [underlying(one) for one in contained(annotation)]
    if any(one is bytes or _is_content(one, placed) for one in parts):
        return None
    origin, given = get_origin(bare) or bare, get_args(bare)
    anything = all(one is Any or one is object or one is Ellipsis for one in given)
    if origin is tuple and given and Ellipsis not in given:
        anything = False  # how many there are, it says
    if anything and any(origin is one for one in _SEQUENCES):
        return None

    class Written(ToolSchema):
        def generate_inner(self, schema: Any) -> JsonSchemaValue:
            if _is_content(schema.get("cls"), placed):
                raise _HoldsContent
            return super().generate_inner(schema)

    try:
        adapter, schema = described(annotation, "serialization", placed, "return", Written)
    except _HoldsContent:
        return None
    return Outputs(adapter, tidied(schema)) if _says_something(schema) else None


def _says_something(schema: dict[str, Any]) -> bool:
    """Say whether *schema* tells more than that there is a value, or a list, or nothing."""
    if "anyOf" in schema:
        choices = schema["anyOf"]
        return {} not in choices and any(_says_something(one) for one in choices)
    if schema.get("type") == "array" and not schema.get("items", schema.get("prefixItems")):
        return False
    return schema not in ({}, {"type": "null"})


def _is_content(one: Any, placed: Placed) -> bool:
    """Say whether a class is the protocol's content: one called so, but not a function's own.

    What stands beside the function in its module means what it says there.
    """
    if getattr(one, "__name__", "") not in _CONTENT:
        return False
    return bool(one.__module__ != getattr(placed.function, "__module__", None))
