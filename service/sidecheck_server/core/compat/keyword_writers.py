"""How each keyword is written in the normal form of a schema."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Protocol

from sidecheck_server.core.schemas.references import REFERENCES, Subschema
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["Mode", "Writer", "write_keywords"]


class Mode(StrEnum):
    """How a subschema is written."""

    WHOLE = ""
    """It is all that applies to its place: objects are closed here."""
    PART = "part"
    """It applies together with others, at whose place objects are closed."""
    OPEN = "open"
    """Nothing is closed, here or below."""


class Writer(Protocol):
    """Writes the subschemas of a keyword."""

    def condition(self, value: JsonValue) -> JsonValue:
        """Write a subschema that is only a condition."""

    def place(self, value: JsonValue, mode: Mode) -> JsonValue:
        """Write the subschema of another value than that of its parent, of *mode*."""

    def beside(self, value: JsonValue, mode: Mode) -> JsonValue:
        """Write a subschema of the same value as its parent, of *mode*."""

    def note_one_of(self) -> None:
        """Remember that a subschema may be one of which exactly one must match."""


def write_keywords(
    writer: Writer, keywords: Mapping[str, Any], mode: Mode, subschema: Subschema
) -> dict[str, Any]:
    """Return *keywords* of *subschema*, in force in its dialect, without its references."""
    written: dict[str, Any] = {}
    for name, value in keywords.items():
        _WRITERS.get(name, _write_value)(writer, written, name, value, mode, subschema)
    _drop_dependent(written)
    return written


def _write_value(
    _: Writer, written: dict[str, Any], name: str, value: Any, __: Mode, ___: Subschema
) -> None:
    written[name] = value


def _drop(*_: object) -> None:
    """Write nothing: the keyword asserts nothing, or was written with another one."""


def _write_list(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _: Subschema,
) -> None:
    if name == "oneOf":
        writer.note_one_of()
    written.setdefault(name, []).extend(writer.beside(branch, mode) for branch in value)


def _write_beside(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _: Subschema,
) -> None:
    written[name] = writer.beside(value, mode)


def _write_condition(
    writer: Writer, written: dict[str, Any], name: str, value: Any, _: Mode, __: Subschema
) -> None:
    written[name] = writer.condition(value)


def _write_place(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _: Subschema,
) -> None:
    written[name] = value if isinstance(value, bool) else writer.place(value, mode)


def _write_map(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _: Subschema,
) -> None:
    written[name] = {key: writer.place(item, mode) for key, item in value.items()}


def _write_dependent(
    writer: Writer,
    written: dict[str, Any],
    _: str,
    value: Any,
    mode: Mode,
    __: Subschema,
) -> None:
    _add_schemas(written, {key: writer.beside(item, mode) for key, item in value.items()})


def _write_required(
    _: Writer, written: dict[str, Any], __: str, value: Any, ___: Mode, ____: Subschema
) -> None:
    _add_names(written, value)


def _add_names(written: dict[str, Any], added: Mapping[str, Any]) -> None:
    """Add names by property; both keywords for them may occur together since 2019-09."""
    known = written.setdefault("dependentRequired", {})
    for key, names in added.items():
        known[key] = sorted({*known.get(key, ()), *names})


def _add_schemas(written: dict[str, Any], added: Mapping[str, Any]) -> None:
    """Add schemas by property, as `_add_names` does."""
    known = written.setdefault("dependentSchemas", {})
    for key, schema in added.items():
        known[key] = {"allOf": [known[key], schema]} if key in known else schema


def _write_dependencies(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    subschema: Subschema,
) -> None:
    lists = {key: item for key, item in value.items() if isinstance(item, list)}
    schemas = {key: writer.beside(item, mode) for key, item in value.items() if key not in lists}
    if subschema.dialect.draft is Draft.DRAFT_04:
        written[name] = {**lists, **schemas}
        return
    if lists:
        _add_names(written, lists)
    if schemas:
        _add_schemas(written, schemas)


def _write_items(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    subschema: Subschema,
) -> None:
    if not isinstance(value, list):
        written[name] = writer.place(value, mode)
        return
    items = [writer.place(item, mode) for item in value]
    rest = subschema.schema.get("additionalItems")
    keeps = subschema.dialect.draft is Draft.DRAFT_04
    if items or keeps:
        written[name if keeps else "prefixItems"] = items
    if rest is not None and "additionalItems" in subschema.dialect.keywords:
        is_flag = keeps and isinstance(rest, bool)
        written["additionalItems" if keeps else "items"] = (
            rest if is_flag else writer.place(rest, mode)
        )


def _write_prefix_items(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _: Subschema,
) -> None:
    written[name] = [writer.place(item, mode) for item in value]


def _write_names(
    _: Writer, written: dict[str, Any], name: str, value: Any, __: Mode, ___: Subschema
) -> None:
    if value:
        written[name] = sorted(set(value))


def _write_type(
    _: Writer, written: dict[str, Any], name: str, value: Any, __: Mode, ___: Subschema
) -> None:
    types = sorted(set(value)) if isinstance(value, list) else [value]
    written[name] = types[0] if len(types) == 1 else types


_WRITERS: Mapping[str, Any] = MappingProxyType(
    {
        **dict.fromkeys((*REFERENCES, "$defs", "definitions", "format", "contentSchema"), _drop),
        "additionalItems": _drop,
        **dict.fromkeys(("allOf", "anyOf", "oneOf"), _write_list),
        **dict.fromkeys(("then", "else"), _write_beside),
        **dict.fromkeys(("not", "if", "contains", "propertyNames"), _write_condition),
        **dict.fromkeys(
            ("additionalProperties", "unevaluatedProperties", "unevaluatedItems"), _write_place
        ),
        **dict.fromkeys(("properties", "patternProperties"), _write_map),
        "dependentSchemas": _write_dependent,
        "dependentRequired": _write_required,
        "dependencies": _write_dependencies,
        "items": _write_items,
        "prefixItems": _write_prefix_items,
        "required": _write_names,
        "type": _write_type,
    }
)
"""How each keyword is written; one that is not listed, as it is."""


def _drop_dependent(written: dict[str, Any]) -> None:
    """Drop the keywords that have no effect without another one."""
    for name, needed in _DEPENDS_ON:
        if needed not in written:
            written.pop(name, None)


_DEPENDS_ON = (
    ("then", "if"),
    ("else", "if"),
    ("minContains", "contains"),
    ("maxContains", "contains"),
)
