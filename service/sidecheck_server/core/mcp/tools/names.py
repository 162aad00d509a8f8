"""Names of tools by themselves, as they are checked before any tool is made of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sidecheck_server.core.budget import spend
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.findings import Findings
from sidecheck_server.core.mcp.rules.names import NAME_RULES, Judge
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.subjects import How
from sidecheck_server.core.mcp.tools.problems import duplicate_name
from sidecheck_server.core.words import Severity, Verdict, Violation

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

_GRAVE_ENOUGH = {
    Severity.INFO: frozenset(Severity),
    Severity.WARNING: frozenset({Severity.WARNING, Severity.ERROR}),
    Severity.ERROR: frozenset({Severity.ERROR}),
}


@dataclass(frozen=True, slots=True)
class CheckedName:
    """What was found of one name."""

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


def check_names(names: Sequence[str], context: Context, how: How) -> CheckedNames:
    """Return what is wrong with each of *names*, and which cannot stand beside each other.

    Every name that stands more than once is told of it, at each of its places.

    Raises:
        Exhausted: the budget of *context* is spent.
    """
    *_, checked = checking_names(names, context, how)
    assert checked is not None
    return checked


def checking_names(
    names: Sequence[str], context: Context, how: How
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
        if each.rule.holds_in(context.version) and each.rule.severity in _GRAVE_ENOUGH[how.least]
    ]
    known: dict[str, CheckedName] = {}
    for name, where in places.items():
        known[name] = _checked(name, len(where), judges, context, how)
        yield None
    yield CheckedNames(tuple(known[name] for name in names), tuple(_collisions(places, known)))


def _checked(
    name: str, times: int, judges: list[tuple[Judge, Violation]], context: Context, how: How
) -> CheckedName:
    if times == 1 and _PLAIN.fullmatch(name):
        return CheckedName(Verdict(), sdk_valid=True, sdk_warnings=(), sanitized=name)
    spend(context.budget, _MANY)
    findings = Findings(context, most=how.most, longest=how.longest, least=how.least)
    for judge, like in judges:
        said = judge(name, context)
        if said is not None:
            message, better = said
            findings.add(
                Violation("", "", "", like.code, message, like.severity, better, clause=like.clause)
            )
    if times > 1:
        repeated = f"{times} of the names are this one; a tool is known by its name alone"
        findings.add(replace(duplicate_name(repeated), instance_pointer=""))
    valid, warnings = sdk_warnings(name)
    return CheckedName(findings.verdict(), valid, warnings, sanitized(name))


def _collisions(places: dict[str, list[int]], known: dict[str, CheckedName]) -> Iterator[Collision]:
    becoming: dict[str, list[str]] = {}
    for name in places:
        becoming.setdefault(known[name].sanitized, []).append(name)
    for safe, same in becoming.items():
        if len(same) > 1:
            yield Collision(safe, tuple(sorted(place for name in same for place in places[name])))


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
