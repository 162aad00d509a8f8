"""Tables of known modules and types, and the JSON Schemas of those types."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

__all__ = [
    "INJECTED_TYPES",
    "ITERATORS",
    "KNOWN_MODULES",
    "MAPPINGS",
    "SEQUENCES",
    "SERIALIZED",
    "SETS",
    "SIMPLE",
    "TUPLES",
    "TypeKind",
    "canonical_name",
    "is_content",
]

KNOWN_MODULES = frozenset(
    {
        "abc", "annotated_types", "builtins", "collections", "collections.abc", "dataclasses",
        "datetime", "decimal", "enum", "fractions", "ipaddress", "pathlib", "pydantic",
        "pydantic.dataclasses", "pydantic.fields", "pydantic.networks", "pydantic.types", "re",
        "types", "typing", "typing_extensions", "uuid", "zoneinfo",
    }
)  # fmt: skip
"""Modules whose names inference knows without importing them."""

_CANONICAL_MODULES = MappingProxyType(
    {
        "typing_extensions": "typing",
        "pydantic.fields": "pydantic",
        "pydantic.networks": "pydantic",
        "pydantic.types": "pydantic",
        "collections.abc": "typing",
    }
)
_CANONICAL_NAMES = MappingProxyType(
    {
        "typing.FrozenSet": "builtins.frozenset",
        "typing.List": "builtins.list",
        "typing.Dict": "builtins.dict",
        "typing.Tuple": "builtins.tuple",
        "typing.Text": "builtins.str",
        "typing.Deque": "collections.deque",
        "typing.DefaultDict": "collections.defaultdict",
        "typing.OrderedDict": "collections.OrderedDict",
        "typing.Counter": "collections.Counter",
        "typing.Pattern": "re.Pattern",
        "types.NoneType": "builtins.None",
    }
)


def canonical_name(dotted: str) -> str:
    """Return the canonical name of *dotted*, a name in a known module."""
    module, _, name = dotted.rpartition(".")
    dotted = f"{_CANONICAL_MODULES.get(module, module)}.{name}"
    return _CANONICAL_NAMES.get(dotted, dotted)


class TypeKind(StrEnum):
    """Kind of a type, which determines the keywords that pydantic writes."""

    NUMBER = "number"
    INTEGER = "integer"
    DECIMAL = "decimal"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"
    #: Dates and times: pydantic writes no keyword for their bounds.
    TIME = "time"
    URL = "url"
    NULLABLE = "nullable"
    #: Constraints are written under their own names, which validators ignore.
    OTHER = "other"


def _string(string_format: str, **keywords: Any) -> dict[str, Any]:
    return {"type": "string", "format": string_format, **keywords}


_SECRET = _string("password", writeOnly=True)
_URI = _string("uri", minLength=1)
_SHORT_URI = _string("uri", minLength=1, maxLength=2083)

_DECIMAL = {"anyOf": [{"type": "number"}, {"type": "string"}]}

# Decision 0041: the schemas equal the schemas that pydantic writes on the live route.
#: Schemas in pydantic 2.14 of types without type parameters, with their kinds.
SIMPLE: Mapping[str, tuple[dict[str, Any], TypeKind]] = MappingProxyType(
    {
        "builtins.int": ({"type": "integer"}, TypeKind.INTEGER),
        "builtins.str": ({"type": "string"}, TypeKind.STRING),
        "builtins.float": ({"type": "number"}, TypeKind.NUMBER),
        "builtins.bool": ({"type": "boolean"}, TypeKind.OTHER),
        "builtins.bytes": (_string("binary"), TypeKind.STRING),
        "builtins.None": ({"type": "null"}, TypeKind.OTHER),
        "builtins.object": ({}, TypeKind.OTHER),
        "builtins.complex": ({"type": "string"}, TypeKind.OTHER),
        "typing.Any": ({}, TypeKind.OTHER),
        "datetime.datetime": (_string("date-time"), TypeKind.TIME),
        "datetime.date": (_string("date"), TypeKind.TIME),
        "datetime.time": (_string("time"), TypeKind.TIME),
        "datetime.timedelta": (_string("duration"), TypeKind.TIME),
        "uuid.UUID": (_string("uuid"), TypeKind.OTHER),
        "decimal.Decimal": (_DECIMAL, TypeKind.DECIMAL),
        "fractions.Fraction": (
            {"anyOf": [{"type": "number"}, _string("fraction")]},
            TypeKind.OTHER,
        ),
        "re.Pattern": (_string("regex"), TypeKind.OTHER),
        "zoneinfo.ZoneInfo": (_string("zoneinfo"), TypeKind.OTHER),
        **{
            f"pathlib.{name}": (_string("path"), TypeKind.OTHER)
            for name in (
                "Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath",
            )
        },
        **{
            f"ipaddress.IPv{version}{name}": (
                _string(f"ipv{version}{name.lower()}"),
                TypeKind.OTHER,
            )
            for version in (4, 6)
            for name in ("Network", "Interface")
        },
        "ipaddress.IPv4Address": (_string("ipv4"), TypeKind.OTHER),
        "ipaddress.IPv6Address": (_string("ipv6"), TypeKind.OTHER),
        **{
            f"pydantic.UUID{version}": (_string(f"uuid{version}"), TypeKind.OTHER)
            for version in (1, 3, 4, 5)
        },
        "pydantic.AnyUrl": (_URI, TypeKind.URL),
        "pydantic.AnyHttpUrl": (_URI, TypeKind.URL),
        "pydantic.FileUrl": (_URI, TypeKind.URL),
        "pydantic.AnyWebsocketUrl": (_URI, TypeKind.URL),
        "pydantic.HttpUrl": (_SHORT_URI, TypeKind.URL),
        "pydantic.WebsocketUrl": (_SHORT_URI, TypeKind.URL),
        "pydantic.EmailStr": (_string("email"), TypeKind.OTHER),
        "pydantic.NameEmail": (_string("name-email"), TypeKind.OTHER),
        "pydantic.IPvAnyAddress": (_string("ipvanyaddress"), TypeKind.OTHER),
        "pydantic.SecretStr": (_SECRET, TypeKind.OTHER),
        "pydantic.SecretBytes": (_SECRET, TypeKind.OTHER),
        "pydantic.Base64Bytes": (_string("base64"), TypeKind.OTHER),
        "pydantic.Base64Str": (_string("base64"), TypeKind.OTHER),
        "pydantic.FilePath": (_string("file-path"), TypeKind.OTHER),
        "pydantic.DirectoryPath": (_string("directory-path"), TypeKind.OTHER),
        "pydantic.NewPath": (_string("path"), TypeKind.OTHER),
        "pydantic.PastDate": (_string("date"), TypeKind.TIME),
        "pydantic.FutureDate": (_string("date"), TypeKind.TIME),
        "pydantic.PastDatetime": (_string("date-time"), TypeKind.TIME),
        "pydantic.FutureDatetime": (_string("date-time"), TypeKind.TIME),
        "pydantic.AwareDatetime": (_string("date-time"), TypeKind.TIME),
        "pydantic.NaiveDatetime": (_string("date-time"), TypeKind.TIME),
        "pydantic.StrictStr": ({"type": "string"}, TypeKind.STRING),
        "pydantic.StrictInt": ({"type": "integer"}, TypeKind.INTEGER),
        "pydantic.StrictFloat": ({"type": "number"}, TypeKind.NUMBER),
        "pydantic.StrictBool": ({"type": "boolean"}, TypeKind.OTHER),
        "pydantic.StrictBytes": (_string("binary"), TypeKind.STRING),
        "pydantic.FiniteFloat": ({"type": "number"}, TypeKind.NUMBER),
        "pydantic.PositiveInt": ({"type": "integer", "exclusiveMinimum": 0}, TypeKind.INTEGER),
        "pydantic.NegativeInt": ({"type": "integer", "exclusiveMaximum": 0}, TypeKind.INTEGER),
        "pydantic.NonNegativeInt": ({"type": "integer", "minimum": 0}, TypeKind.INTEGER),
        "pydantic.NonPositiveInt": ({"type": "integer", "maximum": 0}, TypeKind.INTEGER),
        "pydantic.PositiveFloat": ({"type": "number", "exclusiveMinimum": 0}, TypeKind.NUMBER),
        "pydantic.NegativeFloat": ({"type": "number", "exclusiveMaximum": 0}, TypeKind.NUMBER),
        "pydantic.NonNegativeFloat": ({"type": "number", "minimum": 0}, TypeKind.NUMBER),
        "pydantic.NonPositiveFloat": ({"type": "number", "maximum": 0}, TypeKind.NUMBER),
    }
)  # fmt: skip

#: Schemas of types whose serialized form differs from the validated form.
SERIALIZED: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "decimal.Decimal": {"type": "string"},
        "fractions.Fraction": _string("fraction"),
    }
)

SEQUENCES = frozenset(
    {
        "builtins.list", "collections.deque", "typing.Iterable", "typing.MutableSequence",
        "typing.Sequence",
    }
)  # fmt: skip
ITERATORS = frozenset(
    {
        "typing.AsyncGenerator", "typing.AsyncIterable", "typing.AsyncIterator",
        "typing.Generator", "typing.Iterator",
    }
)  # fmt: skip
"""Result types whose items form an array; the first parameter is the type of items."""
SETS = frozenset(
    {
        "builtins.frozenset", "builtins.set", "typing.AbstractSet", "typing.MutableSet",
        "typing.Set",
    }
)  # fmt: skip
MAPPINGS = frozenset(
    {
        "builtins.dict", "collections.OrderedDict", "collections.defaultdict", "typing.Mapping",
        "typing.MutableMapping",
    }
)  # fmt: skip
TUPLES = frozenset({"builtins.tuple"})

_CONTENT_TYPES = frozenset(
    {
        "AudioContent", "CallToolResult", "EmbeddedResource", "ImageContent", "ResourceLink",
        "ServerResult", "TextContent",
    }
)  # fmt: skip
"""MCP types, by name, that are tool results themselves and have no output schema."""

_SDK_PACKAGES = frozenset({"fastmcp", "mcp"})
_SDK_CONTENT = frozenset({"Audio", "ContentBlock", "File", "Image", "ToolResult"})


def is_content(dotted: str) -> bool:
    """Return whether *dotted*, a name of an unknown module, is of MCP content.

    Names such as ``Image`` are helpers for content in the packages of SDKs alone.
    """
    module, _, name = dotted.rpartition(".")
    if name in _CONTENT_TYPES:
        return True
    return name in _SDK_CONTENT and not _SDK_PACKAGES.isdisjoint(module.split("."))


INJECTED_TYPES = frozenset(
    {
        "AgentContext", "ConfigPaths", "Context", "Request", "RunContext", "RunContextWrapper",
        "ServerSession", "Settings", "ToolContext",
    }
)  # fmt: skip
"""Types, by name, of parameters that a server injects."""
