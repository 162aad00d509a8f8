"""Application of the requested repairs, in a fixed order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sidecheck_server.core.engines.application import (
    AppliedSchema,
    Container,
    Path,
    choose_single,
    list_unconditional,
    property_subschemas,
    walk_containers,
)
from sidecheck_server.core.engines.complete import CompleteEngine
from sidecheck_server.core.engines.unevaluated import accepts
from sidecheck_server.core.explain.values import format_literal, quote
from sidecheck_server.core.json_values import json_equal
from sidecheck_server.core.limits import Budget, Limits, limit_exceeded_error, spend
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.repair.coercion import coerce
from sidecheck_server.core.repair.edits import apply_edits
from sidecheck_server.core.repair.types import Repairs, UnknownArguments
from sidecheck_server.core.repair.unknown_properties import strip_unknown_properties
from sidecheck_server.core.types import Change, ChangeRule, JsonValue, as_pointer

__all__ = [
    "apply_defaults",
    "apply_repairs",
    "encode_repaired",
]

_DEFAULT = 200
"""Steps of one default, without its size."""

_MOST_ROUNDS = 32
"""Deepest nesting of defaults in defaults."""


def apply_defaults(
    engine: CompleteEngine, value: JsonValue, budget: Budget
) -> tuple[JsonValue, tuple[Change, ...]]:
    """Add the defaults of absent properties to *value*; return the changes too.

    The changes include skipped defaults.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    filler = _DefaultFiller(engine, budget)
    value = filler.fill(value)
    return value, tuple(filler.changes.values())


@dataclass(frozen=True, slots=True)
class _Default:
    """A default, and its paths in payload and schema."""

    path: Path
    value: JsonValue
    schema_path: Path
    #: The identity of its subschema.
    owner: int

    def describe_change(self, rule: ChangeRule, outcome: str) -> Change:
        """Return the change for the default, with *outcome* in its message."""
        name = quote(str(self.path[-1]))
        return Change(
            as_pointer(self.path),
            rule,
            as_pointer(self.schema_path),
            f"the default {format_literal(self.value)} of {name} {outcome}",
        )


class _DefaultFiller:
    """Application of defaults to one payload, in rounds."""

    def __init__(self, engine: CompleteEngine, budget: Budget) -> None:
        self._engine = engine
        self._budget = budget
        #: The outcome of each default, by its path in the payload.
        self.changes: dict[Path, Change] = {}
        #: The subschemas of the applied defaults.
        self._owners: dict[Path, int] = {}

    def fill(self, value: JsonValue) -> JsonValue:
        """Return *value* with all defaults applied."""
        for _ in range(_MOST_ROUNDS):
            defaults = list(self._find_applicable(value))
            if not defaults:
                break
            value = self._apply(value, defaults, guarded=self._is_valid(value))
        return value

    def _find_applicable(self, value: JsonValue) -> Iterator[_Default]:
        """Yield the defaults that can be applied to *value*; report the others as skipped."""
        for container in walk_containers(self._engine, value, self._budget, choose_single):
            if isinstance(container.value, dict):
                for name, defaults in _defaults_in(container).items():
                    if defaults[0].path in self.changes:
                        continue
                    self._charge(defaults[0])
                    reason = self._skip_reason(container, name, defaults)
                    if reason:
                        self._skip(defaults[0], reason)
                    else:
                        yield defaults[0]

    def _charge(self, default: _Default) -> None:
        # A default may apply to every item of an array: one object, but encoded for each.
        spend(self._budget, _DEFAULT + _size(default.value))

    def _skip_reason(self, container: Container, name: str, defaults: list[_Default]) -> str:
        first = defaults[0]
        if not all(json_equal(default.value, first.value) for default in defaults):
            return "another part of the schema has a different default for it"
        pending = (
            subschema
            for schema in container.applied
            for subschema in property_subschemas(schema, name)
        )
        if not all(
            subschema.is_condition or accepts(subschema.validator, first.value, subschema.schema)
            for subschema in pending
        ):
            return "it is invalid against the schema of its property"
        ancestors = (first.path[:length] for length in range(1, len(first.path)))
        if any(self._owners.get(path) == first.owner for path in ancestors):
            return "it would be nested in itself"
        return ""

    def _apply(self, value: JsonValue, defaults: list[_Default], *, guarded: bool) -> JsonValue:
        """Apply *defaults* to *value*; if *guarded*, skip those that make it invalid."""
        edits = {default.path: default.value for default in defaults}
        filled = apply_edits(value, edits, self._budget)
        if not guarded or self._is_valid(filled):
            for default in defaults:
                self._owners[default.path] = default.owner
                self.changes[default.path] = default.describe_change(
                    ChangeRule.DEFAULT_APPLIED, "was applied"
                )
            return filled
        if len(defaults) == 1:
            self._skip(defaults[0], "it would make the valid payload invalid")
            return value
        half = len(defaults) // 2
        value = self._apply(value, defaults[:half], guarded=True)
        return self._apply(value, defaults[half:], guarded=True)

    def _skip(self, default: _Default, reason: str) -> None:
        self.changes[default.path] = default.describe_change(
            ChangeRule.DEFAULT_SKIPPED, f"was skipped: {reason}"
        )

    def _is_valid(self, value: JsonValue) -> bool:
        validator, schema = self._engine.at_root(self._budget)
        return accepts(validator, value, schema)


def _defaults_in(container: Container) -> Mapping[str, list[_Default]]:
    """Return the defaults of the properties that *container* lacks, by name."""
    defaults: dict[str, list[_Default]] = {}
    for schema in container.applied:
        for name in () if schema.is_condition else schema.get("properties", ()):
            if name not in container.value:
                for default in _defaults_of(schema, name, (*container.path, name)):
                    defaults.setdefault(name, []).append(default)
    return defaults


def _defaults_of(schema: AppliedSchema, name: str, path: Path) -> Iterator[_Default]:
    """Yield the defaults that *schema* declares for the property *name*."""
    subschema = schema.schema["properties"][name]
    if not isinstance(subschema, dict) or not _MAY_LEAD_TO_DEFAULTS & subschema.keys():
        return
    pending = schema.subschema("properties", name)
    with_default = [
        applied for applied in list_unconditional([pending]) if applied.has_annotation("default")
    ]
    # The default of the subschema overrides those that it has by ``$ref`` or ``allOf``.
    direct = [applied for applied in with_default if applied.schema is subschema]
    for applied in direct or with_default:
        yield _Default(
            path, applied.schema["default"], (*applied.path, "default"), id(applied.schema)
        )


def _size(value: JsonValue) -> int:
    """Return the approximate length of the JSON text of *value*, in characters."""
    if isinstance(value, str):
        return 2 + len(value)
    if isinstance(value, dict):
        return 2 + sum(4 + len(name) + _size(item) for name, item in value.items())
    if isinstance(value, list):
        return 2 + sum(1 + _size(item) for item in value)
    return 8


_MAY_LEAD_TO_DEFAULTS = {"default", "$ref", "$dynamicRef", "$recursiveRef", "allOf"}


_CHUNK = 20
"""Steps of encoding one name, bracket, separator or scalar."""


def apply_repairs(
    engine: CompleteEngine,
    value: JsonValue,
    repairs: Repairs,
    budget: Budget,
    *,
    valid: bool,
    hide_values: bool,
    max_depth: int,
) -> tuple[JsonValue, tuple[Change, ...]]:
    """Apply *repairs* to *value*; return the result and the changes.

    The order is: coercion, unless *value* is *valid*; removal of unknown properties;
    defaults.

    Raises:
        Exhausted: *budget* has too few steps.
    """
    changes: list[Change] = []
    if not valid:
        value, coerced = coerce(
            engine,
            value,
            repairs.coercion,
            budget,
            hide_values=hide_values,
            max_depth=max_depth,
        )
        changes += coerced
    if repairs.unknown is UnknownArguments.STRIP:
        value, removed = strip_unknown_properties(engine, value, budget, hide_values=hide_values)
        changes += removed
    if repairs.apply_defaults:
        value, added = apply_defaults(engine, value, budget)
        changes += added
    return value, tuple(changes)


def encode_repaired(value: JsonValue, limits: Limits, budget: Budget) -> bytes:
    """Return the JSON text of *value*, a repaired payload.

    Raises:
        Exhausted: *budget* has too few steps.
        RequestError: LIMIT_EXCEEDED if it exceeds the limit of payloads: defaults can be
            large, and apply at many places.
    """
    chunks: list[bytes] = []
    size = 0
    for chunk in _pieces(value):
        spend(budget, _CHUNK)
        chunks.append(chunk)
        size += len(chunk)
        if size > limits.payload_bytes:
            raise limit_exceeded_error(
                "payload_bytes", limits.payload_bytes, "the repaired payload"
            )
    return b"".join(chunks)


def _pieces(value: JsonValue) -> Iterator[bytes]:
    """Yield the JSON text of *value* in pieces: brackets, names and scalars."""
    if isinstance(value, dict) and value:
        separator = b"{"
        for name, part in value.items():
            yield separator + encode_json(name) + b":"
            yield from _pieces(part)
            separator = b","
        yield b"}"
    elif isinstance(value, list) and value:
        separator = b"["
        for part in value:
            yield separator
            yield from _pieces(part)
            separator = b","
        yield b"]"
    else:
        yield encode_json(value)
