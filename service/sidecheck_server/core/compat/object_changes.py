"""Changes of the properties of objects."""

from typing import Any

from sidecheck_server.core.compat.changes import Direction, PerReading
from sidecheck_server.core.compat.keyword_changes import ABSENT, KeywordChange, are_equal, shorten
from sidecheck_server.core.compat.rules import CHANGE_RULES, upper_snake
from sidecheck_server.core.compat.schema_nodes import SchemaNode, as_step
from sidecheck_server.core.compat.walk import Sign, Walk
from sidecheck_server.core.explain.values import quote

__all__ = ["compare_objects"]


def compare_objects(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    """Add the changes of the keywords about properties."""
    _compare_required(walk, old, new, sign)
    _compare_properties(walk, old, new, sign)
    for keyword in _CLOSING:
        _compare_other_properties(walk, old, new, keyword, sign)
    for keyword in ("patternProperties", "dependentSchemas"):
        _compare_maps(walk, old, new, keyword, sign)
    for keyword in ("dependentRequired", "dependencies"):
        _compare_dependencies(walk, old, new, keyword, sign)


_CLOSING = ("additionalProperties", "unevaluatedProperties")
_MAP_CODES = {
    "patternProperties": "PATTERN_PROPERTY",
    "dependentSchemas": "DEPENDENT_SCHEMA",
    "dependentRequired": "DEPENDENT_REQUIRED",
    "dependencies": "DEPENDENCY",
}


def _compare_required(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    before, after = (dict.fromkeys(node.list("required")) for node in (old, new))
    declared = [node.map("properties") for node in (old, new)]
    for name in (*after, *(name for name in before if name not in after)):
        if name in before and name in after:
            continue
        # A property that came or went is reported as that.
        if name in declared[0] or name not in declared[1] or name in before:
            if name in before and name in declared[0] and name not in declared[1]:
                continue
            verb, code = ("became", "ADDED") if name in after else ("is no longer", "REMOVED")
            change = KeywordChange(
                f"REQUIRED_{code}", f"the property {quote(name)} {verb} required"
            )
            walk.add(change, (old, new), "required", sign, name=name)


def _compare_properties(walk: Walk, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
    before, after = (node.map("properties") for node in (old, new))
    for name in dict.fromkeys((*before, *after)):
        if name in before and name in after:
            walk.compare(
                walk.old.child(old, "properties", name),
                walk.new.child(new, "properties", name),
                sign,
            )
            continue
        added = name in after
        required = name in (new if added else old).list("required")
        code = f"{'REQUIRED_' if required else ''}PROPERTY_{'ADDED' if added else 'REMOVED'}"
        kind = "required" if required else "optional"
        change = KeywordChange(
            code, f"the {kind} property {quote(name)} was {'added' if added else 'removed'}"
        )
        walk.add(
            change,
            (old, new),
            "properties",
            sign,
            steps=("", as_step(name)) if added else (as_step(name), ""),
            directions=_of_property(old, new, added=added, required=required),
            name=name,
        )


def _compare_other_properties(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, sign: Sign
) -> None:
    before, after = (node.subschema(keyword) for node in (old, new))
    if are_equal(before, after) and not isinstance(before, dict):
        return
    code, change = upper_snake(keyword), None
    nodes = old, new
    none, narrower, wider = Direction.NONE, Direction.NARROWER, Direction.WIDER
    if after is False:
        change = KeywordChange(f"{code}_CLOSED", "undeclared properties are not allowed")
        closed = none if before is ABSENT else narrower
        walk.add(change, nodes, keyword, sign, directions=PerReading(narrower, closed))
    elif before is False:
        change = KeywordChange(f"{code}_OPENED", "undeclared properties are allowed")
        opened = none if after is ABSENT else wider
        walk.add(change, nodes, keyword, sign, directions=PerReading(wider, opened))
    elif isinstance(before, dict) and isinstance(after, dict):
        walk.compare(walk.old.child(old, keyword), walk.new.child(new, keyword), sign)
    else:
        change = KeywordChange(
            f"{code}_CHANGED",
            f"{keyword} was {'added' if before is ABSENT else 'removed or changed'}",
            shorten(before),
            shorten(after),
        )
        walk.add(change, nodes, keyword, sign, directions=_of_opened(before, after))


def _compare_maps(walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, sign: Sign) -> None:
    before, after = (node.map(keyword) for node in (old, new))
    code = _MAP_CODES[keyword]
    for name in dict.fromkeys((*before, *after)):
        if name in before and name in after:
            pair = walk.old.child(old, keyword, name), walk.new.child(new, keyword, name)
            walk.compare(*pair, sign)
        else:
            _add_entry(walk, old, new, keyword, name, code, sign)


def _add_entry(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, name: str, code: str, sign: Sign
) -> None:
    added = name in new.map(keyword)
    verb = "added" if added else "removed"
    change = KeywordChange(
        f"{code}_{verb.upper()}", f"the entry {quote(name)} of {keyword} was {verb}"
    )
    steps = ("", as_step(name)) if added else (as_step(name), "")
    # An entry also names properties, which a closed object knows by it.
    direction = CHANGE_RULES[change.code].direction
    directions = PerReading(direction, direction if added else Direction.UNKNOWN)
    walk.add(change, (old, new), keyword, sign, steps=steps, directions=directions)


def _compare_dependencies(
    walk: Walk, old: SchemaNode, new: SchemaNode, keyword: str, sign: Sign
) -> None:
    before, after = (node.map(keyword) for node in (old, new))
    for name in dict.fromkeys((*before, *after)):
        pair = before.get(name, ABSENT), after.get(name, ABSENT)
        if all(isinstance(item, dict) for item in pair):
            nodes = walk.old.child(old, keyword, name), walk.new.child(new, keyword, name)
            walk.compare(*nodes, sign)
        elif not are_equal(*pair):
            code = _MAP_CODES[keyword]
            if ABSENT in pair:
                _add_entry(walk, old, new, keyword, name, code, sign)
                continue
            lists = [set(item) if isinstance(item, list) else set() for item in pair]
            suffix = "REMOVED" if lists[1] < lists[0] else "ADDED"
            change = KeywordChange(
                f"{code}_{suffix}",
                f"the entry {quote(name)} of {keyword} changed",
                *map(shorten, pair),
            )
            step = as_step(name)
            is_ordered = lists[0] < lists[1] or lists[1] < lists[0]
            unknown = PerReading(Direction.UNKNOWN, Direction.UNKNOWN)
            walk.add(
                change,
                (old, new),
                keyword,
                sign,
                steps=(step, step),
                directions=None if is_ordered else unknown,
            )


def _of_property(
    old: SchemaNode, new: SchemaNode, *, added: bool, required: bool
) -> PerReading[Direction]:
    """Return what it does that a property is declared, or no longer is."""
    without = old if added else new
    closed = any(without.subschema(keyword) is False for keyword in _CLOSING)
    explicit = any(without.subschema(keyword) is not ABSENT for keyword in _CLOSING)
    # A closed object gains the property's values; an open one loses those of other types.
    gains = Direction.BOTH if required else Direction.WIDER
    as_written = gains if closed else Direction.NARROWER
    assumed = as_written if explicit else gains
    if not explicit and "properties" not in without.keywords:
        assumed = Direction.UNKNOWN  # The first declaration is what closes the object.
    pair = PerReading(as_written, assumed)
    return pair if added else PerReading(pair.as_written.reversed, pair.assume_closed.reversed)


def _of_opened(before: Any, after: Any) -> PerReading[Direction]:
    """Return what it does that ``additionalProperties`` came, went, or became a schema."""
    opened = [True if value is ABSENT else value for value in (before, after)]
    if opened == [True, True]:
        written = Direction.NONE
    elif opened[0] is True:
        written = Direction.NARROWER
    else:
        written = Direction.WIDER if opened[1] is True else Direction.UNKNOWN
    if before is ABSENT:
        return PerReading(written, Direction.WIDER)
    return PerReading(written, Direction.NARROWER if after is ABSENT else written)
