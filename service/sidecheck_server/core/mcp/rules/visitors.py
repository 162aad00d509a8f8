"""Visitors apply rules to a value of a type and to its parts.

Each type of a version has one visitor. It applies the rules on values of the type, and
visits those parts whose types have rules, themselves or in their own parts.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from sidecheck_server.core.limits import Exhausted, spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import Check, Finding, Path, Rule
from sidecheck_server.core.mcp.types.model import (
    Alias,
    Choice,
    Kind,
    ListOf,
    MapOf,
    ObjectType,
    OneOf,
    Plain,
    Property,
    Ref,
    Type,
    discriminators_of,
    tag_of,
)
from sidecheck_server.core.mcp.types.rendering import properties_of

__all__ = ["Report", "Visit", "Visitors"]

#: Receives each finding of a rule in the value at a path.
Report: TypeAlias = Callable[[Rule, Path, Finding], None]
#: Visits a value at a path.
Visit: TypeAlias = Callable[[Any, Path, Context, Report], None]

#: Rules with their checks, and the test for values that need none of them.
_Group: TypeAlias = tuple[Callable[[Any, Context], bool] | None, tuple[tuple[Rule, Check], ...]]

# Steps.
_VALUE = 20
_RULE = 20
#: A finding costs more than the search for it: a path, a message, shown values.
_FINDING = 100


class Visitors:
    """Visitors of one version."""

    def __init__(self, types: Mapping[str, Type], rules: Iterable[Rule], version: str) -> None:
        self._types = types
        self._version = version
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            if rule.check is not None and rule.holds_in(version):
                for subject in rule.subjects:
                    self._rules.setdefault(subject, []).append(rule)
        self._visitors: dict[str, Visit | None] = {}
        self._have_rules: dict[str, bool] = {}

    def of(self, name: str) -> Visit | None:
        """Return the visitor of the type *name*, or None if no rule applies to its values."""
        if name in self._visitors:
            return self._visitors[name]
        visitor = self._visitor(name) if self._has_rules(name) else None
        self._visitors[name] = visitor
        return visitor

    def _has_rules(self, name: str) -> bool:
        """Return whether rules apply to values of the type *name* or to their parts."""
        known = self._have_rules.get(name)
        if known is not None:
            return known
        seen = {name}
        pending = [name]
        while pending:
            type_name = pending.pop()
            if self._rules.get(type_name):
                self._have_rules[name] = True
                return True
            for part in _type_names(self._part_kinds(type_name)):
                if part not in seen:
                    seen.add(part)
                    pending.append(part)
        self._have_rules[name] = False
        return False

    def _part_kinds(self, name: str) -> list[Kind]:
        """Return the kinds of the parts of the type *name*."""
        type_ = self._types.get(name)
        match type_:
            case ObjectType():
                properties = properties_of(self._types, type_, self._version)
                return [property_.kind for property_ in properties.values()]
            case Choice(alternatives=alternatives):
                version = self._version
                return [Ref(a.name) for a in alternatives if a.since <= version <= a.until]
            case Alias(kind=kind):
                return [kind]
            case None:
                return []

    def _visitor(self, name: str) -> Visit:
        rules = self._rules.get(name, [])
        groups = _groups(rules)
        cost = _VALUE + _RULE * len(rules)
        # Types may contain themselves, so the visitor of the parts is built at first use.
        visit_parts: Visit | None = None

        def visit(value: Any, path: Path, context: Context, report: Report) -> None:
            nonlocal visit_parts
            budget = context.budget
            # The body of `spend`, whose call takes longer.
            budget[0] -= cost
            if budget[0] < 0:
                raise Exhausted
            for skip, checks in groups:
                if skip is None or not skip(value, context):
                    for rule, check in checks:
                        for finding in check(value, context):
                            spend(context.budget, _FINDING)
                            report(rule, path, finding)
            if visit_parts is None:
                visit_parts = self._parts_visitor(name)
            if visit_parts is not _visit_nothing:
                visit_parts(value, path, context, report)

        return visit

    def _parts_visitor(self, name: str) -> Visit:
        match self._types.get(name):
            case ObjectType() as object_type:
                return self._properties_visitor(object_type)
            case Choice() as choice:
                return self._choice_visitor(choice)
            case Alias(kind=kind):
                return self._kind_visitor(kind) or _visit_nothing
            case _:
                return _visit_nothing

    def _properties_visitor(self, object_type: ObjectType) -> Visit:
        properties = properties_of(self._types, object_type, self._version)
        all_visits = (
            (name, self._kind_visitor(property_.kind)) for name, property_ in properties.items()
        )
        visits = tuple((name, visit) for name, visit in all_visits if visit is not None)

        def visit(value: Any, path: Path, context: Context, report: Report) -> None:
            if isinstance(value, dict):
                for name, visit_property in visits:
                    if name in value:
                        visit_property(value[name], (*path, name), context, report)

        return visit if visits else _visit_nothing

    def _choice_visitor(self, choice: Choice) -> Visit:
        version = self._version
        names = [
            alternative.name
            for alternative in choice.alternatives
            if alternative.since <= version <= alternative.until
        ]
        if all(self.of(name) is None for name in names):
            return _visit_nothing
        discriminators = discriminators_of([self._properties(name) for name in names])
        branches = [
            (own, self.of(name) or _visit_nothing)
            for own, name in zip(discriminators, names, strict=True)
        ]
        # The more properties a type requires, the more specific it is. The sort is stable.
        branches.sort(key=lambda branch: -len(branch[0].required))

        def select(value: Any) -> Visit:
            for own, visit_branch in branches:
                if own.match_constants(value) and own.are_present(value):
                    return visit_branch
            # The value is invalid; its constants alone may show its type.
            for own, visit_branch in branches:
                if own.constants and own.match_constants(value):
                    return visit_branch
            candidates = [visit_branch for own, visit_branch in branches if own.may_match(value)]
            return candidates[0] if len(candidates) == 1 else _visit_nothing

        cost = _VALUE * len(branches)
        tag_property, by_tag = tag_of(branches)

        def visit(value: Any, path: Path, context: Context, report: Report) -> None:
            spend(context.budget, cost)
            tag = value.get(tag_property) if tag_property and isinstance(value, dict) else None
            tagged = by_tag.get(tag) if type(tag) is str else None
            (tagged or select(value))(value, path, context, report)

        return visit

    def _properties(self, name: str) -> tuple[Property, ...]:
        """Return the properties by which the type *name* differs from other alternatives."""
        match self._types[name]:
            case ObjectType() as object_type:
                return tuple(properties_of(self._types, object_type, self._version).values())
            case Choice(discriminators=discriminators):
                return discriminators
            case Alias():
                return ()

    def _kind_visitor(self, kind: Kind) -> Visit | None:
        match kind:
            case Plain():
                return None
            case Ref(name):
                return self.of(name)
            case ListOf(item):
                return _items_visitor(self._kind_visitor(item))
            case MapOf(value):
                return _values_visitor(self._kind_visitor(value))
            case OneOf(kinds):
                return self._either_visitor(kinds)

    def _either_visitor(self, kinds: tuple[Kind, ...]) -> Visit | None:
        """Return the visitor of values that are either a list or something else."""
        visits = [(kind, self._kind_visitor(kind)) for kind in kinds]
        visit_list = next((v for kind, v in visits if isinstance(kind, ListOf) and v), None)
        visit_other = next((v for kind, v in visits if not isinstance(kind, ListOf) and v), None)
        if visit_list is None and visit_other is None:
            return None

        def visit(value: Any, path: Path, context: Context, report: Report) -> None:
            selected = visit_list if isinstance(value, list) else visit_other
            if selected is not None:
                selected(value, path, context, report)

        return visit


def _groups(rules: Iterable[Rule]) -> tuple[_Group, ...]:
    """Return *rules* grouped by the test that they share."""
    groups: dict[Callable[[Any, Context], bool] | None, list[tuple[Rule, Check]]] = {}
    for rule in rules:
        if rule.check is not None:
            groups.setdefault(rule.skip, []).append((rule, rule.check))
    return tuple((skip, tuple(checks)) for skip, checks in groups.items())


def _visit_nothing(_value: Any, _path: Path, _context: Context, _report: Report) -> None:
    """Do nothing: there are no parts, or none with rules."""


def _items_visitor(visit_item: Visit | None) -> Visit | None:
    if visit_item is None:
        return None

    def visit(value: Any, path: Path, context: Context, report: Report) -> None:
        if isinstance(value, list):
            for index, item in enumerate(value):
                visit_item(item, (*path, index), context, report)

    return visit


def _values_visitor(visit_value: Visit | None) -> Visit | None:
    if visit_value is None:
        return None

    def visit(value: Any, path: Path, context: Context, report: Report) -> None:
        if isinstance(value, dict):
            for name, item in value.items():
                visit_value(item, (*path, name), context, report)

    return visit


def _type_names(kinds: Iterable[Kind]) -> Iterable[str]:
    for kind in kinds:
        match kind:
            case Ref(name):
                yield name
            case ListOf(item):
                yield from _type_names((item,))
            case MapOf(value):
                yield from _type_names((value,))
            case OneOf(inner):
                yield from _type_names(inner)
            case Plain():
                pass
