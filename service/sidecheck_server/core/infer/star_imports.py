"""Names that ``from MODULE import *`` binds, of known modules, as far as inference knows them."""

import collections
import collections.abc
import dataclasses
import enum
from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.infer.known_types import KNOWN_MODULES, SIMPLE

__all__ = ["STAR_EXPORTS"]

# docs.python.org/3.14/library/typing.html; a server on an older Python reads the same source.
_TYPING = frozenset(
    {
        "AbstractSet", "Annotated", "Any", "AnyStr", "AsyncContextManager", "AsyncGenerator",
        "AsyncIterable", "AsyncIterator", "Awaitable", "BinaryIO", "ByteString", "Callable",
        "ChainMap", "ClassVar", "Collection", "Concatenate", "Container", "ContextManager",
        "Coroutine", "Counter", "DefaultDict", "Deque", "Dict", "Final", "ForwardRef", "FrozenSet",
        "Generator", "Generic", "Hashable", "IO", "ItemsView", "Iterable", "Iterator", "KeysView",
        "List", "Literal", "LiteralString", "Mapping", "MappingView", "Match", "MutableMapping",
        "MutableSequence", "MutableSet", "NamedTuple", "Never", "NewType", "NoDefault", "NoReturn",
        "NotRequired", "Optional", "OrderedDict", "ParamSpec", "ParamSpecArgs", "ParamSpecKwargs",
        "Pattern", "Protocol", "ReadOnly", "Required", "Reversible", "Self", "Sequence", "Set",
        "Sized", "SupportsAbs", "SupportsBytes", "SupportsComplex", "SupportsFloat",
        "SupportsIndex", "SupportsInt", "SupportsRound", "TYPE_CHECKING", "Text", "TextIO", "Tuple",
        "Type", "TypeAlias", "TypeAliasType", "TypeGuard", "TypeIs", "TypeVar", "TypeVarTuple",
        "TypedDict", "Union", "Unpack", "ValuesView", "assert_never", "assert_type", "cast",
        "clear_overloads", "dataclass_transform", "final", "get_args", "get_origin",
        "get_overloads", "get_type_hints", "is_typeddict", "no_type_check",
        "no_type_check_decorator", "overload", "override", "reveal_type", "runtime_checkable",
    }
)  # fmt: skip
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
        for module in (collections, collections.abc, dataclasses, enum)
    },
    "abc": frozenset({"ABC", "ABCMeta", "abstractmethod"}),
    "pydantic": _PYDANTIC,
    "typing": _TYPING,
    "typing_extensions": _TYPING,
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
