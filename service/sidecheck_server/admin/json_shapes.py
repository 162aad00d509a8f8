"""JSON form of the messages of the API, derived from their descriptors.

A message is an object whose properties have the names of its fields. A field with JSON text is
embedded as a JSON value, not as a string. Messages that only group fields are dissolved: their
fields become properties of the enclosing object. The tables of this module hold the exceptions
that the descriptors do not express.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

__all__ = [
    "DISSOLVED",
    "RENAMED",
    "TEXTS",
    "Form",
    "Path",
    "Property",
    "Shape",
    "is_alternative",
    "kebab_case",
    "shape_of",
    "words_of",
]

_PACKAGE: Final = "sidecheck.v1."

TEXTS: Final = frozenset({"InferToolsRequest.source"})
"""Fields of the type ``bytes`` that hold plain text; all others hold JSON."""

# Decision 0064: the JSON form is derived from the descriptors, with tables of exceptions.
DISSOLVED: Final = frozenset(
    {
        *("Target", "RegisteredTool", "InlineTool", "InlineSchema", "Subject"),
        *("ToolResult", "ProtocolMessage", "Elicitation", "ElicitationResult", "Sampling"),
        *("CheckResult", "Tool", "SessionDefaults"),
    }
)
"""Messages to dissolve, except as an alternative of a message that is not dissolved."""

RENAMED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "InlineTool.json": "tool",
        "InlineSchema.json": "schema",
        "Tool.json": "tool",
        "AdaptToolResponse.json": "tool",
        "ConvertedTool.json": "tool",
        "InferredTool.json": "tool",
        "ToolResult.json": "result",
        "ProtocolMessage.json": "message",
        # `server` and `name` of the dissolved target occupy the plain names.
        "ConvertToolResultRequest.name": "call_name",
        "ConvertToolCallResponse.tool": "name",
        "ConvertToolCallResponse.name": "call_name",
    }
)
"""Names of properties that differ from the name of the field."""

_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

#: Fields from a message down to a nested value.
Path = tuple[FieldDescriptor, ...]


class Form(Enum):
    """JSON form of a property's value, or of each element of it."""

    #: Any JSON value, kept byte for byte.
    JSON = "json"
    #: A string whose content is JSON text, possibly malformed.
    JSON_TEXT = "json_text"
    STRING = "string"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    #: A word of an enumeration.
    WORD = "word"
    OBJECT = "object"
    #: `true` for a message without fields.
    MARK = "mark"
    #: Problem details of an error.
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Property:
    """A property of the JSON form of a message."""

    name: str
    #: Paths to the field of its value. The first whose messages are present applies.
    paths: tuple[Path, ...]
    form: Form
    #: Whether it is an array.
    is_repeated: bool

    @property
    def field(self) -> FieldDescriptor:
        """Field of its value. All alternatives have the same type."""
        return self.paths[0][-1]


@dataclass(frozen=True, slots=True)
class Shape:
    """The JSON form of a message."""

    message: Descriptor
    #: By name. A field with several notations, such as a JSON value or a string with JSON text,
    #: has one property for each.
    properties: Mapping[str, Property]


@cache
def shape_of(message: Descriptor) -> Shape:
    """Return the JSON form of *message*."""
    paths: dict[str, list[Path]] = {}
    for name, path in _paths(message):
        paths.setdefault(name, []).append(path)
    properties = {}
    for name, alternatives in paths.items():
        # Paths into dissolved messages take precedence over a field of the message itself.
        ordered = tuple(sorted(alternatives, key=len, reverse=True))
        field = ordered[0][-1]
        form, is_repeated = _form_of(field), field.is_repeated
        if _is_list_of_tools(field):
            entries = f"{name}_with_documents"
            properties[entries] = Property(entries, ordered, form, is_repeated)
            form = Form.JSON
        properties[name] = Property(name, ordered, form, is_repeated)
        if form is Form.JSON:
            text = f"{name}_text"
            properties[text] = Property(text, ordered, Form.JSON_TEXT, is_repeated)
    return Shape(message, MappingProxyType(properties))


def is_alternative(field: FieldDescriptor) -> bool:
    """Return whether *field* belongs to a declared oneof; an optional field does not."""
    oneof = field.containing_oneof
    # protoc puts each optional field into a synthetic oneof.
    return oneof is not None and oneof.name != f"_{field.name}"


@cache
def words_of(enum: EnumDescriptor) -> Mapping[str, int]:
    """Return the numbers of the values of *enum*, keyed by word, such as "openai-chat"."""
    prefix = f"{_WORD.sub('_', enum.name).upper()}_"
    words = {
        value.name.removeprefix(prefix).lower().replace("_", "-"): value.number
        for value in enum.values
    }
    del words["unspecified"]
    return MappingProxyType(words)


def kebab_case(name: str) -> str:
    """Return the method name *name* in kebab case: "check-tools" for "CheckTools"."""
    return _WORD.sub("-", name).lower()


def _paths(message: Descriptor, *, dissolved: bool = False) -> Iterator[tuple[str, Path]]:
    """Yield name and path of each property of *message*, which may be *dissolved*."""
    for field in message.fields:
        nested = field.message_type
        if nested is not None and _is_dissolved(field, nested, within_dissolved=dissolved):
            for name, path in _paths(nested, dissolved=True):
                yield name, (field, *path)
            continue
        key = field.full_name.removeprefix(_PACKAGE)
        yield RENAMED.get(key, field.name), (field,)


def _is_dissolved(field: FieldDescriptor, nested: Descriptor, *, within_dissolved: bool) -> bool:
    if field.is_repeated or _short_name(nested) not in DISSOLVED:
        return False
    return within_dissolved or not is_alternative(field)


def _is_list_of_tools(field: FieldDescriptor) -> bool:
    """Return whether *field* is a list of tools, or an array of definitions in JSON."""
    return (
        field.is_repeated
        and field.message_type is not None
        and _short_name(field.message_type) == "InlineTool"
    )


def _form_of(field: FieldDescriptor) -> Form:
    if field.message_type is not None:
        if field.message_type.full_name == "google.rpc.Status":
            return Form.PROBLEM
        return Form.OBJECT if field.message_type.fields else Form.MARK
    if field.enum_type is not None:
        return Form.WORD
    if field.type == FieldDescriptor.TYPE_BYTES:
        is_text = field.full_name.removeprefix(_PACKAGE) in TEXTS
        return Form.STRING if is_text else Form.JSON
    return _SCALARS[field.cpp_type]


_SCALARS: Final[Mapping[int, Form]] = MappingProxyType(
    {
        FieldDescriptor.CPPTYPE_STRING: Form.STRING,
        FieldDescriptor.CPPTYPE_BOOL: Form.BOOLEAN,
        FieldDescriptor.CPPTYPE_INT32: Form.INTEGER,
        FieldDescriptor.CPPTYPE_UINT32: Form.INTEGER,
        FieldDescriptor.CPPTYPE_UINT64: Form.INTEGER,
    }
)


def _short_name(message: Descriptor) -> str:
    return message.full_name.removeprefix(_PACKAGE)
