"""Definitions as serializers write them: with nulls, and with the field names of Python.

A dump of an SDK's object often has ``null`` for every property that is not set, and without
aliases the snake-case names of the fields. Both are read as what they stand for; neither
conforms to the protocol, whose optional properties may be missing but not null.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sidecheck_server.core.explain.values import join_phrase
from sidecheck_server.core.mcp.context import VERSIONS
from sidecheck_server.core.mcp.rules.rule import Fault, Path, Rule
from sidecheck_server.core.mcp.rules.tools import (
    NULL_PROPERTY,
    NULL_PROPERTY_DROPPED,
    SNAKE_CASE_PROPERTY,
    SNAKE_CASE_PROPERTY_RENAMED,
)
from sidecheck_server.core.mcp.types.model import ListOf, ObjectType, Ref
from sidecheck_server.core.mcp.types.rendering import TYPES, properties_of
from sidecheck_server.core.types import as_pointer

__all__ = ["ProtocolForm", "list_form", "protocol_form"]

_MAX_SHOWN = 8
"""Number of properties that a message lists."""

_PARTS = frozenset({"ToolAnnotations", "ToolExecution", "Icon"})
"""Parts of definitions that are objects of the protocol; schemas and ``_meta`` are data."""

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


@dataclass(slots=True)
class ProtocolForm:
    """A definition, or a list, in the form of the protocol, and how the original differed."""

    #: The value; the original object if it had that form.
    value: Any
    #: Paths of properties that were null.
    nulls: list[Path] = field(default_factory=list)
    #: Paths of properties with Python's names, and the names of the protocol.
    renamed: list[tuple[Path, str]] = field(default_factory=list)

    def faults(self, *, lenient: bool) -> Iterator[tuple[Rule, Fault]]:
        """Yield one fault for all nulls, and one for all names.

        If *lenient*, they are warnings: the definition is read in the form of the protocol.
        """
        if self.nulls:
            listed = _list([as_pointer(path) for path in self.nulls])
            null = "is null" if len(self.nulls) == 1 else "are null"
            rule = NULL_PROPERTY_DROPPED if lenient else NULL_PROPERTY
            treatment = "read as missing" if lenient else "an optional property may only be missing"
            yield (
                rule,
                Fault(
                    self.nulls[0],
                    f"{listed} {null}, {treatment}; leave out what is not set (pydantic: "
                    "exclude_none=True)",
                ),
            )
        if self.renamed:
            listed = _list([f"{as_pointer(path)} for {name}" for path, name in self.renamed])
            rule = SNAKE_CASE_PROPERTY_RENAMED if lenient else SNAKE_CASE_PROPERTY
            treatment = "read by the protocol's names" if lenient else "not the protocol's names"
            message = f"{listed}: {treatment}; serialize by alias (pydantic: by_alias=True)"
            yield rule, Fault(self.renamed[0][0], message)


def list_form(result: Any) -> ProtocolForm:
    """Return *result*, a dump of a ``tools/list`` result, in the form of the protocol.

    Its definitions are left as they are.
    """
    form = ProtocolForm(result)
    if isinstance(result, dict):
        adapted = _object_form(result, "ListToolsResult", (), form, reads_names=True)
        if form.nulls or form.renamed:
            form.value = adapted
    return form


def protocol_form(tool: Any, *, lenient: bool, version: str = "") -> ProtocolForm:
    """Return the definition *tool* in the form of the protocol.

    Nulls of properties that are optional in *version*, or in any, are dropped from the
    definition, its annotations, execution and icons. A snake-case name is read as the
    protocol's, unless the object has that too. Unless *lenient*, names are read so only in a
    definition without ``inputSchema``: in another, they are properties of an extension.
    """
    form = ProtocolForm(tool)
    if isinstance(tool, dict):
        is_dump = "input_schema" in tool and "inputSchema" not in tool
        reads_names = lenient or is_dump
        adapted = _object_form(tool, "Tool", (), form, reads_names=reads_names, version=version)
        if form.nulls or form.renamed:
            form.value = adapted
    return form


def _object_form(
    value: dict[str, Any],
    type_: str,
    path: Path,
    form: ProtocolForm,
    *,
    reads_names: bool,
    version: str = "",
) -> Any:
    """Return *value*, an object of the type *type_* at *path*, and note the differences."""
    fields = _fields(type_, version)
    result: dict[str, Any] = {}
    for key, item in value.items():
        name = fields.names.get(key, key) if reads_names else key
        # "meta" may be anybody's property, unless the definition has other Python names.
        if name != key and (name in value or (key == "meta" and "input_schema" not in value)):
            name = key
        here = (*path, key)
        if item is None and name in fields.optional:
            form.nulls.append(here)
            continue
        if name != key:
            form.renamed.append((here, name))
        part = fields.parts.get(name)
        if part is None:
            result[name] = item
        elif isinstance(item, list):
            result[name] = [
                _object_form(
                    entry, part, (*here, index), form, reads_names=reads_names, version=version
                )
                if isinstance(entry, dict)
                else entry
                for index, entry in enumerate(item)
            ]
        elif isinstance(item, dict):
            result[name] = _object_form(
                item, part, here, form, reads_names=reads_names, version=version
            )
        else:
            result[name] = item
    return result


@dataclass(frozen=True, slots=True)
class _Fields:
    """Properties of a type in all versions: a serializer does not know the version."""

    #: Those of one version, if the schema of that version decides: it accepts a null of a
    #: property that it does not have.
    optional: frozenset[str]
    #: Types of the parts, by property.
    parts: Mapping[str, str]
    #: Names of the protocol by Python's.
    names: Mapping[str, str]


@lru_cache(maxsize=64)  # more than there are parts and versions
def _fields(type_: str, optional_in: str) -> _Fields:
    object_type = TYPES[type_]
    assert isinstance(object_type, ObjectType)
    optional: set[str] = set()
    parts: dict[str, str] = {}
    names: dict[str, str] = {}
    for version in VERSIONS:
        for name, property_ in properties_of(TYPES, object_type, version).items():
            if not property_.required and optional_in in ("", version):
                optional.add(name)
            kind = property_.kind.item if isinstance(property_.kind, ListOf) else property_.kind
            if isinstance(kind, Ref) and kind.name in _PARTS:
                parts[name] = kind.name
            python_name = _WORD.sub("_", name).lower().lstrip("_")
            if python_name != name:
                names[python_name] = name
    return _Fields(frozenset(optional), parts, names)


def _list(items: list[str]) -> str:
    shown = items[:_MAX_SHOWN]
    more = len(items) - len(shown)
    return join_phrase([*shown, f"{more:,} more"] if more else shown, "and")
