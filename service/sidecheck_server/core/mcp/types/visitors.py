"""The way through the parts of a value: from its type to the types of its parts.

For each type of a version a visitor is made once. It applies the rules that judge values
of the type, and goes on to those parts whose types have rules, themselves or further in.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from sidecheck_server.core.budget import Exhausted, spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Check, Found, Path, Rule, Spares
from sidecheck_server.core.mcp.types.discriminators import discriminators_of, tag_of
from sidecheck_server.core.mcp.types.model import (
    Alias,
    Choice,
    Field,
    Kind,
    ListOf,
    MapOf,
    ObjectType,
    OneOf,
    Plain,
    Ref,
    Type,
)
from sidecheck_server.core.mcp.types.rendering import fields_of

__all__ = ["Tell", "Visit", "Visitors"]

#: Is told of each thing that a rule finds in the value at a path.
Tell: TypeAlias = Callable[[Rule, Path, Found], None]
#: Visits a value at a path.
Visit: TypeAlias = Callable[[Any, Path, Context, Tell], None]

#: Rules with their checks, and what spares a value all of them.
_Group: TypeAlias = tuple[Spares | None, tuple[tuple[Rule, Check], ...]]

# In steps.
_VALUE = 20
_RULE = 20
#: What is found costs more than looking for it: a path, a message, values to be shown.
_FOUND = 100


class Visitors:
    """The visitors of one version."""

    def __init__(self, types: Mapping[str, Type], rules: Iterable[Rule], version: str) -> None:
        self._types = types
        self._version = version
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            if rule.check is not None and rule.holds_in(version):
                for subject in rule.subjects:
                    self._rules.setdefault(subject, []).append(rule)
        self._made: dict[str, Visit | None] = {}
        self._reached: dict[str, bool] = {}

    def of(self, name: str) -> Visit | None:
        """Return the visitor of the type *name*, or None if there is nothing to visit."""
        if name in self._made:
            return self._made[name]
        made = self._visitor(name) if self._reaches(name) else None
        self._made[name] = made
        return made

    def _reaches(self, name: str) -> bool:
        """Return whether values of the type *name* have rules, themselves or in their parts."""
        known = self._reached.get(name)
        if known is not None:
            return known
        seen = {name}
        waiting = [name]
        while waiting:
            one = waiting.pop()
            if self._rules.get(one):
                self._reached[name] = True
                return True
            for other in _types_in(self._kinds(one)):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        self._reached[name] = False
        return False

    def _kinds(self, name: str) -> list[Kind]:
        """Return the kinds of the parts of the type *name*."""
        found = self._types.get(name)
        match found:
            case ObjectType():
                fields = fields_of(self._types, found, self._version).values()
                return [field.kind for field in fields]
            case Choice(alternatives=alternatives):
                version = self._version
                return [Ref(a.name) for a in alternatives if a.since <= version <= a.until]
            case Alias(kind=kind):
                return [kind]
            case None:
                return []

    def _visitor(self, name: str) -> Visit:
        rules = self._rules.get(name, [])
        groups = _spared_together(rules)
        cost = _VALUE + _RULE * len(rules)
        # Types may contain themselves: the parts are looked up when first visited.
        inside: Visit | None = None

        def visit(value: Any, path: Path, context: Context, tell: Tell) -> None:
            nonlocal inside
            budget = context.budget
            # As `spend`, which takes longer to call than this.
            budget[0] -= cost
            if budget[0] < 0:
                raise Exhausted
            for spares, checks in groups:
                if spares is None or not spares(value, context):
                    for rule, check in checks:
                        for found in check(value, context):
                            spend(context.budget, _FOUND)
                            tell(rule, path, found)
            if inside is None:
                inside = self._inside(name)
            if inside is not _stop:
                inside(value, path, context, tell)

        return visit

    def _inside(self, name: str) -> Visit:
        match self._types.get(name):
            case ObjectType() as shape:
                return self._members(shape)
            case Choice() as choice:
                return self._alternative(choice)
            case Alias(kind=kind):
                return self._of_kind(kind) or _stop
            case _:
                return _stop

    def _members(self, shape: ObjectType) -> Visit:
        fields = fields_of(self._types, shape, self._version)
        visits = ((name, self._of_kind(field.kind)) for name, field in fields.items())
        known = tuple((name, visit) for name, visit in visits if visit is not None)

        def visit(value: Any, path: Path, context: Context, tell: Tell) -> None:
            if isinstance(value, dict):
                for name, visit_member in known:
                    if name in value:
                        visit_member(value[name], (*path, name), context, tell)

        return visit if known else _stop

    def _alternative(self, choice: Choice) -> Visit:
        version = self._version
        names = [each.name for each in choice.alternatives if each.since <= version <= each.until]
        if all(self.of(name) is None for name in names):
            return _stop
        fields = [self._fields(name) for name in names]
        marks = discriminators_of(fields)
        branches = [(mark, self.of(name) or _stop) for mark, name in zip(marks, names, strict=True)]
        # One that needs more says more of the value. Sorting keeps the order of the rest.
        branches.sort(key=lambda branch: -len(branch[0].needed))

        def chosen(value: Any) -> Visit:
            for mark, visit_branch in branches:
                if mark.fit(value) and mark.are_there(value):
                    return visit_branch
            # What is left is broken: the constants alone say which is meant.
            for mark, visit_branch in branches:
                if mark.constants and mark.fit(value):
                    return visit_branch
            left = [visit_branch for mark, visit_branch in branches if mark.may_fit(value)]
            return left[0] if len(left) == 1 else _stop

        cost = _VALUE * len(branches)
        member, told = tag_of(branches)

        def visit(value: Any, path: Path, context: Context, tell: Tell) -> None:
            spend(context.budget, cost)
            tag = value.get(member) if member and isinstance(value, dict) else None
            found = told.get(tag) if type(tag) is str else None
            (found or chosen(value))(value, path, context, tell)

        return visit

    def _fields(self, name: str) -> tuple[Field, ...]:
        match self._types[name]:
            case ObjectType() as shape:
                return tuple(fields_of(self._types, shape, self._version).values())
            case Choice(marks=marks):
                return marks
            case Alias():
                return ()

    def _of_kind(self, kind: Kind) -> Visit | None:
        match kind:
            case Plain():
                return None
            case Ref(name):
                return self.of(name)
            case ListOf(item):
                return _each_item(self._of_kind(item))
            case MapOf(value):
                return _each_member(self._of_kind(value))
            case OneOf(kinds):
                return self._any_of(kinds)

    def _any_of(self, kinds: tuple[Kind, ...]) -> Visit | None:
        lists = next((v for k in kinds if isinstance(k, ListOf) and (v := self._of_kind(k))), None)
        others = next(
            (v for k in kinds if not isinstance(k, ListOf) and (v := self._of_kind(k))), None
        )
        if lists is None and others is None:
            return None

        def visit(value: Any, path: Path, context: Context, tell: Tell) -> None:
            chosen = lists if isinstance(value, list) else others
            if chosen is not None:
                chosen(value, path, context, tell)

        return visit


def _spared_together(rules: Iterable[Rule]) -> tuple[_Group, ...]:
    groups: dict[Spares | None, list[tuple[Rule, Check]]] = {}
    for rule in rules:
        if rule.check is not None:
            groups.setdefault(rule.spares, []).append((rule, rule.check))
    return tuple((spares, tuple(checks)) for spares, checks in groups.items())


def _stop(_value: Any, _path: Path, _context: Context, _tell: Tell) -> None:
    """Visit nothing: there are no parts, or none with rules."""


def _each_item(visit_item: Visit | None) -> Visit | None:
    if visit_item is None:
        return None

    def visit(value: Any, path: Path, context: Context, tell: Tell) -> None:
        if isinstance(value, list):
            for index, item in enumerate(value):
                visit_item(item, (*path, index), context, tell)

    return visit


def _each_member(visit_member: Visit | None) -> Visit | None:
    if visit_member is None:
        return None

    def visit(value: Any, path: Path, context: Context, tell: Tell) -> None:
        if isinstance(value, dict):
            for name, member in value.items():
                visit_member(member, (*path, name), context, tell)

    return visit


def _types_in(kinds: Iterable[Kind]) -> Iterable[str]:
    for kind in kinds:
        match kind:
            case Ref(name):
                yield name
            case ListOf(item):
                yield from _types_in((item,))
            case MapOf(value):
                yield from _types_in((value,))
            case OneOf(inner):
                yield from _types_in(inner)
            case Plain():
                pass
