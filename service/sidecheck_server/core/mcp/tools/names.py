"""Names of tools by themselves, as they are checked before any tool is made of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sidecheck_server.core.budget import spend
from sidecheck_server.core.evaluate import VALID
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.rules.names import NAME_RULES, NO_DUPLICATES, Judge
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.subjects import ReportLimits
from sidecheck_server.core.types import RANK, Verdict, Violation

__all__ = [
    "CheckedName",
    "CheckedNames",
    "Collision",
    "check_names",
    "checking_names",
    "sanitized",
    "sdk_warnings",
]

_SDK_LONGEST = 128
_SDK_VALID = re.compile(r"[A-Za-z0-9._-]{1,128}")
_SDK_ALIEN = re.compile(r"[^A-Za-z0-9._-]")

_SAFE_LONGEST = 64
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")

#: What all rules allow and of which the SDK does not warn. Most names are such.
_PLAIN = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9_])?")

#: In whose place what a rule says of a name is put.
_NAMELESS = Fault((), "")

# In steps.
_FEW = 100
_MANY = 400


@dataclass(slots=True)
class CheckedName:
    """What was found of one name. Not frozen, since making a frozen one takes far longer."""

    #: Its pointers are empty: the name is the whole.
    verdict: Verdict
    #: Whether the Python SDK holds the name for valid, and what it warns of.
    sdk_valid: bool
    sdk_warnings: tuple[str, ...]
    #: See `sanitized`.
    sanitized: str


@dataclass(frozen=True, slots=True)
class Collision:
    """Different names that become the same."""

    #: What they become.
    sanitized: str
    #: Where they stand among all names, from 0.
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckedNames:
    """What was found of several names."""

    #: One for each name, in order.
    names: tuple[CheckedName, ...]
    #: In the order in which the first name of each stands.
    collisions: tuple[Collision, ...]


def check_names(names: Sequence[str], context: Context, how: ReportLimits) -> CheckedNames:
    """Return what is wrong with each of *names*, and which cannot stand beside each other.

    Every name that stands more than once is told of it, at each of its places.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    *_, checked = checking_names(names, context, how)
    assert checked is not None
    return checked


def checking_names(
    names: Sequence[str], context: Context, how: ReportLimits
) -> Iterator[CheckedNames | None]:
    """Yield None after each of *names*, and last what `check_names` returns.

    Ten thousand odd names take a second, in which others may want their turn.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    places: dict[str, list[int]] = {}
    for index, name in enumerate(names):
        spend(context.budget, _FEW + len(name) // 16)
        places.setdefault(name, []).append(index)
    yield None
    judges = [
        (each.judge, each.rule.violation(_NAMELESS, context.version))
        for each in NAME_RULES
        if each.rule.holds_in(context.version) and RANK[each.rule.severity] <= RANK[how.least]
    ]
    known: dict[str, CheckedName] = {}
    telling = _Telling(judges, context, how)
    for name, where in places.items():
        if len(where) == 1 and _PLAIN.fullmatch(name):
            known[name] = CheckedName(VALID, sdk_valid=True, sdk_warnings=(), sanitized=name)
        else:
            spend(context.budget, _MANY)
            valid, warnings = sdk_warnings(name)
            verdict = telling.verdict(name, len(where))
            known[name] = CheckedName(verdict, valid, warnings, sanitized(name))
        yield None
    yield CheckedNames(tuple(known[name] for name in names), tuple(_collisions(places, known)))


class _Telling:
    """Tells what the rules say of names, and shares what is said again and again."""

    __slots__ = ("_context", "_how", "_judges", "_verdicts", "_violations")

    def __init__(
        self, judges: list[tuple[Judge, Violation]], context: Context, how: ReportLimits
    ) -> None:
        self._judges = judges
        self._context = context
        self._how = how
        #: By code and message, those that suggest nothing.
        self._violations: dict[tuple[str, str], Violation] = {}
        #: By the identities of such violations, which are kept above.
        self._verdicts: dict[tuple[int, ...], Verdict] = {}

    def verdict(self, name: str, times: int) -> Verdict:
        """Return what is wrong with *name*, which stands so many *times*."""
        told = []
        shared = times == 1
        for judge, like in self._judges:
            said = judge(name, self._context)
            if said is not None:
                message, better = said
                shared = shared and not better
                told.append(self._violation(like, message, better))
        if times > 1:
            repeated = f"{times} of the names are this one; a tool is known by its name alone"
            told.append(NO_DUPLICATES.violation(Fault((), repeated), self._context.version))
        if not shared:
            return self._listed(told)
        key = tuple(map(id, told))
        known = self._verdicts.get(key)
        if known is None:
            known = self._verdicts[key] = self._listed(told)
        return known

    def _violation(self, like: Violation, message: str, better: str) -> Violation:
        known = None if better else self._violations.get((like.code, message))
        if known is None:
            known = Violation(
                "", "", "", like.code, message, like.severity, better, clause=like.clause
            )
            if not better:
                self._violations[like.code, message] = known
        return known

    def _listed(self, told: list[Violation]) -> Verdict:
        how = self._how
        findings = Findings(self._context, most=how.most, longest=how.longest, least=how.least)
        for violation in told:
            findings.add(violation)
        return findings.verdict()


def _collisions(places: dict[str, list[int]], known: dict[str, CheckedName]) -> Iterator[Collision]:
    """Yield which names become the same; one that stays as it is can only meet another."""
    becoming: dict[str, list[str]] = {}
    for name, checked in known.items():
        if checked.sanitized != name:
            becoming.setdefault(checked.sanitized, []).append(name)
    found = []
    for safe, changed in becoming.items():
        same = [safe, *changed] if safe in places else changed
        if len(same) > 1:
            found.append(Collision(safe, tuple(sorted(p for name in same for p in places[name]))))
    yield from sorted(found, key=lambda each: each.places)


def sanitized(name: str) -> str:
    """Return what *name* becomes where only 1 to 64 of ``A-Za-z0-9_-`` are allowed.

    Every other character becomes ``_``, and what is too long is cut. An empty name
    becomes ``_``.
    """
    return _UNSAFE.sub("_", name[:_SAFE_LONGEST]) or "_"


def sdk_warnings(name: str) -> tuple[bool, tuple[str, ...]]:
    """Return whether the Python SDK holds *name* for valid, and what it warns of, word for word.

    So says its release 2.3.0.
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
    valid = _SDK_VALID.fullmatch(name) is not None
    if not valid:
        alien = ", ".join(map(repr, dict.fromkeys(_SDK_ALIEN.findall(name))))
        warnings.append(f"Tool name contains invalid characters: {alien}")
        warnings.append(
            "Allowed characters are: A-Z, a-z, 0-9, underscore (_), dash (-), and dot (.)"
        )
    return valid, tuple(warnings)
