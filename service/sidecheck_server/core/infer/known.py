"""What is known without the text: the modules, and the types that have a schema."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

__all__ = [
    "CONTENT_TYPES",
    "INJECTED_TYPES",
    "KNOWN_MODULES",
    "MAPPINGS",
    "SEQUENCES",
    "SETS",
    "SIMPLE",
    "TUPLES",
    "WRITTEN",
    "Kind",
    "canonical",
]

KNOWN_MODULES = frozenset(
    {
        "abc", "annotated_types", "builtins", "collections", "collections.abc", "dataclasses",
        "datetime", "decimal", "enum", "fractions", "ipaddress", "pathlib", "pydantic",
        "pydantic.dataclasses", "pydantic.fields", "pydantic.networks", "pydantic.types", "re",
        "types", "typing", "typing_extensions", "uuid", "zoneinfo",
    }
)  # fmt: skip
"""The modules whose names mean what they always mean."""

_SAME_AS = MappingProxyType(
    {
        "typing_extensions": "typing",
        "pydantic.fields": "pydantic",
        "pydantic.networks": "pydantic",
        "pydantic.types": "pydantic",
        "collections.abc": "typing",
        "annotated_types": "annotated_types",
    }
)
_SAME_NAME = MappingProxyType(
    {
        "typing.Set": "typing.Set",
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


def canonical(dotted: str) -> str:
    """Return the one name of what *dotted* names in a known module."""
    module, _, name = dotted.rpartition(".")
    dotted = f"{_SAME_AS.get(module, module)}.{name}"
    return _SAME_NAME.get(dotted, dotted)


class Kind(StrEnum):
    """What constraints mean for a type: pydantic gives each another keyword, or none."""

    NUMBER = "number"
    INTEGER = "integer"
    DECIMAL = "decimal"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"
    #: Whose bounds are not told in a schema.
    TIME = "time"
    URL = "url"
    NULLABLE = "nullable"
    #: A type that constraints are put beside, by their own names.
    OTHER = "other"


def _string(form: str, **members: Any) -> dict[str, Any]:
    return {"type": "string", "format": form, **members}


_SECRET = _string("password", writeOnly=True)
_URI = _string("uri", minLength=1)
_SHORT_URI = _string("uri", minLength=1, maxLength=2083)

_DECIMAL = {"anyOf": [{"type": "number"}, {"type": "string"}]}

#: The schemas of types without parameters, as pydantic 2.14 writes them, and their kinds.
SIMPLE: Mapping[str, tuple[dict[str, Any], Kind]] = MappingProxyType(
    {
        "builtins.int": ({"type": "integer"}, Kind.INTEGER),
        "builtins.str": ({"type": "string"}, Kind.STRING),
        "builtins.float": ({"type": "number"}, Kind.NUMBER),
        "builtins.bool": ({"type": "boolean"}, Kind.OTHER),
        "builtins.bytes": (_string("binary"), Kind.STRING),
        "builtins.None": ({"type": "null"}, Kind.OTHER),
        "builtins.object": ({}, Kind.OTHER),
        "builtins.complex": ({"type": "string"}, Kind.OTHER),
        "typing.Any": ({}, Kind.OTHER),
        "datetime.datetime": (_string("date-time"), Kind.TIME),
        "datetime.date": (_string("date"), Kind.TIME),
        "datetime.time": (_string("time"), Kind.TIME),
        "datetime.timedelta": (_string("duration"), Kind.TIME),
        "uuid.UUID": (_string("uuid"), Kind.OTHER),
        "decimal.Decimal": (_DECIMAL, Kind.DECIMAL),
        "fractions.Fraction": (
            {"anyOf": [{"type": "number"}, _string("fraction")]},
            Kind.OTHER,
        ),
        "re.Pattern": (_string("regex"), Kind.OTHER),
        "zoneinfo.ZoneInfo": (_string("zoneinfo"), Kind.OTHER),
        **{
            f"pathlib.{name}": (_string("path"), Kind.OTHER)
            for name in (
                "Path", "PurePath", "PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath",
            )
        },
        **{
            f"ipaddress.IPv{version}{name}": (_string(f"ipv{version}{name.lower()}"), Kind.OTHER)
            for version in (4, 6)
            for name in ("Network", "Interface")
        },
        "ipaddress.IPv4Address": (_string("ipv4"), Kind.OTHER),
        "ipaddress.IPv6Address": (_string("ipv6"), Kind.OTHER),
        **{
            f"pydantic.UUID{version}": (_string(f"uuid{version}"), Kind.OTHER)
            for version in (1, 3, 4, 5)
        },
        "pydantic.AnyUrl": (_URI, Kind.URL),
        "pydantic.AnyHttpUrl": (_URI, Kind.URL),
        "pydantic.FileUrl": (_URI, Kind.URL),
        "pydantic.AnyWebsocketUrl": (_URI, Kind.URL),
        "pydantic.HttpUrl": (_SHORT_URI, Kind.URL),
        "pydantic.WebsocketUrl": (_SHORT_URI, Kind.URL),
        "pydantic.EmailStr": (_string("email"), Kind.OTHER),
        "pydantic.NameEmail": (_string("name-email"), Kind.OTHER),
        "pydantic.IPvAnyAddress": (_string("ipvanyaddress"), Kind.OTHER),
        "pydantic.SecretStr": (_SECRET, Kind.OTHER),
        "pydantic.SecretBytes": (_SECRET, Kind.OTHER),
        "pydantic.Base64Bytes": (_string("base64"), Kind.OTHER),
        "pydantic.Base64Str": (_string("base64"), Kind.OTHER),
        "pydantic.FilePath": (_string("file-path"), Kind.OTHER),
        "pydantic.DirectoryPath": (_string("directory-path"), Kind.OTHER),
        "pydantic.NewPath": (_string("path"), Kind.OTHER),
        "pydantic.PastDate": (_string("date"), Kind.TIME),
        "pydantic.FutureDate": (_string("date"), Kind.TIME),
        "pydantic.PastDatetime": (_string("date-time"), Kind.TIME),
        "pydantic.FutureDatetime": (_string("date-time"), Kind.TIME),
        "pydantic.AwareDatetime": (_string("date-time"), Kind.TIME),
        "pydantic.NaiveDatetime": (_string("date-time"), Kind.TIME),
        "pydantic.StrictStr": ({"type": "string"}, Kind.STRING),
        "pydantic.StrictInt": ({"type": "integer"}, Kind.INTEGER),
        "pydantic.StrictFloat": ({"type": "number"}, Kind.NUMBER),
        "pydantic.StrictBool": ({"type": "boolean"}, Kind.OTHER),
        "pydantic.StrictBytes": (_string("binary"), Kind.STRING),
        "pydantic.FiniteFloat": ({"type": "number"}, Kind.NUMBER),
        "pydantic.PositiveInt": ({"type": "integer", "exclusiveMinimum": 0}, Kind.INTEGER),
        "pydantic.NegativeInt": ({"type": "integer", "exclusiveMaximum": 0}, Kind.INTEGER),
        "pydantic.NonNegativeInt": ({"type": "integer", "minimum": 0}, Kind.INTEGER),
        "pydantic.NonPositiveInt": ({"type": "integer", "maximum": 0}, Kind.INTEGER),
        "pydantic.PositiveFloat": ({"type": "number", "exclusiveMinimum": 0}, Kind.NUMBER),
        "pydantic.NegativeFloat": ({"type": "number", "exclusiveMaximum": 0}, Kind.NUMBER),
        "pydantic.NonNegativeFloat": ({"type": "number", "minimum": 0}, Kind.NUMBER),
        "pydantic.NonPositiveFloat": ({"type": "number", "maximum": 0}, Kind.NUMBER),
    }
)  # fmt: skip

#: The schemas of those that are written otherwise than they are read.
WRITTEN: Mapping[str, dict[str, Any]] = MappingProxyType(
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

CONTENT_TYPES = frozenset(
    {
        "AudioContent", "CallToolResult", "EmbeddedResource", "ImageContent", "ResourceLink",
        "ServerResult", "TextContent",
    }
)  # fmt: skip
"""Types of MCP that are results themselves, and so have no output schema."""

INJECTED_TYPES = frozenset(
    {
        "AgentContext", "ConfigPaths", "Context", "Request", "RunContext", "RunContextWrapper",
        "ServerSession", "Settings", "ToolContext",
    }
)  # fmt: skip
"""Types, by name, of parameters that a server gives."""
