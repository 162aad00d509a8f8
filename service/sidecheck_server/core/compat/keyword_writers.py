"""Writers of the keywords of a normal form."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Protocol

from sidecheck_server.core.schemas.references import REFERENCES, Subschema
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["Mode", "Writer", "write_keywords"]


class Mode(StrEnum):
    """Treatment of open objects in a subschema."""

    WHOLE = ""
    """The subschema alone applies to its value, and closes objects itself."""
    PART = "part"
    """The subschema applies together with others, and its parent closes objects."""
    OPEN = "open"
    """No object is closed, at the subschema or below."""


class Writer(Protocol):
    """Writer of the subschemas of a keyword."""

    def write_condition(self, value: JsonValue) -> JsonValue:
        """Write a subschema that only states a condition."""

    def write_child(self, value: JsonValue, mode: Mode) -> JsonValue:
        """Write a subschema for a child of the value of its parent, which has *mode*."""

    def write_in_place(self, value: JsonValue, mode: Mode) -> JsonValue:
        """Write a subschema for the same value as its parent, which has *mode*."""

    def record_one_of(self) -> None:
        """Record that the schema uses ``oneOf``."""


def write_keywords(
    writer: Writer, keywords: Mapping[str, Any], mode: Mode, subschema: Subschema
) -> dict[str, Any]:
    """Return *keywords* of *subschema* in normal form, without references."""
    written: dict[str, Any] = {}
    for name, value in keywords.items():
        _WRITERS.get(name, _write_value)(writer, written, name, value, mode, subschema)
    _drop_dependent(written)
    return written


def _write_value(
    _writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    _mode: Mode,
    _subschema: Subschema,
) -> None:
    written[name] = value


def _drop(*_arguments: object) -> None:
    """Write nothing: the keyword asserts nothing, or another keyword includes it."""


def _write_list(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _subschema: Subschema,
) -> None:
    if name == "oneOf":
        writer.record_one_of()
    written.setdefault(name, []).extend(writer.write_in_place(branch, mode) for branch in value)


def _write_in_place(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _subschema: Subschema,
) -> None:
    written[name] = writer.write_in_place(value, mode)


def _write_condition(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    _mode: Mode,
    _subschema: Subschema,
) -> None:
    written[name] = writer.write_condition(value)


def _write_child(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _subschema: Subschema,
) -> None:
    written[name] = value if isinstance(value, bool) else writer.write_child(value, mode)


def _write_map(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _subschema: Subschema,
) -> None:
    written[name] = {key: writer.write_child(item, mode) for key, item in value.items()}


def _write_dependent_schemas(
    writer: Writer,
    written: dict[str, Any],
    _name: str,
    value: Any,
    mode: Mode,
    _subschema: Subschema,
) -> None:
    _add_schemas(written, {key: writer.write_in_place(item, mode) for key, item in value.items()})


def _write_dependent_required(
    _writer: Writer,
    written: dict[str, Any],
    _name: str,
    value: Any,
    _mode: Mode,
    _subschema: Subschema,
) -> None:
    _add_names(written, value)


def _add_names(written: dict[str, Any], added: Mapping[str, Any]) -> None:
    """Add names by property; since 2019-09 two keywords for them may occur together."""
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
    schemas = {
        key: writer.write_in_place(item, mode) for key, item in value.items() if key not in lists
    }
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
        written[name] = writer.write_child(value, mode)
        return
    items = [writer.write_child(item, mode) for item in value]
    rest = subschema.schema.get("additionalItems")
    is_draft_04 = subschema.dialect.draft is Draft.DRAFT_04
    if items or is_draft_04:
        written[name if is_draft_04 else "prefixItems"] = items
    if rest is not None and "additionalItems" in subschema.dialect.keywords:
        is_flag = is_draft_04 and isinstance(rest, bool)
        written["additionalItems" if is_draft_04 else "items"] = (
            rest if is_flag else writer.write_child(rest, mode)
        )


def _write_prefix_items(
    writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    mode: Mode,
    _subschema: Subschema,
) -> None:
    written[name] = [writer.write_child(item, mode) for item in value]


def _write_names(
    _writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    _mode: Mode,
    _subschema: Subschema,
) -> None:
    if value:
        written[name] = sorted(set(value))


def _write_type(
    _writer: Writer,
    written: dict[str, Any],
    name: str,
    value: Any,
    _mode: Mode,
    _subschema: Subschema,
) -> None:
    types = sorted(set(value)) if isinstance(value, list) else [value]
    written[name] = types[0] if len(types) == 1 else types


_WRITERS: Mapping[str, Any] = MappingProxyType(
    {
        **dict.fromkeys((*REFERENCES, "$defs", "definitions", "format", "contentSchema"), _drop),
        "additionalItems": _drop,
        **dict.fromkeys(("allOf", "anyOf", "oneOf"), _write_list),
        **dict.fromkeys(("then", "else"), _write_in_place),
        **dict.fromkeys(("not", "if", "contains", "propertyNames"), _write_condition),
        **dict.fromkeys(
            ("additionalProperties", "unevaluatedProperties", "unevaluatedItems"), _write_child
        ),
        **dict.fromkeys(("properties", "patternProperties"), _write_map),
        "dependentSchemas": _write_dependent_schemas,
        "dependentRequired": _write_dependent_required,
        "dependencies": _write_dependencies,
        "items": _write_items,
        "prefixItems": _write_prefix_items,
        "required": _write_names,
        "type": _write_type,
    }
)
"""Writers by keyword; other keywords are copied."""


def _drop_dependent(written: dict[str, Any]) -> None:
    """Drop the keywords that have no effect without another one."""
    for name, required_name in _DEPENDS_ON:
        if required_name not in written:
            written.pop(name, None)


_DEPENDS_ON = (
    ("then", "if"),
    ("else", "if"),
    ("minContains", "contains"),
    ("maxContains", "contains"),
)
