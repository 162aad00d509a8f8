"""State of a walk over two schemas, and the changes that it has found."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TypeAlias

from sidecheck_server.core.compat.changes import Direction, PerReading
from sidecheck_server.core.compat.keyword_changes import KeywordChange
from sidecheck_server.core.compat.rules import CHANGE_RULES
from sidecheck_server.core.compat.schema_nodes import SchemaNode, SchemaTree
from sidecheck_server.core.limits import Budget, spend

__all__ = ["Comparer", "SchemaChange", "Sign", "Walk"]

_PAIR = 400
_KEYWORD = 20
_MOST_CHANGES = 1000


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A change of a keyword, before its effect is known."""

    code: str
    old_location: str | None
    new_location: str | None
    keyword: str
    direction: PerReading[Direction]
    message: str
    old_value: str
    new_value: str
    #: The paths of evaluation to the subschema in the old and the new version.
    paths: tuple[tuple[str, str], ...]
    #: The steps from the keyword to the entry that was added or removed, as a JSON Pointer.
    entry: str = ""
    #: The property that it is about, or "".
    property: str = ""


class Sign(Enum):
    """How what a subschema admits alters what the whole admits."""

    SAME = "same"
    REVERSED = "reversed"
    UNKNOWN = "unknown"

    def apply(self, direction: Direction) -> Direction:
        """Return what *direction* of a subschema is for the whole."""
        if self is Sign.SAME or direction is Direction.NONE:
            return direction
        return direction.reversed if self is Sign.REVERSED else Direction.UNKNOWN

    @property
    def negated(self) -> "Sign":
        """The sign below ``not``."""
        return {Sign.SAME: Sign.REVERSED, Sign.REVERSED: Sign.SAME}.get(self, self)


Comparer: TypeAlias = Callable[["Walk", SchemaNode, SchemaNode, Sign], None]
"""Adds the changes of some keywords of two subschemas, whose admitted values count by a sign."""


class Walk:
    """A walk over two schemas, side by side."""

    def __init__(
        self, old: SchemaTree, new: SchemaTree, comparers: Sequence[Comparer], budget: Budget
    ) -> None:
        self.old = old
        self.new = new
        self.changes: list[SchemaChange] = []
        self._comparers = comparers
        #: The index of each change, without its paths.
        self._indexes: dict[SchemaChange, int] = {}
        self._budget = budget
        self._visited: set[tuple[int, int, Sign]] = set()

    def compare(self, old: SchemaNode, new: SchemaNode, sign: Sign) -> None:
        """Add the changes from *old* to *new*, whose admitted values count by *sign*."""
        key = old.identity, new.identity, sign
        if key in self._visited or len(self.changes) >= _MOST_CHANGES:
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
        """Add *change* of *keyword* of the *nodes*, whose admitted values count by *sign*.

        *steps* lead from the keyword to the entry on each side, *directions* are those of the
        change if not those of its rule, and *name* is the property that it is about.
        """
        rule = CHANGE_RULES[change.code]
        directions = directions or PerReading(rule.direction, rule.direction)
        old, new = nodes
        found = SchemaChange(
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
        # Several references lead to one subschema, whose changes are told once.
        index = self._indexes.setdefault(replace(found, paths=()), len(self.changes))
        if index == len(self.changes):
            self.changes.append(found)
        else:
            known = self.changes[index]
            self.changes[index] = replace(known, paths=(*known.paths, *found.paths))
