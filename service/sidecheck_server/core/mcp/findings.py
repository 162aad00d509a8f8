"""Findings: what was found in one payload, as much of it as was asked for."""

from collections.abc import Iterable

from sidecheck_server.core.evaluate import VALID
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.rules.rule import DeferredCheck, Found, Path, Rule
from sidecheck_server.core.types import RANK, Severity, Verdict, Violation

__all__ = ["CheckSpec", "Findings"]


class CheckSpec:
    """A question of a rule, and where the value stands that the rule was given."""

    __slots__ = ("path", "question")

    def __init__(self, path: Path, question: DeferredCheck) -> None:
        self.path = path
        self.question = question

    @property
    def key(self) -> tuple[int, bool]:
        """What tells schemas apart that are asked about, as long as the question is held.

        Thousands of values may be judged under one large schema: by this it is written out
        and compiled once.
        """
        return (id(self.question.schema), self.question.assert_formats)


class Findings:
    """Collects what is found.

    At most *most* violations of each severity are kept, so that no number of small
    faults can hide a grave one, and no more than *longest* characters of each.
    """

    __slots__ = (
        "_full",
        "_gravest",
        "_kept",
        "_least",
        "_length",
        "_longest",
        "_most",
        "_truncated",
        "context",
        "questions",
    )

    def __init__(
        self, context: Context, *, most: int, longest: int, least: Severity = Severity.INFO
    ) -> None:
        self.context = context
        self.questions: list[CheckSpec] = []
        self._most = most
        self._longest = longest
        self._least = RANK[least]
        #: By rank; nothing until the first is kept, since most messages have none.
        self._kept: tuple[list[Violation], ...] = ()
        self._length: list[int] = []
        #: The ranks of which no more are wanted.
        self._full: tuple[int, ...] = ()
        self._truncated = False
        self._gravest: Severity | None = None

    def tell(self, rule: Rule, path: Path, found: Found) -> None:
        """Take in what *rule* found in the value at *path*."""
        if isinstance(found, DeferredCheck):
            self.questions.append(CheckSpec(path, found))
        elif RANK[rule.severity] > self._least:
            self._look(rule.severity)
        elif RANK[rule.severity] in self._full:
            # Tens of thousands may be found; making a violation takes as long as finding it.
            self._look(rule.severity)
            self._truncated = True
        else:
            self.add(rule.violation(found, self.context.version, path))

    def add(self, violation: Violation) -> bool:
        """Take in *violation*; return whether more of its severity are wanted."""
        rank = RANK[violation.severity]
        self._look(violation.severity)
        if rank > self._least:
            return True
        if not self._kept:
            self._kept, self._length = ([], [], []), [0, 0, 0]
        kept = self._kept[rank]
        self._length[rank] += violation.length
        if len(kept) >= self._most or (kept and self._length[rank] > self._longest):
            self._truncated = True
            if rank not in self._full:
                self._full = (*self._full, rank)
            return False
        kept.append(violation)
        return True

    def add_all(self, violations: Iterable[Violation], *, truncated: bool = False) -> None:
        """Take in *violations*, as long as they are wanted."""
        self._truncated |= truncated
        for violation in violations:
            if not self.add(violation):
                return

    def _look(self, severity: Severity) -> None:
        if self._gravest is None or RANK[severity] < RANK[self._gravest]:
            self._gravest = severity

    @property
    def gravest(self) -> Severity | None:
        """The severity of the gravest violation found, also of those that are left out."""
        return self._gravest

    @property
    def has_errors(self) -> bool:
        """Whether an error was found."""
        return bool(self._kept) and bool(self._kept[0])

    def places_of_errors(self) -> frozenset[str]:
        """Return the instance pointers of the errors that were found."""
        return frozenset(
            violation.instance_location for kept in self._kept[:1] for violation in kept
        )

    def verdict(self) -> Verdict:
        """Return the verdict: the gravest violations, as many as are wanted."""
        if self._gravest is None and not self._truncated:
            return VALID
        kept = [violation for one in self._kept for violation in one]
        truncated = self._truncated or len(kept) > self._most
        return Verdict.listing(kept[: self._most], truncated=truncated)
