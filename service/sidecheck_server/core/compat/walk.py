"""Walk over two schemas, side by side, with references followed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any, TypeAlias

from sidecheck_server.core.compat.changes import Direction, PerReading
from sidecheck_server.core.compat.keyword_changes import ABSENT, KeywordChange, are_equal
from sidecheck_server.core.compat.rules import CHANGE_RULES, is_neutral
from sidecheck_server.core.compiler.admission import AdmittedSchema
from sidecheck_server.core.limits import Budget, spend
from sidecheck_server.core.schemas.dialects import Dialect
from sidecheck_server.core.schemas.references import REFERENCES, Subschema
from sidecheck_server.core.types import JsonValue, as_pointer

__all__ = ["SILENT_KEYWORDS", "SchemaChange", "SchemaNode", "SchemaTree", "Sign", "Walk", "as_step"]

SILENT_KEYWORDS = frozenset(
    {"$ref", "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary"}
    | {"$defs", "definitions", "$comment", "$recursiveRef", "$dynamicRef"}
)
"""Keywords that are not compared: references are followed, and names assert nothing."""

_MAX_REFERENCES = 64


@dataclass(frozen=True, slots=True)
class SchemaNode:
    """Subschema, merged with the targets of its references."""

    #: Keywords; empty for the schemas ``true`` and ``false``.
    keywords: Mapping[str, Any]
    #: Location and path of evaluation of the keywords that come from a target, by keyword.
    places: Mapping[str, tuple[str, str]]
    #: JSON Pointer into the definition.
    location: str
    #: Path of evaluation, as in `Violation.keyword_location`.
    path: str
    dialect: Dialect
    #: Identity of the node in its schema, valid while the schema is alive.
    identity: int
    never: bool = False
    #: Target that is not merged, since it has different values of the same keywords.
    unmerged_target: JsonValue = None

    def location_of(self, keyword: str) -> str:
        """Return the JSON Pointer of *keyword*."""
        return f"{self.places.get(keyword, (self.location, ''))[0]}/{_step(keyword)}"

    def path_of(self, keyword: str) -> str:
        """Return the path of evaluation of *keyword*."""
        return f"{self.places.get(keyword, ('', self.path))[1]}/{_step(keyword)}"

    def location_with(self, keyword: str, steps: str) -> str | None:
        """Return the JSON Pointer of *steps* below *keyword*, or None without the keyword."""
        if not keyword:
            return self.location
        return self.location_of(keyword) + steps if keyword in self.keywords else None

    def subschema_at(self, keyword: str) -> Any:
        """Return the value of *keyword* if it may contain a subschema, else `ABSENT`."""
        value = self.keywords.get(keyword, ABSENT) if self.is_in_force(keyword) else ABSENT
        return value if isinstance(value, dict | bool | list) else ABSENT

    def object_at(self, keyword: str) -> Mapping[str, Any]:
        """Return the object that is the value of *keyword*, or an empty one."""
        value = self.keywords.get(keyword) if self.is_in_force(keyword) else None
        return value if isinstance(value, dict) else {}

    def array_at(self, keyword: str) -> Sequence[Any]:
        """Return the array that is the value of *keyword*, or an empty one."""
        value = self.keywords.get(keyword) if self.is_in_force(keyword) else None
        return value if isinstance(value, list) else ()

    def is_in_force(self, keyword: str) -> bool:
        """Return whether *keyword* is a keyword of its dialect."""
        return keyword in self.dialect.keywords


class SchemaTree:
    """The subschemas of one schema of a definition."""

    def __init__(self, admitted: AdmittedSchema, location: str) -> None:
        self._admitted = admitted
        self._location = location
        self._schema = admitted.context.schema

    @property
    def root(self) -> SchemaNode:
        """Node of the schema itself."""
        return self.node(self._schema, self._location, "", self._admitted.context.dialect)

    @cached_property
    def _locations(self) -> dict[int, str]:
        """The JSON Pointers of all objects in the schema, by their identities."""
        locations: dict[int, str] = {}
        pending: list[tuple[JsonValue, str]] = [(self._schema, self._location)]
        while pending:
            value, pointer = pending.pop()
            if isinstance(value, dict):
                locations[id(value)] = pointer
                pending += [(item, f"{pointer}/{_step(key)}") for key, item in value.items()]
            elif isinstance(value, list):
                pending += [(item, f"{pointer}/{index}") for index, item in enumerate(value)]
        return locations

    def child(self, parent: SchemaNode, keyword: str, *steps: str | int) -> SchemaNode:
        """Return the subschema at *keyword* of *parent*, and *steps* further down."""
        value = parent.keywords[keyword]
        for step in steps:
            value = value[step]
        rest = as_pointer(steps)
        return self.node(
            value,
            parent.location_of(keyword) + rest,
            parent.path_of(keyword) + rest,
            parent.dialect,
        )

    def unmerged_node(self, node: SchemaNode) -> SchemaNode:
        """Return the node of the target of *node* that is not merged."""
        location = self._locations.get(id(node.unmerged_target), f"{node.location}/$ref")
        return self.node(node.unmerged_target, location, f"{node.path}/$ref", node.dialect)

    def node(self, value: JsonValue, location: str, path: str, parent: Dialect) -> SchemaNode:
        """Return the node of the subschema *value*, with its references followed."""
        if not isinstance(value, dict):
            return SchemaNode({}, {}, location, path, parent, id(value), never=value is False)
        keywords: dict[str, Any] = {}
        places: dict[str, tuple[str, str]] = {}
        start = location, path
        identity = id(value)
        dialect = parent
        for _ in range(_MAX_REFERENCES):
            subschema = self._find_subschema(value)
            dialect = parent if subschema is None else subschema.dialect
            hides = "$ref" in value and dialect.reference_hides_siblings
            for name, item in value.items():
                is_keyword = name in dialect.keywords
                if name == "$ref" or (is_keyword and (hides or is_neutral(name, item))):
                    continue
                if name not in keywords:
                    keywords[name] = item
                    if (location, path) != start:
                        places[name] = location, path
            keyword, target = self._find_reference(value)
            if target is None:
                break
            if not isinstance(target, dict):
                never = target is False
                return SchemaNode(keywords, places, *start, dialect, identity, never=never)
            if any(
                name in target and name in dialect.keywords and not are_equal(item, target[name])
                for name, item in keywords.items()
            ):
                return SchemaNode(
                    keywords, places, *start, dialect, identity, unmerged_target=target
                )
            path += f"/{keyword}"
            location = self._locations.get(id(target), f"{location}/{keyword}")
            value = target
        return SchemaNode(keywords, places, *start, dialect, identity)

    def _find_subschema(self, value: JsonValue) -> Subschema | None:
        survey = self._admitted.survey
        return None if survey is None else survey.reached.get(id(value))

    def _find_reference(self, value: dict[str, JsonValue]) -> tuple[str, JsonValue]:
        """Return the first static reference keyword of *value* and its target, or None."""
        references = {} if self._admitted.survey is None else self._admitted.survey.references
        for keyword in REFERENCES:
            reference = references.get((id(value), keyword))
            if reference is not None and reference.static:
                return keyword, reference.target
        return "", None


def as_step(key: str) -> str:
    """Return *key* as a step of a JSON Pointer, with its slash."""
    return "/" + _step(key)


def _step(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


_PAIR = 400
_KEYWORD = 20
_MAX_CHANGES = 1000


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """Change of a keyword, before its effect is known."""

    code: str
    old_location: str | None
    new_location: str | None
    keyword: str
    direction: PerReading[Direction]
    message: str
    old_value: str
    new_value: str
    #: Paths of evaluation to the subschema, in the old and the new version.
    paths: tuple[tuple[str, str], ...]
    #: The steps from the keyword to the entry that was added or removed, as a JSON Pointer.
    entry: str = ""
    #: Property that the change is about, or "".
    property: str = ""


class Sign(Enum):
    """Effect of a direction in a subschema on the direction of the whole schema."""

    SAME = "same"
    REVERSED = "reversed"
    UNKNOWN = "unknown"

    def apply(self, direction: Direction) -> Direction:
        """Return the direction for the whole schema, from *direction* of a subschema."""
        if self is Sign.SAME or direction is Direction.NONE:
            return direction
        return direction.reversed if self is Sign.REVERSED else Direction.UNKNOWN

    @property
    def negated(self) -> "Sign":
        """The sign below ``not``."""
        return {Sign.SAME: Sign.REVERSED, Sign.REVERSED: Sign.SAME}.get(self, self)


_Comparer: TypeAlias = Callable[["Walk", SchemaNode, SchemaNode, Sign], None]
"""Function that adds the changes of some keywords of two subschemas with a sign."""


class Walk:
    """Walk over two schemas, side by side."""

    def __init__(
        self,
        old: SchemaTree,
        new: SchemaTree,
        comparers: Sequence[_Comparer],
        budget: Budget,
        *,
        of_arguments: bool = False,
    ) -> None:
        self.old = old
        self.new = new
        #: Whether the root is the schema of the arguments of a tool.
        self.of_arguments = of_arguments
        self.changes: list[SchemaChange] = []
        self._comparers = comparers
        #: The index of each change, without its paths.
        self._indexes: dict[SchemaChange, int] = {}
        self._budget = budget
        self._visited: set[tuple[int, int, Sign]] = set()

    def compare(self, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
        """Add the changes from *old* to *new*, subschemas with *sign*."""
        key = old.identity, new.identity, sign
        if key in self._visited or len(self.changes) >= _MAX_CHANGES:
            return
        self._visited.add(key)
        count = len(old.keywords) + len(new.keywords)
        spend(self._budget, _PAIR + _KEYWORD * count)
        if old.never or new.never:
            if old.never is not new.never:
                code = "SUBSCHEMA_FORBIDDEN" if new.never else "SUBSCHEMA_ALLOWED"
                message = "no value is allowed" if new.never else "values are allowed"
                self.add(KeywordChange(code, message), (old, new), "", sign)
            return
        for compare in self._comparers:
            compare(self, old, new, sign)

    def add(
        self,
        change: KeywordChange,
        nodes: tuple[SchemaNode, SchemaNode],
        keyword: str,
        sign: Sign,
        *,
        steps: tuple[str, str] = ("", ""),
        directions: PerReading[Direction] | None = None,
        name: str = "",
    ) -> None:
        """Add *change* of *keyword* of *nodes*, subschemas with *sign*.

        *steps* lead from the keyword to the entry on each side. *directions* replace the
        direction of the rule. *name* is the property that the change is about.
        """
        rule = CHANGE_RULES[change.code]
        directions = directions or PerReading(rule.direction, rule.direction)
        old, new = nodes
        schema_change = SchemaChange(
            change.code,
            None if steps[1] and not steps[0] else old.location_with(keyword, steps[0]),
            None if steps[0] and not steps[1] else new.location_with(keyword, steps[1]),
            keyword,
            PerReading(sign.apply(directions.as_written), sign.apply(directions.assume_closed)),
            change.message,
            change.old_value,
            change.new_value,
            ((old.path, new.path),),
            steps[0] or steps[1],
            name,
        )
        # Several references may lead to one subschema; its changes are reported once.
        index = self._indexes.setdefault(replace(schema_change, paths=()), len(self.changes))
        if index == len(self.changes):
            self.changes.append(schema_change)
        else:
            existing = self.changes[index]
            self.changes[index] = replace(existing, paths=(*existing.paths, *schema_change.paths))
