"""Visitors, which apply rules to a value of a type and to its parts.

Each type of a version has one visitor. It applies the rules on the type to a value, and visits
the parts whose types have rules, directly or in nested parts.
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

#: Test to skip rules, or None, and the rules with their checks.
_Group: TypeAlias = tuple[Callable[[Any, Context], bool] | None, tuple[tuple[Rule, Check], ...]]

# Steps per element.
_VALUE = 20
_RULE = 20
#: A finding costs more than its search: it has a path, a message and formatted values.
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
        visitor = self._build_visitor(name) if self._has_rules(name) else None
        self._visitors[name] = visitor
        return visitor

    def _has_rules(self, name: str) -> bool:
        """Return whether rules apply to values of the type *name* or to their parts."""
        has_rules = self._have_rules.get(name)
        if has_rules is not None:
            return has_rules
        seen = {name}
        pending = [name]
        while pending:
            type_name = pending.pop()
            if self._rules.get(type_name):
                self._have_rules[name] = True
                return True
            for part in _list_type_names(self._list_part_kinds(type_name)):
                if part not in seen:
                    seen.add(part)
                    pending.append(part)
        self._have_rules[name] = False
        return False

    def _list_part_kinds(self, name: str) -> list[Kind]:
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

    def _build_visitor(self, name: str) -> Visit:
        rules = self._rules.get(name, [])
        groups = _group_by_skip(rules)
        cost = _VALUE + _RULE * len(rules)
        # Types may contain themselves, so the first visit builds the visitor of the parts.
        visit_parts: Visit | None = None

        def visit(value: Any, path: Path, context: Context, report: Report) -> None:
            nonlocal visit_parts
            budget = context.budget
            # The body of `spend`, inlined because the call takes longer.
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
                visit_parts = self._build_parts_visitor(name)
            if visit_parts is not _visit_nothing:
                visit_parts(value, path, context, report)

        return visit

    def _build_parts_visitor(self, name: str) -> Visit:
        match self._types.get(name):
            case ObjectType() as object_type:
                return self._build_properties_visitor(object_type)
            case Choice() as choice:
                return self._build_choice_visitor(choice)
            case Alias(kind=kind):
                return self._build_kind_visitor(kind) or _visit_nothing
            case _:
                return _visit_nothing

    def _build_properties_visitor(self, object_type: ObjectType) -> Visit:
        properties = properties_of(self._types, object_type, self._version)
        all_visits = (
            (name, self._build_kind_visitor(property_.kind))
            for name, property_ in properties.items()
        )
        visits = tuple((name, visit) for name, visit in all_visits if visit is not None)

        def visit(value: Any, path: Path, context: Context, report: Report) -> None:
            if isinstance(value, dict):
                for name, visit_property in visits:
                    if name in value:
                        visit_property(value[name], (*path, name), context, report)

        return visit if visits else _visit_nothing

    def _build_choice_visitor(self, choice: Choice) -> Visit:
        version = self._version
        names = [
            alternative.name
            for alternative in choice.alternatives
            if alternative.since <= version <= alternative.until
        ]
        if all(self.of(name) is None for name in names):
            return _visit_nothing
        discriminators = discriminators_of(
            [self._list_discriminating_properties(name) for name in names]
        )
        branches = [
            (branch_discriminators, self.of(name) or _visit_nothing)
            for branch_discriminators, name in zip(discriminators, names, strict=True)
        ]
        # A type with more required properties is more specific. The sort is stable.
        branches.sort(key=lambda branch: -len(branch[0].required))

        def select(value: Any) -> Visit:
            for branch, visit_branch in branches:
                if branch.match_constants(value) and branch.has_required(value):
                    return visit_branch
            # The value is invalid, but its constants may identify its type.
            for branch, visit_branch in branches:
                if branch.constants and branch.match_constants(value):
                    return visit_branch
            candidates = [
                visit_branch for branch, visit_branch in branches if branch.may_match(value)
            ]
            return candidates[0] if len(candidates) == 1 else _visit_nothing

        cost = _VALUE * len(branches)
        tag_property, by_tag = tag_of(branches)

        def visit(value: Any, path: Path, context: Context, report: Report) -> None:
            spend(context.budget, cost)
            tag = value.get(tag_property) if tag_property and isinstance(value, dict) else None
            visit_tagged = by_tag.get(tag) if type(tag) is str else None
            (visit_tagged or select(value))(value, path, context, report)

        return visit

    def _list_discriminating_properties(self, name: str) -> tuple[Property, ...]:
        """Return the properties that distinguish the type *name* from alternatives."""
        match self._types[name]:
            case ObjectType() as object_type:
                return tuple(properties_of(self._types, object_type, self._version).values())
            case Choice(discriminators=discriminators):
                return discriminators
            case Alias():
                return ()

    def _build_kind_visitor(self, kind: Kind) -> Visit | None:
        match kind:
            case Plain():
                return None
            case Ref(name):
                return self.of(name)
            case ListOf(item):
                return _build_items_visitor(self._build_kind_visitor(item))
            case MapOf(value):
                return _build_values_visitor(self._build_kind_visitor(value))
            case OneOf(kinds):
                return self._build_union_visitor(kinds)

    def _build_union_visitor(self, kinds: tuple[Kind, ...]) -> Visit | None:
        """Return the visitor of values that are a list or a value of another kind."""
        visits = [(kind, self._build_kind_visitor(kind)) for kind in kinds]
        visit_list = next((v for kind, v in visits if isinstance(kind, ListOf) and v), None)
        visit_other = next((v for kind, v in visits if not isinstance(kind, ListOf) and v), None)
        if visit_list is None and visit_other is None:
            return None

        def visit(value: Any, path: Path, context: Context, report: Report) -> None:
            visit_kind = visit_list if isinstance(value, list) else visit_other
            if visit_kind is not None:
                visit_kind(value, path, context, report)

        return visit


def _group_by_skip(rules: Iterable[Rule]) -> tuple[_Group, ...]:
    """Return *rules* grouped by their test to skip them."""
    groups: dict[Callable[[Any, Context], bool] | None, list[tuple[Rule, Check]]] = {}
    for rule in rules:
        if rule.check is not None:
            groups.setdefault(rule.skip, []).append((rule, rule.check))
    return tuple((skip, tuple(checks)) for skip, checks in groups.items())


def _visit_nothing(_value: Any, _path: Path, _context: Context, _report: Report) -> None:
    """Do nothing, as the visitor of a type whose parts have no rules."""


def _build_items_visitor(visit_item: Visit | None) -> Visit | None:
    if visit_item is None:
        return None

    def visit(value: Any, path: Path, context: Context, report: Report) -> None:
        if isinstance(value, list):
            for index, item in enumerate(value):
                visit_item(item, (*path, index), context, report)

    return visit


def _build_values_visitor(visit_value: Visit | None) -> Visit | None:
    if visit_value is None:
        return None

    def visit(value: Any, path: Path, context: Context, report: Report) -> None:
        if isinstance(value, dict):
            for name, item in value.items():
                visit_value(item, (*path, name), context, report)

    return visit


def _list_type_names(kinds: Iterable[Kind]) -> Iterable[str]:
    for kind in kinds:
        match kind:
            case Ref(name):
                yield name
            case ListOf(item):
                yield from _list_type_names((item,))
            case MapOf(value):
                yield from _list_type_names((value,))
            case OneOf(inner):
                yield from _list_type_names(inner)
            case Plain():
                pass
