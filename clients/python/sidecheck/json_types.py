"""Types of the JSON that callers pass to the client."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol, TypeAlias

__all__ = ["JSON_BYTES", "DataclassObject", "JsonBytes", "JsonObject", "ModelObject"]


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
