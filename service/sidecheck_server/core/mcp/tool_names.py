"""Checks tool names: rules, duplicates, collisions, warnings of the Python SDK."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sidecheck_server.core.evaluate import VALID
from sidecheck_server.core.limits import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.rules.names import NAME_RULES, NO_DUPLICATES
from sidecheck_server.core.mcp.rules.rule import Check, Fault
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.types import SEVERITY_RANK, Verdict, Violation

__all__ = [
    "CheckedName",
    "CheckedNames",
    "Collision",
    "check_names",
    "check_names_in_steps",
    "sanitize_name",
    "sdk_warnings",
]

_SDK_LONGEST = 128
_SDK_VALID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_SDK_INVALID_CHARACTER = re.compile(r"[^A-Za-z0-9._-]")

_SANITIZED_LONGEST = 64
_UNSAFE_CHARACTER = re.compile(r"[^A-Za-z0-9_-]")

#: Names that satisfy all rules and cause no warning of the SDK, as most names do.
_PLAIN = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?")

_NO_FAULT = Fault((), "")

# Steps for each name, and for each name that is not plain.
_NAME_STEPS = 100
_RULES_STEPS = 400


@dataclass(slots=True)
class CheckedName:
    """Outcome of the check of one name.

    Not frozen, since a frozen dataclass takes far longer to create.
    """

    #: Verdict with the instance location "", since the name is the whole instance.
    verdict: Verdict
    #: Whether the Python SDK accepts the name.
    sdk_valid: bool
    #: Warnings of the Python SDK, word for word.
    sdk_warnings: tuple[str, ...]
    #: Result of `sanitize_name`.
    sanitized: str


@dataclass(frozen=True, slots=True)
class Collision:
    """Different names with the same sanitized name."""

    sanitized: str
    #: Indexes of the colliding names among all names, from 0.
    indexes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckedNames:
    """Outcome of the check of several names."""

    #: One outcome for each name, in order.
    names: tuple[CheckedName, ...]
    #: Collisions, ordered by the smallest index in each.
    collisions: tuple[Collision, ...]


def check_names(names: Sequence[str], context: Context, limits: ReportLimits) -> CheckedNames:
    """Check *names* by the rules on names, and for duplicates and collisions.

    A name that occurs more than once has a violation at each occurrence.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    *_, checked_names = check_names_in_steps(names, context, limits)
    assert checked_names is not None
    return checked_names


def check_names_in_steps(
    names: Sequence[str], context: Context, limits: ReportLimits
) -> Iterator[CheckedNames | None]:
    """Yield None after each of *names*, and finally the result of `check_names`.

    Ten thousand unusual names take a second, so the caller may run other work in between.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    indexes: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        spend(context.budget, _NAME_STEPS + len(name) // 16)
        indexes.setdefault(name, []).append(index)
    yield None
    checks = [
        (rule.check, rule.violation(_NO_FAULT, context.version))
        for rule in NAME_RULES
        if rule.check is not None
        and rule.holds_in(context.version)
        and SEVERITY_RANK[rule.severity] <= SEVERITY_RANK[limits.min_severity]
    ]
    outcomes: dict[str, CheckedName] = {}
    checker = _NameChecker(checks, context, limits)
    for name, occurrences in indexes.items():
        if len(occurrences) == 1 and _PLAIN.fullmatch(name):
            outcomes[name] = CheckedName(VALID, sdk_valid=True, sdk_warnings=(), sanitized=name)
        else:
            spend(context.budget, _RULES_STEPS)
            is_valid, warnings = sdk_warnings(name)
            verdict = checker.verdict(name, len(occurrences))
            outcomes[name] = CheckedName(verdict, is_valid, warnings, sanitize_name(name))
        yield None
    collisions = tuple(_find_collisions(indexes, outcomes))
    yield CheckedNames(tuple(outcomes[name] for name in names), collisions)


class _NameChecker:
    """Applies the rules to names. Equal violations and verdicts share an object."""

    __slots__ = ("_checks", "_context", "_limits", "_verdicts", "_violations")

    def __init__(
        self, checks: list[tuple[Check, Violation]], context: Context, limits: ReportLimits
    ) -> None:
        self._checks = checks
        self._context = context
        self._limits = limits
        #: Violations without a suggestion, by code and message.
        self._violations: dict[tuple[str, str], Violation] = {}
        #: Verdicts by the identities of their violations; `_violations` keeps these alive.
        self._verdicts: dict[tuple[int, ...], Verdict] = {}

    def verdict(self, name: str, occurrences: int) -> Verdict:
        """Return the verdict on *name* with that number of occurrences."""
        tool = {"name": name}
        violations = []
        is_shareable = occurrences == 1
        for check, template in self._checks:
            for fault in check(tool, self._context):
                assert isinstance(fault, Fault)
                is_shareable = is_shareable and not fault.suggestion
                violations.append(self._get_violation(template, fault.message, fault.suggestion))
        if occurrences > 1:
            message = f"the name occurs {occurrences} times; names of tools should be unique"
            violations.append(NO_DUPLICATES.violation(Fault((), message), self._context.version))
        if not is_shareable:
            return self._build_verdict(violations)
        key = tuple(map(id, violations))
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self._verdicts[key] = self._build_verdict(violations)
        return verdict

    def _get_violation(self, template: Violation, message: str, suggestion: str) -> Violation:
        violation = None if suggestion else self._violations.get((template.code, message))
        if violation is None:
            violation = Violation(
                "",
                "",
                "",
                template.code,
                message,
                template.severity,
                suggestion,
                spec_url=template.spec_url,
            )
            if not suggestion:
                self._violations[template.code, message] = violation
        return violation

    def _build_verdict(self, violations: list[Violation]) -> Verdict:
        findings = Findings(self._context, self._limits)
        for violation in violations:
            findings.add(violation)
        return findings.verdict()


def _find_collisions(
    indexes: dict[str, list[int]], outcomes: dict[str, CheckedName]
) -> Iterator[Collision]:
    """Yield the collisions. Each has at least one name that sanitizing changed."""
    changed_by_result: dict[str, list[str]] = {}
    for name, outcome in outcomes.items():
        if outcome.sanitized != name:
            changed_by_result.setdefault(outcome.sanitized, []).append(name)
    collisions = []
    for sanitized, changed_names in changed_by_result.items():
        names = [sanitized, *changed_names] if sanitized in indexes else changed_names
        if len(names) > 1:
            members = sorted(index for name in names for index in indexes[name])
            collisions.append(Collision(sanitized, tuple(members)))
    yield from sorted(collisions, key=lambda collision: collision.indexes)


def sanitize_name(name: str) -> str:
    """Return *name* as 1 to 64 characters of ``A-Za-z0-9_-``.

    Other characters become ``_``, an empty name becomes ``_``, and a longer name is truncated.
    """
    return _UNSAFE_CHARACTER.sub("_", name[:_SANITIZED_LONGEST]) or "_"


def sdk_warnings(name: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether the Python SDK accepts *name*, and its warnings, word for word.

    Source: release 2.3.0.
    """
    if not name:
        return False, ("Tool name cannot be empty",)
    if len(name) > _SDK_LONGEST:
        return False, (
            f"Tool name exceeds maximum length of 128 characters (current: {len(name)})",
        )
    warnings = []
    if " " in name:
        warnings.append("Tool name contains spaces, which may cause parsing issues")
    if "," in name:
        warnings.append("Tool name contains commas, which may cause parsing issues")
    for mark, noun in (("-", "dash"), (".", "dot")):
        if name.startswith(mark) or name.endswith(mark):
            warnings.append(
                f"Tool name starts or ends with a {noun}, "
                "which may cause parsing issues in some contexts"
            )
    is_valid = _SDK_VALID.fullmatch(name) is not None
    if not is_valid:
        invalid_characters = ", ".join(
            map(repr, dict.fromkeys(_SDK_INVALID_CHARACTER.findall(name)))
        )
        warnings.append(f"Tool name contains invalid characters: {invalid_characters}")
        warnings.append(
            "Allowed characters are: A-Z, a-z, 0-9, underscore (_), dash (-), and dot (.)"
        )
    return is_valid, tuple(warnings)
