"""The table of clauses: each is assessed, and each rule on their pages is named by one."""

from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.rules.rule import Clause as Source
from sidecheck_server.core.mcp.rules.rule import Rule

from docs.generate.clauses.table import REASONS, Assessment, assessments, clauses

_LONGEST = 110
_LISTED_PAGES = {
    Source(page).url(version) for clause in clauses().values() for version, page, _ in clause.places
}

_GAPS = frozenset({"5c4766a866"})
"""Clauses that messages could show to be broken and that no rule checks.

Their assessments tell what a rule would find. A clause leaves the set when a rule checks it.
"""

_WITHOUT_CLAUSE = {
    "a page or the schema demands it in words without MUST or SHOULD": {
        "ADDITIONAL_PROPERTIES",
        "ANNOTATIONS_LAST_MODIFIED",
        "CACHE_HINT_MISPLACED",
        "COMPLETION_TOO_LONG",
        "ELICITATION_CONTENT_UNASKED",
        "ELICITATION_CONTENT_WITHOUT_ACCEPT",
        "ELICITATION_DEFAULT_EARLY",
        "ELICITATION_FIELD_KEYWORD",
        "ELICITATION_FIELD_VALUE",
        "ELICITATION_OPTION_KEYWORD",
        "ELICITATION_ROOT_ANNOTATION",
        "ELICITATION_ROOT_KEYWORD",
        "EMPTY_RESULT_WITH_DATA",
        "ICON_SIZES",
        "INPUT_REQUIRED_TYPE",
        "MAXIMUM",
        "MAX_ITEMS",
        "META_PREFIX_RESERVED",
        "META_PROTOCOL_VERSION",
        "METHOD_UNKNOWN",
        "RESOURCE_NOT_SUBSCRIBED",
        "RETRY_ARGUMENTS_CHANGED",
        "SAMPLING_RESULT_BRINGS_TOOL_RESULT",
        "SAMPLING_RESULT_ROLE",
        "SAMPLING_RESULT_STOP_REASON",
        "SAMPLING_RESULT_TOOL_UNKNOWN",
        "SAMPLING_TOOL_RESULT_ROLE",
        "SAMPLING_TOOL_UNKNOWN",
        "SAMPLING_TOOL_USE_ID_REUSED",
        "SAMPLING_TOOL_USE_ROLE",
        "SNAKE_CASE_PROPERTY",
        "SUBSCRIPTION_ACKNOWLEDGED_UNASKED",
    },
    "a clause says what its receiver does with it": {
        "ELICITATION_URL_SUSPICIOUS",
        "ICON_DATA",
        "ICON_HTTP",
        "ICON_MIME_TYPE",
        "ICON_URI",
        "LIMIT_EXCEEDED",
        "UNRESOLVABLE_REFERENCE",
        "UNSUPPORTED_DIALECT",
        "UNSUPPORTED_PATTERN",
    },
    "the published schema says so by a format": {
        "RESOURCE_REFERENCE_URI",
        "RESOURCE_REQUEST_URI_EARLY",
        "RESOURCE_TEMPLATE_URI",
        "WEBSITE_URL",
    },
    "the error of a receiver says so": {"CAPABILITY_UNDECLARED_BY_CLIENT"},
    "it can never be satisfied, or has no effect": {
        "BOUNDS_IMPOSSIBLE",
        "ELICITATION_DEFAULT",
        "ELICITATION_ENUM_EMPTY",
        "ELICITATION_ENUM_NAMES",
        "ELICITATION_FIELD_BOUNDS",
        "ELICITATION_FIELD_LIMIT",
        "ELICITATION_OPTIONS_EMPTY",
        "ELICITATION_OPTIONS_REPEATED",
        "ELICITATION_REQUIRED_REPEATED",
        "ELICITATION_REQUIRED_UNDEFINED",
        "REQUIRED_IMPOSSIBLE",
        "SAMPLING_MAX_TOKENS",
        "SAMPLING_TOOL_CHOICE_WITHOUT_TOOLS",
        "SAMPLING_TOOL_REQUIRED_WITHOUT_TOOLS",
        "TOOL_HINTS_CONTRADICT",
        "TOOL_HINT_WITHOUT_MEANING",
        "VALUES_IMPOSSIBLE",
    },
    "it is about definitions that are handed over, and no message": {
        "NULL_PROPERTY_DROPPED",
        "OUTPUT_SCHEMA_WRAPPED",
        "SNAKE_CASE_PROPERTY_RENAMED",
    },
}
"""Rules with a source on a page of the list that none of its clauses demands, by the reason."""


def test_exactly_the_clauses_are_assessed() -> None:
    """`python -m docs.generate.clauses` prints the differences."""
    assert clauses().keys() == assessments().keys()


def test_an_assessment_is_complete() -> None:
    """It has one of rules, reason and gap, and one sentence of few words."""
    incomplete = [
        digest for digest, assessed in assessments().items() if not _is_complete(assessed)
    ]

    assert [] == incomplete


def _is_complete(assessed: Assessment) -> bool:
    return (
        1 == sum(map(bool, (assessed.rules, assessed.reason, assessed.gap)))
        and len(assessed.rules) == len(set(assessed.rules))
        and assessed.says.endswith(".")
        and len(assessed.says) <= _LONGEST
    )


def test_the_rules_of_a_clause_exist_and_hold_in_its_versions() -> None:
    """Each version of a clause has a rule, or a reason why not."""
    wrong = [
        digest
        for digest, assessed in assessments().items()
        if assessed.rules and not _hold({version for version, _, _ in _places(digest)}, assessed)
    ]

    assert [] == wrong


def _places(digest: str) -> tuple[tuple[str, str, str], ...]:
    return clauses()[digest].places if digest in clauses() else ()


def _hold(versions: set[str], assessed: Assessment) -> bool:
    rules = [CATALOGUE[code] for code in assessed.rules if code in CATALOGUE]
    covered = {version for rule in rules for version in rule.versions}
    return (
        len(rules) == len(assessed.rules)
        and all(versions & set(rule.versions) for rule in rules)
        and (versions <= covered or assessed.because != "")
    )


def test_every_reason_is_used() -> None:
    """There are no other reasons."""
    assert {assessed.reason for assessed in assessments().values()} - {""} == set(REASONS)


def test_gaps_are_known() -> None:
    """A gap that a rule closes leaves the set."""
    assert {digest for digest, assessed in assessments().items() if assessed.gap} == _GAPS


def test_every_rule_checks_a_clause() -> None:
    """Exceptions are in the table above."""
    named = {code for assessed in assessments().values() for code in assessed.rules}
    on_listed_pages = {rule.code for rule in CATALOGUE.values() if _pages(rule) & _LISTED_PAGES}

    assert on_listed_pages - named == set().union(*_WITHOUT_CLAUSE.values())


def _pages(rule: Rule) -> set[str]:
    return {rule.clause.url(version).partition("#")[0] for version in rule.versions}
