"""Arguments: their schema, and the adapter that makes Python values of them."""

import json
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import GenericAlias
from typing import Any, Final

import typing_extensions
from pydantic import TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import PydanticSerializationError, ValidationError

from sidecheck.inference.errors import Diagnostic, InferenceError
from sidecheck.inference.generator import ToolSchema, tidied
from sidecheck.inference.places import Placed
from sidecheck.inference.signatures import MISSING, Argument, Signature
from sidecheck.json_copies import NotJson, copy_json

__all__ = ["FURTHER", "Inputs", "described", "inputs_of"]

#: The member under which further arguments are judged. No parameter can be called so.
FURTHER: Final = "**"
#: What the class is called that pydantic is given for them.
_FORM: Final = "_Arguments_of_the_tool"

# Called with names that are not known before.
_typed_dict: Any = typing_extensions.TypedDict

#: What pydantic raises for a type that it cannot describe.
_NOT_DESCRIBED = (
    PydanticUserError,
    AttributeError,
    ImportError,
    KeyError,
    NameError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The arguments of a tool."""

    signature: Signature
    #: Makes a dictionary of values by parameter of one by name in JSON.
    adapter: TypeAdapter[dict[str, Any]]
    schema: dict[str, Any]


def described(
    annotation: Any,
    mode: Any,
    placed: Placed,
    parameter: str,
    generator: type[ToolSchema] = ToolSchema,
) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    """Return the adapter and the schema of a type.

    Raises:
        InferenceError: pydantic has none.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        return adapter, adapter.json_schema(mode=mode, schema_generator=generator)
    except _NOT_DESCRIBED as error:
        unresolved = isinstance(error, PydanticUndefinedAnnotation | NameError) or (
            isinstance(error, PydanticUserError) and error.code == "class-not-fully-defined"
        )
        reason = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
        if _FORM in reason:
            # pydantic names what it was asked for, which is not the author's.
            reason = "something that it refers to is not defined"
        what = "be defined or imported first" if unresolved else "be of a type that JSON has"
        raise placed.error(
            "UNRESOLVED_NAME" if unresolved else "UNSUPPORTED_TYPE",
            parameter,
            f"it has no JSON Schema: {reason}; it would have to {what},"
            " or have its schema given to the decorator",
        ) from error


def inputs_of(
    signature: Signature, texts: dict[str, str], placed: Placed, *, admit_anything: bool
) -> tuple[Inputs, list[Diagnostic]]:
    """Return the arguments of *signature*, described by *texts* where nothing nearer does.

    Raises:
        InferenceError: A type cannot be described, and not *admit_anything*.
    """
    told: list[Diagnostic] = []
    every = [*signature.arguments, *([signature.further] if signature.further else [])]
    types = {one.name: one.annotation for one in every}
    try:
        adapter, schema = described(_whole(signature, types), "validation", placed, "")
    except InferenceError:
        # Each by itself, to tell which of them it is.
        for one in every:
            try:
                described(_form({one.name: one.annotation}), "validation", placed, one.name)
            except InferenceError as error:
                if not admit_anything:
                    raise
                told.append(placed.warning(error.code, one.name, error.diagnostic.message))
                types[one.name] = Any
        adapter, schema = described(_whole(signature, types), "validation", placed, "")
    defaults = {
        one.wire: _default(
            one, TypeAdapter(_form({one.name: types[one.name]})), told.append, placed
        )
        for one in signature.arguments
        if one.default is not MISSING
    }
    schema = tidied(schema)
    properties = schema.setdefault("properties", {})
    schema["additionalProperties"] = False
    if FURTHER in properties:
        further = properties.pop(FURTHER)
        schema["additionalProperties"] = further.get("additionalProperties", True)
    for one in signature.arguments:
        entry = properties[one.wire]
        entry.pop("default", None)
        entry.update(defaults.get(one.wire, {}))
        text = one.text or texts.get(one.name, "")
        if text and "description" not in entry:
            entry["description"] = text
    return Inputs(signature, adapter, schema), told


def _whole(signature: Signature, types: Mapping[str, Any]) -> Any:
    """Return the class of dictionaries that all arguments, of these *types*, stand in."""
    fields = {one.name: types[one.name] for one in signature.arguments}
    if signature.further is not None:
        fields[FURTHER] = GenericAlias(dict, (str, types[signature.further.name]))
    return _form(fields, {one.name for one in signature.arguments if one.required})


def _form(fields: dict[str, Any], required: AbstractSet[str] = frozenset()) -> Any:
    """Return a class of dictionaries with *fields*, of which those *required* must be there.

    It has no configuration, which classes in it would take over: what is not known is
    found before it judges. ``Required[T]`` is not used: typing remembers such types by
    what is equal, and ``int | str`` equals ``str | int``, whichever came first.
    """
    form = _typed_dict(_FORM, fields)
    form.__required_keys__ = frozenset(required)
    form.__optional_keys__ = frozenset(fields) - required
    return form


def _default(
    one: Argument, adapter: TypeAdapter[Any], tell: Callable[[Diagnostic], None], placed: Placed
) -> dict[str, Any]:
    """Return ``default`` as JSON, if JSON and its type admit it."""
    if one.default is None and not _admits(adapter, one.wire, None):
        tell(
            placed.warning(
                "IMPLICIT_OPTIONAL",
                one.name,
                "its default is None, which its type does not admit, so the schema has no"
                " default: annotate it with '... | None' if a call may give null",
            )
        )
        return {}
    try:
        given = {one.name: one.default}
        # By alias, for what is in it; so it stands under an alias itself.
        written = adapter.dump_python(given, mode="json", by_alias=True, warnings="none")
        (value,) = copy_json(written, "").values()
        if _admits(adapter, one.wire, value):
            return {"default": value}
    except (PydanticSerializationError, NotJson, TypeError, ValueError, RecursionError):
        pass
    tell(
        placed.warning(
            "DEFAULT_NOT_JSON",
            one.name,
            f"its default, of type {type(one.default).__name__}, cannot be told as JSON that"
            " its type admits, so the schema has none: give one that can, or none",
        )
    )
    return {}


def _admits(adapter: TypeAdapter[Any], wire: str, value: Any) -> bool:
    try:
        adapter.validate_json(json.dumps({wire: value}), strict=True)
    except ValidationError:
        return False
    return True
