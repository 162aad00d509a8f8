"""What a rule is: a code, how grave it is, where it comes from, and what it finds."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.types import Severity, Violation, as_pointer

__all__ = [
    "Check",
    "Clause",
    "DeferredCheck",
    "Fault",
    "Found",
    "Path",
    "Rule",
    "Spares",
    "of_type",
    "rule",
    "sparing",
]

#: The way to a value: the keys and indexes that lead to it.
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """A place in the specification, a proposal (SEP), or the documentation of a provider."""

    #: The page below the version, for example ``server/tools``; or a whole name such as
    #: ``SEP-986``, which has no page.
    page: str
    #: The anchor on the page, or "".
    anchor: str = ""
    #: Where it stood before it moved: the last version, the page and the anchor, oldest first.
    before: tuple[tuple[str, str, str], ...] = ()

    def at(self, version: str) -> str:
        """Return where it stands in the specification of *version*."""
        if self.page.startswith("SEP-") or "://" in self.page:
            return self.page
        page, anchor = self.page, self.anchor
        for until, old_page, old_anchor in reversed(self.before):
            if version <= until:
                page, anchor = old_page, old_anchor
        place = f"{page}#{anchor}" if anchor else page
        return f"https://modelcontextprotocol.io/specification/{version}/{place}"


def of_type(name: str = "") -> Clause:
    """Return the clause of the type *name*, or of all types.

    Until 2025-03-26 no page lists the types: the base protocol points to the schema.
    """
    return Clause("schema", name.lower(), before=(("2025-03-26", "basic", "schema"),))


@dataclass(frozen=True, slots=True)
class Fault:
    """A place where a rule is broken."""

    #: Where, from the value that the rule was given.
    path: Path
    #: What was expected and what was found, for a person.
    message: str
    #: The nearest known name or value, or "".
    suggestion: str = ""


@dataclass(frozen=True, slots=True)
class DeferredCheck:
    """A schema in the payload that must be sound, and perhaps a value that it must admit.

    A rule cannot answer it: compiling a schema takes longer than a moment. Whoever
    answers reports what is wrong with the schema at *schema_path* (unless *silent*), and
    the violations of the value at *value_path*.
    """

    #: The schema: its value, or if *silent* its text too.
    schema: Any
    #: Where the schema stands, from the value that the rule was given.
    schema_path: Path
    #: The value, if one is to be judged, alone in a tuple.
    value: tuple[Any, ...] = ()
    value_path: Path = ()
    #: Whether `format` is asserted of the value.
    assert_formats: bool = False
    #: Whether what is wrong with the schema is told elsewhere.
    silent: bool = False


Found: TypeAlias = Fault | DeferredCheck
Check: TypeAlias = Callable[[Any, Context], Iterable[Found]]
#: Says of a value, and pays for it as a check does, whether checks have nothing to tell of it.
Spares: TypeAlias = Callable[[Any, Context], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that must, or should, be so."""

    #: The code of its violations, stable, in upper snake case.
    code: str
    #: ERROR for a MUST and for what the published schema refuses, WARNING for a SHOULD,
    #: INFO for advice of a provider; nothing else moves it.
    severity: Severity
    clause: Clause
    #: What must be so.
    sentence: str
    #: The names of the shapes whose values it judges.
    subjects: tuple[str, ...]
    #: Finds what is wrong with a value of one of *subjects*; the value may have any form
    #: at all, and what its shape refuses is not the rule's to tell. None if other code
    #: finds it and speaks through `violation`.
    check: Check | None = None
    since: str = VERSIONS[0]
    #: The last version that has it.
    until: str = VERSIONS[-1]
    #: Says at once of most sound values that they keep the rule, so that *check* is not
    #: asked. It is asked once for all rules of a shape that share it.
    spares: Spares | None = None

    def holds_in(self, version: str) -> bool:
        """Return whether *version* has the rule. Versions are dates, and sort as text."""
        return self.since <= version <= self.until

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions that have it, oldest first."""
        return tuple(version for version in VERSIONS if self.holds_in(version))

    def violation(self, fault: Fault, version: str, path: Path = ()) -> Violation:
        """Return the violation that *fault*, found in the value at *path*, is."""
        return Violation(
            instance_location=as_pointer((*path, *fault.path)),
            keyword_location="",
            keyword="",
            code=self.code,
            message=fault.message,
            severity=self.severity,
            suggestion=fault.suggestion,
            clause=self.clause.at(version),
        )


def rule(
    code: str,
    *,
    severity: Severity,
    clause: Clause,
    sentence: str,
    on: str | tuple[str, ...],
    since: str = VERSIONS[0],
    until: str = VERSIONS[-1],
) -> Callable[[Check], Rule]:
    """Make a rule out of the function that checks it."""
    subjects = (on,) if isinstance(on, str) else on

    def made(check: Check) -> Rule:
        return Rule(code, severity, clause, sentence, subjects, check, since, until)

    return made


def sparing(spares: Spares, rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return *rules*, which share *spares*."""
    return tuple(replace(each, spares=spares) for each in rules)
