"""Names that ``from MODULE import *`` binds, of known modules, as far as inference knows them."""

import collections
import collections.abc
import dataclasses
import enum
import typing
from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.infer.known_types import KNOWN_MODULES, SIMPLE

__all__ = ["STAR_EXPORTS"]

_PYDANTIC = frozenset(
    {
        "BaseModel", "ConfigDict", "Field", "Json", "JsonValue", "RootModel", "StringConstraints",
        "computed_field", "field_serializer", "field_validator", "model_serializer",
        "model_validator",
    }
)  # fmt: skip
_EXPORTS: dict[str, frozenset[str]] = {
    **{
        module.__name__: frozenset(module.__all__)
        for module in (collections, collections.abc, dataclasses, enum, typing)
    },
    "abc": frozenset({"ABC", "ABCMeta", "abstractmethod"}),
    # The server runs without these two.
    "pydantic": _PYDANTIC,
    "typing_extensions": frozenset(typing.__all__),
}


def _simple_types(module: str) -> frozenset[str]:
    """Return the names of the types of *module* that have a schema."""
    parts = (name.rpartition(".") for name in SIMPLE)
    return frozenset(last for owner, _, last in parts if owner == module)


STAR_EXPORTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        module: _EXPORTS.get(module, frozenset()) | _simple_types(module)
        for module in sorted(KNOWN_MODULES - {"builtins"})
    }
)
"""Names by module."""
