"""Data model of rules, and the sets in which they are declared and registered."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from sidecheck_server.core.mcp.context import VERSIONS, Context
from sidecheck_server.core.types import Severity, Violation, as_pointer

__all__ = [
    "Check",
    "Clause",
    "DeferredCheck",
    "Fault",
    "Finding",
    "Group",
    "Path",
    "Rule",
    "RuleSet",
    "registered_rules",
    "type_clause",
]

#: Keys and indexes that lead to a value.
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Clause:
    """Location in the specification, a proposal (SEP), or provider documentation."""

    #: Page below the version, for example ``server/tools``, or a full URL.
    page: str
    #: Anchor on the page, or "".
    anchor: str = ""
    #: Earlier locations, oldest first: last version with the location, page, anchor.
    before: tuple[tuple[str, str, str], ...] = ()

    def url(self, version: str) -> str:
        """Return the full URL of the clause in the specification of *version*."""
        page, anchor = self.page, self.anchor
        for until, old_page, old_anchor in reversed(self.before):
            if version <= until:
                page, anchor = old_page, old_anchor
        location = f"{page}#{anchor}" if anchor else page
        if "://" in page:
            return location
        return f"https://modelcontextprotocol.io/specification/{version}/{location}"


def type_clause(name: str = "") -> Clause:
    """Return the clause that defines the type *name*, or all types.

    Until 2025-03-26 no page lists the types; the base protocol refers to the schema.
    """
    return Clause("schema", name.lower(), before=(("2025-03-26", "basic", "schema"),))


@dataclass(frozen=True, slots=True)
class Fault:
    """A violation of a rule, located in the value that the rule checked."""

    #: Path from the checked value.
    path: Path
    #: Expected and actual value.
    message: str
    #: The nearest known name or value, or "".
    suggestion: str = ""


# Decision 0026: rules stay synchronous; the caller compiles the schemas of a payload.
@dataclass(frozen=True, slots=True)
class DeferredCheck:
    """A schema in the payload to compile, and possibly a value to validate against it.

    The caller of a rule's check resolves it (`core.mcp.deferred`), since compiling a schema
    takes too long for the check. Errors of the schema are reported at *schema_path*, unless
    *silent*, and violations of the value at *value_path*.
    """

    #: The decoded schema; if *silent*, possibly its JSON text.
    schema: Any
    #: Path of the schema from the checked value.
    schema_path: Path
    #: The value to validate, in a tuple of one item, or () without a value.
    value: tuple[Any, ...] = ()
    #: Path of the value from the checked value.
    value_path: Path = ()
    #: Whether `format` is an assertion.
    assert_formats: bool = False
    #: Whether another check reports errors of the schema.
    silent: bool = False
    #: Code of the only violation of an invalid value, or "" to report each violation.
    code: str = ""
    #: Highest severity of these violations: WARNING where the value SHOULD be valid.
    severity: Severity = Severity.ERROR


Finding: TypeAlias = Fault | DeferredCheck
Check: TypeAlias = Callable[[Any, Context], Iterable[Finding]]
#: Returns True only for values that satisfy a rule, to skip its check.
Skip: TypeAlias = Callable[[Any, Context], bool]


# Decision 0024: one object has check, source and requirement; the reference derives from it.
@dataclass(frozen=True, slots=True)
class Rule:
    """One requirement of the specification, or one piece of advice."""

    #: Stable code of its violations, in upper snake case.
    code: str
    # Decision 0025: the words of the specification determine the severity, nothing else.
    #: ERROR for a MUST and for values that the published schema rejects, WARNING for a SHOULD
    #: and for statements and heuristics, INFO for advice of a model provider.
    severity: Severity
    #: Source of the requirement.
    clause: Clause
    #: Text of the requirement.
    requirement: str
    #: Names of the types that it applies to.
    subjects: tuple[str, ...]
    #: Finds the faults of a value of one of *subjects*. The value may be any JSON value; the
    #: check does not repeat faults that the schema of the type rejects. None if other code
    #: finds the faults and reports them through `violation`.
    check: Check | None = None
    #: First version that has the rule.
    since: str = VERSIONS[0]
    #: Last version that has the rule.
    until: str = VERSIONS[-1]
    #: Test that makes the call of *check* unnecessary. Rules of a type that share the test call
    #: it once.
    skip: Skip | None = None
    #: Whether an unseen message of the session could explain a fault. Such a rule reports
    #: nothing after the first missed message. Messages that were seen prove faults of other
    #: rules, whatever was sent between them.
    needs_whole_session: bool = False

    def holds_in(self, version: str) -> bool:
        """Return whether *version* has the rule."""
        return self.since <= version <= self.until

    @property
    def versions(self) -> tuple[str, ...]:
        """Versions that have the rule, oldest first."""
        return tuple(version for version in VERSIONS if self.holds_in(version))

    def spec_url(self, version: str = "") -> str:
        """Return the URL of the rule in *version*, or in the latest version that has it."""
        return self.clause.url(version or self.versions[-1])

    def violation(self, fault: Fault, version: str, path: Path = ()) -> Violation:
        """Return the violation for *fault* in the value at *path*."""
        return Violation(
            instance_location=as_pointer((*path, *fault.path)),
            keyword_location="",
            keyword="",
            code=self.code,
            message=fault.message,
            severity=self.severity,
            suggestion=fault.suggestion,
            spec_url=self.clause.url(version),
        )


class Group(Enum):
    """Groups of rules with their titles, in the order of the reference."""

    # Parts of every message.
    VALUES = "Values and texts"
    MESSAGES = "Messages and methods"
    ERRORS = "Error codes and error data"
    METADATA = "Keys of `_meta`"
    TRACE_CONTEXT = "Trace context in `_meta`"
    # Versions and capabilities.
    VERSION_NEGOTIATION = "Version negotiation"
    DECLARATIONS = "Versions and capabilities of requests"
    CAPABILITIES = "Capabilities and extensions"
    UNDECLARED_FEATURES = "Features in use that were not declared"
    FEATURES = "Features: tasks, completion, roots and logging"
    # Relations between messages.
    SESSIONS = "Sessions"
    NOTIFICATIONS = "Notifications of cancellation and progress"
    REJECTIONS = "Requests that must be rejected"
    EMPTY_RESULTS = "Empty results"
    LISTS = "Lists"
    CACHING = "Caching hints"
    # Tools.
    TOOLS = "Tool definitions and results"
    TOOL_FORMS = "Forms of tool definitions"
    TOOL_SCHEMAS = "Schemas of tools"
    TOOL_NAMES = "Names of tools"
    TOOL_HEADERS = "Headers of tool arguments (`x-mcp-header`)"
    ICONS = "Icons of tools, prompts, resources and implementations"
    # Other features of servers.
    CONTENT = "Content blocks and resources"
    PROMPTS = "Prompts"
    SUBSCRIPTIONS = "Subscriptions"
    LOGGING = "Logging"
    # Input from clients.
    INPUT_REQUIRED = "Result types and results that request input"
    ELICITATION_REQUESTS = "Elicitation requests"
    ELICITATION_FIELDS = "Fields of elicitation forms"
    ELICITATION_OPTIONS = "Options of selects in elicitation forms"
    ELICITATION_URLS = "Elicitation URLs"
    ELICITATION_RESULTS = "Elicitation results"
    ELICITATION_ERRORS = "Elicitations in errors"
    SAMPLING_REQUESTS = "Sampling requests"
    SAMPLING_HISTORY = "Sampling histories"
    SAMPLING_OUTPUTS = "Structured content of tool results in sampling requests"
    SAMPLING_RESULTS = "Sampling results and tool uses of models"
    # Tasks.
    TASKS = "Tasks"
    TASKS_EXTENSION = "Tasks extension"


class RuleSet:
    """Declares and registers rules of one group, with default values.

    A rule may override each default value. Iterating yields the rules of the set.
    """

    def __init__(
        self,
        group: Group,
        *,
        on: str | tuple[str, ...] = "JSONRPCMessage",
        since: str = VERSIONS[0],
        until: str = VERSIONS[-1],
        skip: Skip | None = None,
        needs_whole_session: bool = False,
    ) -> None:
        self._rules: list[Rule] = []
        _SETS[group].append(self)
        self._on = on
        self._since = since
        self._until = until
        self._skip = skip
        self._needs_whole_session = needs_whole_session

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def declare(  # noqa: PLR0913 - the columns of a table.
        self,
        code: str,
        severity: Severity,
        clause: Clause,
        requirement: str,
        *,
        on: str | tuple[str, ...] = (),
        since: str = "",
        until: str = "",
        needs_whole_session: bool | None = None,
        check: Check | None = None,
    ) -> Rule:
        """Register and return a rule. Without *check*, other code finds its faults."""
        subjects = on or self._on
        if needs_whole_session is None:
            needs_whole_session = self._needs_whole_session
        rule = Rule(
            code,
            severity,
            clause,
            requirement,
            (subjects,) if isinstance(subjects, str) else subjects,
            check,
            since or self._since,
            until or self._until,
            self._skip,
            needs_whole_session,
        )
        self._rules.append(rule)
        return rule

    def rule(
        self,
        code: str,
        severity: Severity,
        clause: Clause,
        requirement: str,
        *,
        on: str | tuple[str, ...] = (),
        since: str = "",
        until: str = "",
    ) -> Callable[[Check], Rule]:
        """Turn the decorated check into a rule, and register it."""

        def decorate(check: Check) -> Rule:
            return self.declare(
                code, severity, clause, requirement, on=on, since=since, until=until, check=check
            )

        return decorate


_SETS: dict[Group, list[RuleSet]] = {group: [] for group in Group}


def registered_rules(group: Group) -> tuple[Rule, ...]:
    """Return the rules of *group*, in the order in which its module declares them."""
    return tuple(rule for rules in _SETS[group] for rule in rules)
