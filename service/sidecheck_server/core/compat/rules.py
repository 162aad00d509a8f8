"""Table of the codes of changes.

Codes are stable, like codes of violations. A row has the direction in which the change alters
the admitted values of its subschema, if that does not depend on the rest of the schema. It
has a level if no proof decides it, because the schema does not express the change.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.compat.changes import Direction, Level

__all__ = [
    "BOUNDS",
    "CHANGE_RULES",
    "SUBSCHEMA_KEYWORDS",
    "ChangeRule",
    "is_neutral",
    "upper_snake",
]


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """Kind of change."""

    code: str
    #: Description of the change, as a sentence.
    sentence: str
    #: Change of the set of admitted values, if the change alone determines it.
    direction: Direction = Direction.NONE
    #: The level of the change in an input and in an output schema, or of a definition;
    #: None where the proof decides it.
    input_level: Level | None = None
    output_level: Level | None = None
    #: URL of the specification that callers rely on, or "".
    source: str = ""

    @property
    def is_proved(self) -> bool:
        """Whether a proof or a payload decides the level."""
        return self.input_level is None


_NEUTRAL_IF_EMPTY = frozenset(
    {"properties", "patternProperties", "required"}
    | {"dependentSchemas", "dependentRequired", "dependencies"}
)


def is_neutral(keyword: str, value: Any) -> bool:
    """Return whether *keyword* with *value* means the same as no keyword, in both readings."""
    return keyword in _NEUTRAL_IF_EMPTY and isinstance(value, dict | list) and not value


def upper_snake(keyword: str) -> str:
    """Return *keyword*, in camel case, as a part of a code."""
    return "".join(f"_{char}" if char.isupper() else char.upper() for char in keyword)


_SCHEMA_URL = "https://modelcontextprotocol.io/specification/2025-11-25/schema#"
_TOOLS_URL = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"
_TASKS_URL = "https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks"
_HEADERS_URL = "https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header"

BOUNDS: Mapping[str, bool] = MappingProxyType(
    {
        "minimum": True,
        "exclusiveMinimum": True,
        "minLength": True,
        "minItems": True,
        "minProperties": True,
        "minContains": True,
        "maximum": False,
        "exclusiveMaximum": False,
        "maxLength": False,
        "maxItems": False,
        "maxProperties": False,
        "maxContains": False,
    }
)
"""Keywords whose value is a bound, and whether raising it narrows the schema."""

SUBSCHEMA_KEYWORDS: Mapping[str, Direction] = MappingProxyType(
    {
        "items": Direction.NARROWER,
        "additionalItems": Direction.NARROWER,
        "unevaluatedItems": Direction.NARROWER,
        "contains": Direction.UNKNOWN,
        "propertyNames": Direction.NARROWER,
        "not": Direction.NARROWER,
        "if": Direction.UNKNOWN,
        "then": Direction.UNKNOWN,
        "else": Direction.UNKNOWN,
    }
)
"""Keywords with one subschema, and the direction of adding one."""

_MAPS: Mapping[str, tuple[str, str, Direction]] = MappingProxyType(
    {
        "patternProperties": ("PATTERN_PROPERTY", "A pattern of names", Direction.UNKNOWN),
        "dependentSchemas": ("DEPENDENT_SCHEMA", "A dependent schema", Direction.NARROWER),
        "dependentRequired": (
            "DEPENDENT_REQUIRED",
            "A property that requires others",
            Direction.NARROWER,
        ),
        "dependencies": ("DEPENDENCY", "A property that others depend on", Direction.NARROWER),
    }
)

_BRANCHES: Mapping[str, Direction] = MappingProxyType(
    {"anyOf": Direction.WIDER, "oneOf": Direction.UNKNOWN, "allOf": Direction.NARROWER}
)


def _bound_rules() -> Iterator[ChangeRule]:
    narrower, wider = Direction.NARROWER, Direction.WIDER
    for keyword, raising_narrows in BOUNDS.items():
        code = upper_snake(keyword)
        yield ChangeRule(f"{code}_ADDED", f"`{keyword}` was added.", narrower)
        yield ChangeRule(f"{code}_REMOVED", f"`{keyword}` was removed.", wider)
        raised, lowered = (narrower, wider) if raising_narrows else (wider, narrower)
        yield ChangeRule(f"{code}_RAISED", f"`{keyword}` was raised.", raised)
        yield ChangeRule(f"{code}_LOWERED", f"`{keyword}` was lowered.", lowered)


def _subschema_rules() -> Iterator[ChangeRule]:
    for keyword, added in SUBSCHEMA_KEYWORDS.items():
        code = upper_snake(keyword)
        yield ChangeRule(f"{code}_ADDED", f"`{keyword}` was added.", added)
        yield ChangeRule(f"{code}_REMOVED", f"`{keyword}` was removed.", added.reversed)
    for keyword, (code, noun, added) in _MAPS.items():
        yield ChangeRule(f"{code}_ADDED", f"{noun} was added (`{keyword}`).", added)
        yield ChangeRule(f"{code}_REMOVED", f"{noun} was removed (`{keyword}`).", added.reversed)
    for keyword, added in _BRANCHES.items():
        code = f"{upper_snake(keyword)}_BRANCH"
        yield ChangeRule(f"{code}_ADDED", f"`{keyword}` has one more branch.", added)
        yield ChangeRule(f"{code}_REMOVED", f"`{keyword}` has one branch less.", added.reversed)
        yield ChangeRule(
            f"{upper_snake(keyword)}_ADDED",
            f"`{keyword}` was added.",
            _direction_of_combinator(added),
        )
        yield ChangeRule(
            f"{upper_snake(keyword)}_REMOVED",
            f"`{keyword}` was removed.",
            _direction_of_combinator(added).reversed,
        )


def _direction_of_combinator(branch: Direction) -> Direction:
    """Return the direction of adding a combinator whose branches have *branch*."""
    return Direction.UNKNOWN if branch is Direction.UNKNOWN else Direction.NARROWER


def _keyword_rules() -> Iterator[ChangeRule]:
    narrower, wider, both = Direction.NARROWER, Direction.WIDER, Direction.BOTH
    unknown = Direction.UNKNOWN
    yield ChangeRule("TYPE_NARROWED", "`type` allows fewer types.", narrower)
    yield ChangeRule("TYPE_WIDENED", "`type` allows more types.", wider)
    yield ChangeRule("TYPE_CHANGED", "`type` allows other types.", both)
    yield ChangeRule("ENUM_ADDED", "`enum` was added.", narrower)
    yield ChangeRule("ENUM_REMOVED", "`enum` was removed.", wider)
    yield ChangeRule("ENUM_VALUE_ADDED", "`enum` has more values.", wider)
    yield ChangeRule("ENUM_VALUE_REMOVED", "`enum` has fewer values.", narrower)
    yield ChangeRule("CONST_ADDED", "`const` was added.", narrower)
    yield ChangeRule("CONST_REMOVED", "`const` was removed.", wider)
    yield ChangeRule("CONST_CHANGED", "`const` has another value.", both)
    yield ChangeRule("MULTIPLE_OF_ADDED", "`multipleOf` was added.", narrower)
    yield ChangeRule("MULTIPLE_OF_REMOVED", "`multipleOf` was removed.", wider)
    yield ChangeRule("MULTIPLE_OF_CHANGED", "`multipleOf` has another value.", unknown)
    yield ChangeRule("PATTERN_ADDED", "`pattern` was added.", narrower)
    yield ChangeRule("PATTERN_REMOVED", "`pattern` was removed.", wider)
    yield ChangeRule("PATTERN_CHANGED", "`pattern` has changed.", unknown)
    yield ChangeRule("UNIQUE_ITEMS_ADDED", "Items must be unique (`uniqueItems`).", narrower)
    yield ChangeRule("UNIQUE_ITEMS_REMOVED", "Items may be equal (`uniqueItems`).", wider)
    yield ChangeRule("PROPERTY_ADDED", "An optional property was added.", unknown)
    yield ChangeRule("PROPERTY_REMOVED", "An optional property was removed.", unknown)
    yield ChangeRule("REQUIRED_PROPERTY_ADDED", "A required property was added.", unknown)
    yield ChangeRule("REQUIRED_PROPERTY_REMOVED", "A required property was removed.", unknown)
    yield ChangeRule("REQUIRED_ADDED", "A property became required.", narrower)
    yield ChangeRule("REQUIRED_REMOVED", "A property became optional.", wider)
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        code = upper_snake(keyword)
        yield ChangeRule(f"{code}_CLOSED", f"`{keyword}` became false.", narrower)
        yield ChangeRule(f"{code}_OPENED", f"`{keyword}` is no longer false.", wider)
        yield ChangeRule(f"{code}_CHANGED", f"`{keyword}` was added or removed.", unknown)
    yield ChangeRule("PREFIX_ITEM_ADDED", "The schema of an item at a position was added.", unknown)
    yield ChangeRule(
        "PREFIX_ITEM_REMOVED", "The schema of an item at a position was removed.", unknown
    )
    yield ChangeRule("SUBSCHEMA_FORBIDDEN", "A subschema became `false`.", narrower)
    yield ChangeRule("SUBSCHEMA_ALLOWED", "A subschema is no longer `false`.", wider)
    yield ChangeRule("DIALECT_CHANGED", "`$schema` names another dialect.", unknown)
    yield ChangeRule("SCHEMA_CHANGED", "The schema changed in a way that has no code.", unknown)
    yield ChangeRule("OUTPUT_SCHEMA_ADDED", "The tool has an output schema.", narrower)
    yield ChangeRule("OUTPUT_SCHEMA_REMOVED", "The tool has no output schema.", wider)


def _annotation_rules() -> Iterator[ChangeRule]:
    risky, compatible, cosmetic = Level.RISKY, Level.COMPATIBLE, Level.COSMETIC

    def annotation(
        code: str, sentence: str, levels: tuple[Level, Level] = (cosmetic, cosmetic), url: str = ""
    ) -> ChangeRule:
        return ChangeRule(code, sentence, Direction.NONE, *levels, url)

    yield annotation(
        "DEFAULT_ADDED", "A property has a `default`, and had none.", (compatible, cosmetic)
    )
    yield annotation(
        "DEFAULT_REMOVED",
        "A property has no `default`: a call without it may mean something else.",
        (risky, cosmetic),
    )
    yield annotation(
        "DEFAULT_CHANGED",
        "A property has another `default`: a call without it means something else.",
        (risky, cosmetic),
    )
    yield annotation(
        "FORMAT_ADDED",
        "`format` was added: servers that assert formats accept less.",
        (risky, compatible),
    )
    yield annotation(
        "FORMAT_REMOVED",
        "`format` was removed: callers that parse the result may not be able to.",
        (compatible, risky),
    )
    yield annotation("FORMAT_CHANGED", "`format` has another value.", (risky, risky))
    yield annotation(
        "SCHEMA_REWRITTEN",
        "The schema is written differently, or an unreferenced part changed.",
    )
    yield annotation("SCHEMA_TITLE_CHANGED", "A `title` in a schema changed.")
    yield annotation("SCHEMA_DESCRIPTION_CHANGED", "A `description` in a schema changed.")
    yield annotation(
        "ANNOTATION_CHANGED", "A keyword that asserts nothing was added, removed or changed."
    )
    yield annotation(
        "HEADER_CHANGED",
        "`x-mcp-header` was added, removed or changed: clients with the other definition send "
        "other headers.",
        (risky, risky),
        _HEADERS_URL,
    )


def _definition_rules() -> Iterator[ChangeRule]:
    breaking, risky = Level.BREAKING, Level.RISKY
    compatible, cosmetic = Level.COMPATIBLE, Level.COSMETIC

    def rule(code: str, level: Level, sentence: str, url: str = "") -> ChangeRule:
        return ChangeRule(code, sentence, Direction.NONE, level, level, url)

    yield rule("TOOL_ADDED", compatible, "A tool was added.", _TOOLS_URL)
    yield rule("TOOL_REMOVED", breaking, "A tool was removed.", _TOOLS_URL)
    yield rule(
        "TOOL_RENAMED",
        breaking,
        "A tool has another name and is otherwise unchanged: calls use the name.",
        _TOOLS_URL,
    )
    yield rule(
        "NOT_COMPARED",
        Level.UNDECIDED,
        "The definitions could not be compared: one cannot be read, or a limit was exceeded.",
    )
    yield rule("TITLE_CHANGED", cosmetic, "The title changed.", f"{_SCHEMA_URL}tool")
    yield rule("DESCRIPTION_CHANGED", cosmetic, "The description changed.", f"{_SCHEMA_URL}tool")
    yield rule("ICONS_CHANGED", cosmetic, "The icons changed.", f"{_SCHEMA_URL}tool")
    yield rule("META_CHANGED", cosmetic, "`_meta` changed.", f"{_SCHEMA_URL}tool")
    yield rule("TOOL_PROPERTY_CHANGED", cosmetic, "Another property of the definition changed.")
    yield rule(
        "ANNOTATIONS_CHANGED",
        cosmetic,
        "An annotation changed without a change of its meaning.",
        f"{_SCHEMA_URL}toolannotations",
    )
    for code, level, sentence in (
        ("READ_ONLY_HINT_REMOVED", risky, "The tool is no longer read-only."),
        ("READ_ONLY_HINT_ADDED", compatible, "The tool became read-only."),
        ("DESTRUCTIVE_HINT_ADDED", risky, "The tool may destroy something."),
        ("DESTRUCTIVE_HINT_REMOVED", compatible, "The tool destroys nothing."),
        ("IDEMPOTENT_HINT_REMOVED", risky, "Repeating a call has further effects."),
        ("IDEMPOTENT_HINT_ADDED", compatible, "Repeating a call has no further effect."),
        ("OPEN_WORLD_HINT_ADDED", risky, "The tool interacts with an open world."),
        ("OPEN_WORLD_HINT_REMOVED", compatible, "The tool's world is closed."),
    ):
        yield rule(code, level, sentence, f"{_SCHEMA_URL}toolannotations")
    for code, level, sentence in (
        ("TASK_SUPPORT_REQUIRED", breaking, "Calls must be tasks; before, they need not be."),
        ("TASK_SUPPORT_REMOVED", breaking, "Calls must not be tasks; before, they could be."),
        ("TASK_SUPPORT_ADDED", compatible, "Calls may be tasks."),
        ("TASK_SUPPORT_RELAXED", compatible, "Calls need not be tasks."),
    ):
        yield rule(code, level, sentence, _TASKS_URL)


def _all_rules() -> Iterator[ChangeRule]:
    yield from _definition_rules()
    yield from _keyword_rules()
    yield from _bound_rules()
    yield from _subschema_rules()
    yield from _annotation_rules()


CHANGE_RULES: Mapping[str, ChangeRule] = MappingProxyType(
    {rule.code: rule for rule in _all_rules()}
)
"""All kinds of changes by code, in the order of the documentation."""
