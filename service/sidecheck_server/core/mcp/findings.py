"""Collector of violations and deferred checks of one payload."""

from collections.abc import Callable, Iterable

from sidecheck_server.core.evaluate import VALID
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import DeferredCheck, Finding, Path, Rule
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.types import SEVERITY_RANK, Severity, Verdict, Violation

__all__ = ["Findings", "PendingCheck"]


class PendingCheck:
    """A deferred check, and the path of the value that its rule checked."""

    __slots__ = ("check", "path")

    def __init__(self, path: Path, check: DeferredCheck) -> None:
        self.path = path
        self.check = check

    @property
    def key(self) -> tuple[int, bool]:
        """Key of the schema to compile, unique while the check exists.

        With it, the caller encodes and compiles a schema only once, even if thousands of values
        are validated against it.
        """
        return (id(self.check.schema), self.check.assert_formats)


class Findings:
    """Violations of one payload, bounded in number and length.

    Each severity has its own bounds, so that many warnings cannot displace an error.
    """

    __slots__ = (
        "_exhausted",
        "_highest",
        "_lengths",
        "_limits",
        "_min_rank",
        "_truncated",
        "_violations",
        "context",
        "has_unusable_schema",
        "pending",
    )

    def __init__(self, context: Context, limits: ReportLimits) -> None:
        self.context = context
        #: Deferred checks to be resolved (`core.mcp.deferred`).
        self.pending: list[PendingCheck] = []
        #: Whether a schema of the payload cannot be compiled. Its violations may be warnings.
        self.has_unusable_schema = False
        self._limits = limits
        self._min_rank = SEVERITY_RANK[limits.min_severity]
        #: Lists by rank of severity; () until the first violation, since most messages are valid.
        self._violations: tuple[list[Violation], ...] = ()
        self._lengths: list[int] = []
        #: Ranks whose bounds are reached.
        self._exhausted: tuple[int, ...] = ()
        self._truncated = False
        self._highest: Severity | None = None

    def copy(self) -> "Findings":
        """Return a copy; adding findings to it does not change the original."""
        copy = Findings(self.context, self._limits)
        copy.pending = [*self.pending]
        copy.has_unusable_schema = self.has_unusable_schema
        copy._violations = tuple([*violations] for violations in self._violations)
        copy._lengths = [*self._lengths]
        copy._exhausted = self._exhausted
        copy._truncated = self._truncated
        copy._highest = self._highest
        return copy

    def report(self, rule: Rule, path: Path, finding: Finding) -> None:
        """Add a *finding* of *rule* in the value at *path*."""
        if isinstance(finding, DeferredCheck):
            self.pending.append(PendingCheck(path, finding))
        elif SEVERITY_RANK[rule.severity] > self._min_rank:
            self._note_severity(rule.severity)
        elif SEVERITY_RANK[rule.severity] in self._exhausted:
            # Building a violation takes as long as finding its fault, of which a payload may
            # have tens of thousands.
            self._note_severity(rule.severity)
            self._truncated = True
        else:
            self.add(rule.violation(finding, self.context.version, path))

    def add(self, violation: Violation) -> bool:
        """Add *violation*; return False if the bounds of its severity are reached."""
        rank = SEVERITY_RANK[violation.severity]
        self._note_severity(violation.severity)
        if rank > self._min_rank:
            return True
        if not self._violations:
            self._violations, self._lengths = ([], [], []), [0, 0, 0]
        violations = self._violations[rank]
        self._lengths[rank] += violation.length
        if len(violations) >= self._limits.max_violations or (
            violations and self._lengths[rank] > self._limits.max_characters
        ):
            self._truncated = True
            if rank not in self._exhausted:
                self._exhausted = (*self._exhausted, rank)
            return False
        violations.append(violation)
        return True

    def add_all(self, violations: Iterable[Violation], *, truncated: bool = False) -> None:
        """Add *violations* until the bounds of a severity are reached."""
        self._truncated |= truncated
        for violation in violations:
            if not self.add(violation):
                return

    def filter(self, predicate: Callable[[Violation], bool]) -> None:
        """Remove the violations for which *predicate* is False."""
        if not self._violations:
            return
        remaining = tuple(
            [violation for violation in violations if predicate(violation)]
            for violations in self._violations
        )
        if list(map(len, remaining)) == list(map(len, self._violations)):
            return
        self._violations = remaining
        self._lengths = [
            sum(violation.length for violation in violations) for violations in remaining
        ]
        if not self._truncated:
            severities = (violations[0].severity for violations in remaining if violations)
            self._highest = next(severities, None)

    def _note_severity(self, severity: Severity) -> None:
        if self._highest is None or SEVERITY_RANK[severity] < SEVERITY_RANK[self._highest]:
            self._highest = severity

    @property
    def highest_severity(self) -> Severity | None:
        """Highest severity among all violations, including omitted ones."""
        return self._highest

    @property
    def has_violations(self) -> bool:
        """Whether there is a violation of a reported severity."""
        return any(self._violations)

    @property
    def has_errors(self) -> bool:
        """Whether a violation of severity error was added."""
        return bool(self._violations) and bool(self._violations[0])

    def error_locations(self) -> frozenset[str]:
        """Return the instance locations of the violations of severity error."""
        return frozenset(
            violation.instance_location
            for violations in self._violations[:1]
            for violation in violations
        )

    def verdict(self) -> Verdict:
        """Return the verdict, with the most severe violations within the limits."""
        if self._highest is None and not self._truncated:
            return VALID
        violations = [violation for group in self._violations for violation in group]
        limit = self._limits.max_violations
        truncated = self._truncated or len(violations) > limit
        return Verdict.listing(violations[:limit], truncated=truncated)
