"""Input schema of a tool, and the adapter that validates arguments with it."""

import json
from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from types import GenericAlias
from typing import Any, Final, Literal

import typing_extensions
from pydantic import TypeAdapter
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic_core import PydanticSerializationError, ValidationError

from sidecheck.inference.diagnostics import FunctionDiagnostics
from sidecheck.inference.errors import Diagnostic, InferenceError
from sidecheck.inference.schema_generator import ToolSchemaGenerator, inline_root
from sidecheck.inference.signatures import MISSING, Argument, Signature
from sidecheck.json_copies import NotJson, copy_json

__all__ = ["ADDITIONAL", "InputModel", "build_input", "describe_type"]

#: The property that holds additional arguments for validation. No parameter has this name.
ADDITIONAL: Final = "**"
#: Name of the class by which pydantic validates arguments.
_ARGUMENTS_CLASS: Final = "_Arguments_of_the_tool"

# Typed as Any, since type checkers reject names that are not literals.
_typed_dict: Any = typing_extensions.TypedDict

#: Exceptions of pydantic for a type without a schema.
_NO_SCHEMA_ERRORS = (
    PydanticUserError,
    AttributeError,
    ImportError,
    KeyError,
    NameError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True)
class InputModel:
    """Schema and validation of the arguments of a tool."""

    signature: Signature
    #: Validates arguments by their JSON names, and returns values by parameter.
    adapter: TypeAdapter[dict[str, Any]]
    schema: dict[str, Any]
    #: Types by the names of parameters.
    types: Mapping[str, Any]

    @cached_property
    def partial(self) -> TypeAdapter[dict[str, Any]]:
        """The ``adapter`` for calls without required arguments."""
        return TypeAdapter(_arguments_type(self.signature, self.types, required=()))


def describe_type(
    annotation: Any,
    mode: Literal["validation", "serialization"],
    diagnostics: FunctionDiagnostics,
    parameter: str,
    generator: type[ToolSchemaGenerator] = ToolSchemaGenerator,
) -> tuple[TypeAdapter[Any], dict[str, Any]]:
    """Return the adapter and the schema of a type.

    Raises:
        InferenceError: pydantic has no schema for the type.
    """
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation)
        return adapter, adapter.json_schema(mode=mode, schema_generator=generator)
    except _NO_SCHEMA_ERRORS as error:
        is_unresolved = isinstance(error, PydanticUndefinedAnnotation | NameError) or (
            isinstance(error, PydanticUserError) and error.code == "class-not-fully-defined"
        )
        reason = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
        if _ARGUMENTS_CLASS in reason:
            # The message names the generated class of the arguments, which authors do not know.
            reason = "a type that it refers to is not defined"
        remedy = "define or import it first" if is_unresolved else "use a type that JSON has"
        raise diagnostics.error(
            "UNRESOLVED_NAME" if is_unresolved else "UNSUPPORTED_TYPE",
            parameter,
            f"it has no JSON Schema: {reason}; {remedy}, or pass its schema to the decorator",
        ) from error


def build_input(
    signature: Signature,
    descriptions: Mapping[str, str],
    diagnostics: FunctionDiagnostics,
    *,
    admit_any: bool,
) -> tuple[InputModel, list[Diagnostic]]:
    """Return the input model of a tool, and warnings.

    *descriptions* apply to parameters whose annotations have none.

    Raises:
        InferenceError: a type has no schema, and *admit_any* is False.
    """
    warnings: list[Diagnostic] = []
    arguments = [*signature.arguments]
    if signature.additional is not None:
        arguments.append(signature.additional)
    types = {argument.name: argument.annotation for argument in arguments}
    try:
        adapter, schema = describe_type(
            _arguments_type(signature, types), "validation", diagnostics, ""
        )
    except InferenceError:
        # Describe the parameters one by one, to find the parameter at fault.
        for argument in arguments:
            try:
                single = _arguments_class({argument.name: argument.annotation})
                describe_type(single, "validation", diagnostics, argument.name)
            except InferenceError as error:
                if not admit_any:
                    raise
                message = error.diagnostic.message
                warnings.append(diagnostics.warning(error.code, argument.name, message))
                types[argument.name] = Any
        adapter, schema = describe_type(
            _arguments_type(signature, types), "validation", diagnostics, ""
        )
    schema = inline_root(schema)
    properties = schema.setdefault("properties", {})
    schema["additionalProperties"] = False
    if ADDITIONAL in properties:
        additional = properties.pop(ADDITIONAL)
        schema["additionalProperties"] = additional.get("additionalProperties", True)
    for argument in signature.arguments:
        entry = properties[argument.wire_name]
        entry.pop("default", None)
        if argument.default is not MISSING:
            single = _arguments_class({argument.name: types[argument.name]})
            entry |= _default_entry(argument, TypeAdapter(single), warnings.append, diagnostics)
        description = argument.description or descriptions.get(argument.name, "")
        if description and "description" not in entry:
            entry["description"] = description
    return InputModel(signature, adapter, schema, types), warnings


def _arguments_type(
    signature: Signature, types: Mapping[str, Any], required: Collection[str] | None = None
) -> Any:
    """Return the class of dictionaries of all arguments, with these *types*.

    *required* are the required arguments; None stands for the arguments without a default.
    """
    fields = {argument.name: types[argument.name] for argument in signature.arguments}
    if signature.additional is not None:
        fields[ADDITIONAL] = GenericAlias(dict, (str, types[signature.additional.name]))
    if required is None:
        required = [argument.name for argument in signature.arguments if argument.required]
    return _arguments_class(fields, frozenset(required))


def _arguments_class(fields: dict[str, Any], required: AbstractSet[str] = frozenset()) -> Any:
    """Return a class of dictionaries with *fields*, some of them *required*.

    The class has no configuration, since nested classes would inherit it; unknown arguments
    are detected before validation. It does not use ``Required[T]``, since typing caches such
    types by equality, and ``int | str`` equals ``str | int``.
    """
    arguments_class = _typed_dict(_ARGUMENTS_CLASS, fields)
    arguments_class.__required_keys__ = frozenset(required)
    arguments_class.__optional_keys__ = frozenset(fields) - required
    return arguments_class


def _default_entry(
    argument: Argument,
    adapter: TypeAdapter[Any],
    warn: Callable[[Diagnostic], None],
    diagnostics: FunctionDiagnostics,
) -> dict[str, Any]:
    """Return ``default`` as JSON if the type admits it, else {} after a warning."""
    if argument.default is None and not _admits(adapter, argument.wire_name, None):
        warn(
            diagnostics.warning(
                "IMPLICIT_OPTIONAL",
                argument.name,
                "the default None is omitted from the schema: its type does not admit null;"
                " annotate it with '... | None' if it should",
            )
        )
        return {}
    try:
        values = {argument.name: argument.default}
        # By alias, for nested fields. The key of the argument may be an alias as well.
        dumped = adapter.dump_python(values, mode="json", by_alias=True, warnings="none")
        (value,) = copy_json(dumped, "").values()
        if _admits(adapter, argument.wire_name, value):
            return {"default": value}
    except (PydanticSerializationError, NotJson, TypeError, ValueError, RecursionError):
        pass
    warn(
        diagnostics.warning(
            "DEFAULT_NOT_JSON",
            argument.name,
            f"the default of type {type(argument.default).__name__} is omitted from the schema:"
            " it has no JSON form that its type admits; use another default, or none",
        )
    )
    return {}


def _admits(adapter: TypeAdapter[Any], wire_name: str, value: Any) -> bool:
    try:
        adapter.validate_json(json.dumps({wire_name: value}), strict=True)
    except ValidationError:
        return False
    return True
