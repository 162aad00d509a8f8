"""Types of the JSON that callers pass to the client and receive from it."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol, TypeAlias

__all__ = [
    "JSON_BYTES",
    "NO_TEXT",
    "DataclassObject",
    "JsonBytes",
    "JsonObject",
    "JsonText",
    "ModelObject",
]


class ModelObject(Protocol):
    """An object with the ``model_dump`` of pydantic models."""

    def model_dump(self, *, mode: str = ..., by_alias: bool = ..., exclude_none: bool = ...) -> Any:
        """Return the value as dicts, lists and scalars."""


class DataclassObject(Protocol):
    """An instance of a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


#: JSON text in UTF-8, which is sent unchanged.
JsonBytes: TypeAlias = bytes | bytearray | memoryview

#: The classes of `JsonBytes`, for `isinstance`.
JSON_BYTES: Final = (bytes, bytearray, memoryview)

#: A JSON object: a mapping, or an object of an SDK.
JsonObject: TypeAlias = Mapping[str, Any] | ModelObject | DataclassObject


class JsonText(bytes):
    """JSON text in UTF-8 as the server wrote it; b"" for no text.

    Use it like any ``bytes``, or decode it with `value`.
    """

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The decoded text, or None for b"". Decoded at each access."""
        return json.loads(self) if self else None


#: The value of `JsonText` fields that are not set.
NO_TEXT: Final = JsonText()
