"""Changes between two definitions outside of their schemas."""

from collections.abc import Iterator, Mapping
from typing import Any

from sidecheck_server.core.compat.changes import Change, Direction, Effect, Part, PerReading
from sidecheck_server.core.compat.keyword_changes import ABSENT, are_equal, shorten
from sidecheck_server.core.compat.rules import CHANGE_RULES

__all__ = ["find_definition_changes", "tool_change"]

_SEPARATE = frozenset({"name", "inputSchema", "outputSchema", "annotations", "execution"})
_CODES = {
    "title": "TITLE_CHANGED",
    "description": "DESCRIPTION_CHANGED",
    "icons": "ICONS_CHANGED",
    "_meta": "META_CHANGED",
}
_PLURALS = frozenset({"annotations", "icons"})
_NONE = PerReading(Direction.NONE, Direction.NONE)


def tool_change(
    code: str,
    message: str,
    locations: tuple[str | None, str | None] = ("", ""),
    values: tuple[str, str] = ("", ""),
) -> Change:
    """Return a change of a definition, with the level of the rule *code*."""
    level = CHANGE_RULES[code].input_level
    assert level is not None, "the rules of changes of definitions have a level"
    effect = Effect(level)
    return Change(
        code, Part.TOOL, PerReading(effect, effect), *locations, "", _NONE, message, *values
    )


def find_definition_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Yield the changes from *old* to *new*, decoded definitions, but not in schemas."""
    for name in dict.fromkeys((*old, *new)):
        if name in _SEPARATE:
            continue
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        if not are_equal(before, after):
            code = _CODES.get(name, "TOOL_PROPERTY_CHANGED")
            yield _property_change(code, f"/{name}", name, before, after)
    for name, find_changes, code in (
        ("annotations", _hint_changes, "ANNOTATIONS_CHANGED"),
        ("execution", _execution_changes, "TOOL_PROPERTY_CHANGED"),
    ):
        changes = [*find_changes(_object_at(old, name), _object_at(new, name))]
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        if not changes and not are_equal(before, after):
            # An empty object was added or removed, or a value is not an object.
            changes = [_property_change(code, f"/{name}", name, before, after)]
        yield from changes


def _property_change(code: str, location: str, name: str, before: Any, after: Any) -> Change:
    verb = "added" if before is ABSENT else "removed" if after is ABSENT else "changed"
    locations = (
        None if before is ABSENT else location,
        None if after is ABSENT else location,
    )
    auxiliary = "were" if name in _PLURALS else "was"
    return tool_change(
        code, f"{name} {auxiliary} {verb}", locations, (shorten(before), shorten(after))
    )


def _hint_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    meanings = _interpret_hints(old), _interpret_hints(new)
    modifies = not any(meaning["readOnlyHint"] for meaning in meanings)
    reported: set[str] = set()
    for name, code in _HINTS:
        before, after = (meaning[name] for meaning in meanings)
        if before == after or (name in _MODIFICATION_HINTS and not modifies):
            continue
        reported.add(name)
        suffix = "ADDED" if after else "REMOVED"
        location = f"/annotations/{name}"
        yield tool_change(
            f"{code}_{suffix}",
            _MESSAGES[f"{code}_{suffix}"],
            (location if name in old else None, location if name in new else None),
            (shorten(before), shorten(after)),
        )
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        if name not in reported and not are_equal(before, after):
            code = "TITLE_CHANGED" if name == "title" else "ANNOTATIONS_CHANGED"
            yield _property_change(code, f"/annotations/{name}", name, before, after)


_HINTS = (
    ("readOnlyHint", "READ_ONLY_HINT"),
    ("destructiveHint", "DESTRUCTIVE_HINT"),
    ("idempotentHint", "IDEMPOTENT_HINT"),
    ("openWorldHint", "OPEN_WORLD_HINT"),
)
_MODIFICATION_HINTS = frozenset({"destructiveHint", "idempotentHint"})
_MESSAGES = {
    "READ_ONLY_HINT_REMOVED": "the tool may now modify its environment",
    "READ_ONLY_HINT_ADDED": "the tool modifies nothing",
    "DESTRUCTIVE_HINT_ADDED": "the tool may now destroy something",
    "DESTRUCTIVE_HINT_REMOVED": "the tool destroys nothing",
    "IDEMPOTENT_HINT_REMOVED": "repeating a call may now have further effects",
    "IDEMPOTENT_HINT_ADDED": "repeating a call has no further effects",
    "OPEN_WORLD_HINT_ADDED": "the tool may now interact with an open world",
    "OPEN_WORLD_HINT_REMOVED": "the tool does not interact with an open world",
}


def _interpret_hints(hints: Mapping[str, Any]) -> dict[str, bool]:
    """Return the values of *hints*, with the protocol's defaults for absent hints.

    The hints on modifications are meaningful only if a tool is not read-only
    (ToolAnnotations in the schema of 2025-11-25).
    """
    return {
        "readOnlyHint": hints.get("readOnlyHint") is True,
        "destructiveHint": hints.get("destructiveHint") is not False,
        "idempotentHint": hints.get("idempotentHint") is True,
        "openWorldHint": hints.get("openWorldHint") is not False,
    }


def _execution_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name, ABSENT), new.get(name, ABSENT)
        if are_equal(before, after):
            continue
        location = f"/execution/{name}"
        change = _property_change("TOOL_PROPERTY_CHANGED", location, name, before, after)
        if name == "taskSupport":
            modes = tuple(mode if mode in _MODES else _FORBIDDEN for mode in (before, after))
            code = _TASK_SUPPORT.get(modes)
            if code:
                locations = change.old_location, change.new_location
                values = change.old_value, change.new_value
                change = tool_change(code, _TASK_MESSAGES[code], locations, values)
        yield change


_MODES = ("forbidden", "optional", "required")
_FORBIDDEN = "forbidden"
"""Meaning of an absent ``taskSupport`` (2025-11-25, tasks), and of an invalid value."""
_TASK_SUPPORT: Mapping[tuple[Any, ...], str] = {
    ("forbidden", "optional"): "TASK_SUPPORT_ADDED",
    ("forbidden", "required"): "TASK_SUPPORT_REQUIRED",
    ("optional", "required"): "TASK_SUPPORT_REQUIRED",
    ("optional", "forbidden"): "TASK_SUPPORT_REMOVED",
    ("required", "forbidden"): "TASK_SUPPORT_REMOVED",
    ("required", "optional"): "TASK_SUPPORT_RELAXED",
}
_TASK_MESSAGES = {
    "TASK_SUPPORT_ADDED": "calls may be tasks",
    "TASK_SUPPORT_REQUIRED": "task execution became required",
    "TASK_SUPPORT_REMOVED": "calls can no longer be tasks",
    "TASK_SUPPORT_RELAXED": "calls need not be tasks",
}


def _object_at(definition: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = definition.get(name)
    return value if isinstance(value, dict) else {}
