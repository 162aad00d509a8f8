"""Portability of tool definitions: hazards by target, lints, and the table of facts."""

import re
from typing import Any

import pytest
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.portability.check import check_portability
from sidecheck_server.core.portability.facts import Effect
from sidecheck_server.core.portability.lints import REQUIREMENTS
from sidecheck_server.core.portability.target import TOOL_TARGETS, Target
from sidecheck_server.core.portability.targets import FACTS
from sidecheck_server.core.types import Severity

OPENAI, STRICT, ANTHROPIC = Target.OPENAI, Target.OPENAI_STRICT, Target.ANTHROPIC
GEMINI, VERTEX, BEDROCK = Target.GEMINI, Target.VERTEX, Target.BEDROCK
OLLAMA, LLAMA_CPP = Target.OLLAMA, Target.LLAMA_CPP
CLAUDE_CODE, CURSOR, VSCODE = Target.CLAUDE_CODE, Target.CURSOR, Target.VSCODE
SDK_1, SDK_2 = Target.TYPESCRIPT_SDK_1, Target.TYPESCRIPT_SDK_2
OPENAI_MODES, GEMINIS = {OPENAI, STRICT}, {GEMINI, VERTEX}
DIRECTORIES = {Target.OPENAI_APPS, Target.CLAUDE_CONNECTORS}
DRAFT_07 = "http://json-schema.org/draft-07/schema#"

#: A definition that every target takes as it is but the strict mode, which wants closed objects.
PORTABLE: dict[str, Any] = {
    "name": "search",
    "title": "Search",
    "description": "Searches the index.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
    "annotations": {
        "title": "Search",
        "readOnlyHint": True,
        "destructiveHint": False,
        "openWorldHint": False,
    },
}


def with_query(**schema: Any) -> dict[str, Any]:
    """Return `PORTABLE` with another schema of its parameter."""
    properties = {"query": schema}
    return {**PORTABLE, "inputSchema": {**PORTABLE["inputSchema"], "properties": properties}}


def with_root(**keywords: Any) -> dict[str, Any]:
    """Return `PORTABLE` with more keywords at the root of its input schema; None removes one."""
    schema = {**PORTABLE["inputSchema"], **keywords}
    return {
        **PORTABLE,
        "inputSchema": {name: value for name, value in schema.items() if value is not None},
    }


def with_output(**schema: Any) -> dict[str, Any]:
    """Return `PORTABLE` with an output schema."""
    return {**PORTABLE, "outputSchema": schema}


QUERY = "/inputSchema/properties/query"

# Of the findings, one is expected: its code, its location, and the targets by their effect.
CASES: dict[str, tuple[dict[str, Any], str, str, dict[Effect, set[Target]]]] = {
    "look-ahead": (
        with_query(type="string", pattern="^(?!undefined$)[a-z]+$"),
        "PATTERN_LOOK_AROUND",
        f"{QUERY}/pattern",
        {Effect.REQUEST_REFUSED: OPENAI_MODES | {BEDROCK, LLAMA_CPP}},
    ),
    "look-behind in the key of patternProperties": (
        with_query(type="object", patternProperties={"^a(?<=a)$": {}}),
        "PATTERN_LOOK_AROUND",
        f"{QUERY}/patternProperties/^a(?<=a)$",
        {Effect.REQUEST_REFUSED: OPENAI_MODES | {BEDROCK, LLAMA_CPP}},
    ),
    "property of Unicode": (
        with_query(type="string", pattern="^\\p{L}+$"),
        "PATTERN_NEEDS_UNICODE_FLAG",
        f"{QUERY}/pattern",
        {Effect.REQUEST_REFUSED: OPENAI_MODES},
    ),
    "named group of ECMA-262": (
        with_query(type="string", pattern="^(?<year>[0-9]+)$"),
        "PATTERN_NOT_PYTHON",
        f"{QUERY}/pattern",
        {Effect.REQUEST_REFUSED: OPENAI_MODES},
    ),
    "pattern without anchors": (
        with_query(type="string", pattern="[a-z]+"),
        "PATTERN_NOT_ANCHORED",
        f"{QUERY}/pattern",
        {Effect.REQUEST_REFUSED: {LLAMA_CPP}},
    ),
    "shorthand class": (
        with_query(type="string", pattern="^\\d+$"),
        "PATTERN_SHORTHAND_CLASS",
        f"{QUERY}/pattern",
        {Effect.REQUEST_REFUSED: {LLAMA_CPP}},
    ),
    "array without items": (
        with_query(type="array"),
        "ARRAY_WITHOUT_ITEMS",
        QUERY,
        {
            Effect.REQUEST_REFUSED: OPENAI_MODES | GEMINIS,
            Effect.TOOL_DROPPED: {VSCODE},
        },
    ),
    "union at the root": (
        with_root(anyOf=[{"required": ["query"]}]),
        "ROOT_COMBINATOR",
        "/inputSchema/anyOf",
        {
            Effect.REQUEST_REFUSED: OPENAI_MODES | {ANTHROPIC, BEDROCK},
            Effect.TOOL_DROPPED: {CLAUDE_CODE},
        },
    ),
    "condition at the root": (
        with_root(**{"if": {"required": ["a"]}, "then": {"required": ["b"]}}),
        "ROOT_COMBINATOR",
        "/inputSchema/if",
        {Effect.TOOL_DROPPED: {CLAUDE_CODE}},
    ),
    "root without type": (
        with_root(type=None),
        "ROOT_WITHOUT_OBJECT_TYPE",
        "/inputSchema",
        {
            Effect.REQUEST_REFUSED: OPENAI_MODES | {ANTHROPIC},
            Effect.LIST_REFUSED: {SDK_1, CLAUDE_CODE},
        },
    ),
    "root without properties": (
        with_root(properties=None, required=None),
        "ROOT_WITHOUT_PROPERTIES",
        "/inputSchema",
        {Effect.REQUEST_REFUSED: OPENAI_MODES},
    ),
    "object without properties": (
        with_query(type="object"),
        "OBJECT_WITHOUT_PROPERTIES",
        QUERY,
        {Effect.REQUEST_REFUSED: GEMINIS},
    ),
    "property name": (
        with_root(properties={"a b": {"type": "string"}}, required=["a b"]),
        "PROPERTY_NAME_NOT_PORTABLE",
        "/inputSchema/properties/a b",
        {Effect.REQUEST_REFUSED: {ANTHROPIC, BEDROCK, *GEMINIS}},
    ),
    "tool name": (
        {**PORTABLE, "name": "search.index"},
        "TOOL_NAME_NOT_PORTABLE",
        "/name",
        {
            Effect.REQUEST_REFUSED: {*OPENAI_MODES, ANTHROPIC, BEDROCK, Target.MISTRAL},
            Effect.SUBMISSION_REJECTED: {Target.CLAUDE_CONNECTORS},
        },
    ),
    "name that is too long with any server": (
        {**PORTABLE, "name": "n" * 60},
        "COMBINED_NAME_TOO_LONG",
        "/name",
        {Effect.TOOL_DROPPED: {CLAUDE_CODE, CURSOR}},
    ),
    "keyword that a request does not have": (
        with_query(type="string", const="a"),
        "KEYWORD_NOT_SUPPORTED",
        f"{QUERY}/const",
        {Effect.REQUEST_REFUSED: GEMINIS, Effect.CONSTRAINT_IGNORED: {OLLAMA}},
    ),
    "keyword that a grammar ignores": (
        with_query(type="string", minLength=1, **{"not": {"const": "a"}}),
        "KEYWORD_NOT_SUPPORTED",
        f"{QUERY}/not",
        {
            Effect.REQUEST_REFUSED: {STRICT, *GEMINIS},
            Effect.CONSTRAINT_IGNORED: {OLLAMA, LLAMA_CPP},
        },
    ),
    "reference": (
        with_query(**{"$ref": "#/$defs/a"}),
        "REFERENCE_NOT_SUPPORTED",
        f"{QUERY}/$ref",
        {Effect.REQUEST_REFUSED: GEMINIS, Effect.CONSTRAINT_IGNORED: {OLLAMA}},
    ),
    "list of types": (
        with_query(type=["string", "null"]),
        "TYPE_LIST",
        f"{QUERY}/type",
        {Effect.REQUEST_REFUSED: GEMINIS},
    ),
    "keyword beside anyOf": (
        with_query(description="d", anyOf=[{"type": "string"}, {"type": "integer"}]),
        "KEYWORD_BESIDE_ANY_OF",
        f"{QUERY}/anyOf",
        {Effect.REQUEST_REFUSED: {VERTEX}},
    ),
    "numbers in an enum": (
        with_query(type="integer", enum=[1, 2]),
        "ENUM_NOT_OF_STRINGS",
        f"{QUERY}/enum",
        {Effect.REQUEST_REFUSED: GEMINIS},
    ),
    "format": (
        with_query(type="string", format="uri"),
        "FORMAT_NOT_SUPPORTED",
        f"{QUERY}/format",
        {Effect.REQUEST_REFUSED: {STRICT, *GEMINIS}},
    ),
    "schema without a type": (
        with_query(description="anything"),
        "SCHEMA_WITHOUT_TYPE",
        QUERY,
        {Effect.REQUEST_REFUSED: {STRICT}},
    ),
    "open object": (
        PORTABLE,
        "OBJECT_NOT_CLOSED",
        "/inputSchema",
        {Effect.REQUEST_REFUSED: {STRICT}},
    ),
    "optional property": (
        with_root(required=[]),
        "PROPERTY_NOT_REQUIRED",
        QUERY,
        {Effect.REQUEST_REFUSED: {STRICT}},
    ),
    "true as a schema": (
        with_query(type="array", items=True),
        "BOOLEAN_SCHEMA",
        f"{QUERY}/items",
        {Effect.REQUEST_REFUSED: {STRICT, *GEMINIS}},
    ),
    "true as the schema of a property of the output": (
        with_output(type="object", properties={"data": True}),
        "BOOLEAN_PROPERTY_SCHEMA",
        "/outputSchema/properties/data",
        {Effect.LIST_REFUSED: {SDK_1, CLAUDE_CODE}},
    ),
    "output schema of draft 7": (
        with_output(type="object", **{"$schema": DRAFT_07}),
        "OUTPUT_SCHEMA_DIALECT",
        "/outputSchema/$schema",
        {Effect.CALLS_FAIL: {CLAUDE_CODE, SDK_2}},
    ),
    "output schema that is not an object": (
        with_output(type="array"),
        "OUTPUT_ROOT_NOT_OBJECT",
        "/outputSchema",
        {Effect.LIST_REFUSED: {SDK_1, CLAUDE_CODE}},
    ),
    "hints": (
        {**PORTABLE, "annotations": {"title": "Search", "readOnlyHint": True}},
        "ANNOTATION_HINTS_MISSING",
        "/annotations",
        {Effect.SUBMISSION_REJECTED: {Target.OPENAI_APPS}},
    ),
    "title": (
        {**PORTABLE, "title": "", "annotations": {**PORTABLE["annotations"], "title": ""}},
        "ANNOTATION_TITLE_OR_HINT_MISSING",
        "/annotations",
        {Effect.SUBMISSION_REJECTED: {Target.CLAUDE_CONNECTORS}},
    ),
    "description": (
        {**PORTABLE, "description": " "},
        "DESCRIPTION_MISSING",
        "",
        {Effect.SUBMISSION_REJECTED: {Target.CLAUDE_CONNECTORS}},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_effects_of_a_hazard_at_targets(case: str) -> None:
    """No other location has a finding with that code."""
    tool, code, pointer, effects = CASES[case]
    findings, _ = check_portability(tool, TOOL_TARGETS, Limits())
    found = [finding for finding in findings if finding.hazard.code == code]

    assert pointer in [finding.pointer for finding in found]
    facts = [fact for finding in found if finding.pointer == pointer for fact in finding.facts]
    assert effects == {
        effect: {fact.target for fact in facts if fact.effect is effect}
        for effect in {fact.effect for fact in facts}
    }


def test_a_portable_definition_has_no_findings() -> None:
    """The strict mode takes it once it is closed, which Gemini refuses and Ollama ignores."""
    closed = with_root(additionalProperties=False)

    assert ([], []) == check_portability(PORTABLE, TOOL_TARGETS - {STRICT}, Limits())
    assert ([], []) == check_portability(closed, TOOL_TARGETS - GEMINIS - {OLLAMA}, Limits())


@pytest.mark.parametrize(
    "pattern",
    ["^\\(\\?=a$", "^[(?=]a$", "^(?:a)$", "^a\\\\p$"],
    ids=["escaped", "in a class", "group", "escaped backslash"],
)
def test_a_pattern_that_only_resembles_a_hazard(pattern: str) -> None:
    """Escapes and classes are read as a regular expression has them."""
    findings, _ = check_portability(
        with_query(type="string", pattern=pattern), {OPENAI, LLAMA_CPP}, Limits()
    )
    assert [] == findings


def test_every_fact_has_a_case() -> None:
    """A fact that no case shows could be wrong unnoticed."""
    shown = {
        (code, target, effect)
        for _, code, _, effects in CASES.values()
        for effect, targets in effects.items()
        for target in targets
    }
    stated = {(fact.hazard.code, fact.target, fact.effect) for fact in FACTS}
    shown |= {("TOOL_NAME_NOT_PORTABLE", target, Effect.REQUEST_REFUSED) for target in GEMINIS}

    assert stated == shown


def test_every_fact_has_a_source_with_a_date() -> None:
    """Every target of tools has a fact."""
    for fact in FACTS:
        assert fact.source.reference
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", fact.source.date)
    assert TOOL_TARGETS == {fact.target for fact in FACTS}


@pytest.mark.parametrize(
    ("server", "targets"),
    [("", set()), ("index", {CLAUDE_CODE}), ("index-of-everything", {CLAUDE_CODE, CURSOR})],
)
def test_a_name_counts_with_that_of_its_server(server: str, targets: set[Target]) -> None:
    """An unknown server has one character."""
    tool = {**PORTABLE, "name": "n" * 54}
    findings, _ = check_portability(tool, TOOL_TARGETS, Limits(), server=server)

    assert targets == {
        fact.target
        for finding in findings
        for fact in finding.facts
        if finding.hazard.code == "COMBINED_NAME_TOO_LONG"
    }


@pytest.mark.parametrize(
    ("named", "severity"),
    [
        (set(), Severity.INFO),
        ({OLLAMA}, Severity.WARNING),
        ({OLLAMA, GEMINI}, Severity.ERROR),
    ],
)
def test_severity_follows_the_effect_at_named_targets(
    named: set[Target], severity: Severity
) -> None:
    """A rejection by a target is an error, an ignored keyword a warning, the rest advice."""
    tool = with_query(type="string", const="a")
    findings, _ = check_portability(tool, {GEMINI, OLLAMA}, Limits())

    assert [severity] == [
        finding.violation(named=frozenset(named)).severity for finding in findings
    ]


LINTS: dict[str, tuple[dict[str, Any], list[tuple[str, str, Severity]]]] = {
    "misspelt keywords": (
        with_root(requried=["query"], additionalproperties=False),
        [
            ("/inputSchema/additionalproperties", "KEYWORD_MISSPELT", Severity.WARNING),
            ("/inputSchema/requried", "KEYWORD_MISSPELT", Severity.WARNING),
        ],
    ),
    "keywords of OpenAPI": (
        with_query(type="string", nullable=True, example="a"),
        [
            (f"{QUERY}/example", "OPENAPI_KEYWORD", Severity.WARNING),
            (f"{QUERY}/nullable", "OPENAPI_KEYWORD", Severity.WARNING),
        ],
    ),
    "unknown format": (
        with_query(type="integer", format="uint64"),
        [(f"{QUERY}/format", "FORMAT_UNKNOWN", Severity.INFO)],
    ),
    "number in an enum of strings": (
        with_query(type="string", enum=["a", 1]),
        [(f"{QUERY}/enum/1", "ENUM_VALUE_UNREACHABLE", Severity.WARNING)],
    ),
    "date-time without an offset": (
        with_query(type="string", format="date-time", examples=["2026-01-01T00:00:00"]),
        [(f"{QUERY}/examples/0", "DATE_TIME_WITHOUT_OFFSET", Severity.WARNING)],
    ),
    "parameter of any type": (
        with_query(),
        [(QUERY, "PARAMETER_WITHOUT_TYPE", Severity.INFO)],
    ),
    "two branches that are the same": (
        with_query(oneOf=[{"type": "string"}, {"type": "string"}]),
        [(f"{QUERY}/oneOf/1", "ONE_OF_BRANCHES_OVERLAP", Severity.WARNING)],
    ),
    "a number and an integer": (
        with_query(oneOf=[{"type": "number"}, {"type": "integer", "description": "d"}]),
        [(f"{QUERY}/oneOf/1", "ONE_OF_BRANCHES_OVERLAP", Severity.WARNING)],
    ),
    "types that are none": (
        with_query(oneOf=[{"type": [["string"], 5]}, {"type": 5}, {"type": {}}]),
        [],
    ),
    "branches that differ": (
        with_query(oneOf=[{"type": "string"}, {"type": "number", "minimum": 1}]),
        [],
    ),
    "extensions and unrelated names": (with_query(type="string", **{"x-order": 1, "qux": 2}), []),
    "data that looks like a schema": (with_query(type="object", const={"nullable": True}), []),
}


@pytest.mark.parametrize("case", LINTS)
def test_lints(case: str) -> None:
    """They need no target."""
    tool, expected = LINTS[case]
    _, lints = check_portability(tool, (), Limits())

    assert expected == [(lint.instance_location, lint.code, lint.severity) for lint in lints]


def test_every_lint_has_a_case() -> None:
    """It has a requirement too."""
    assert REQUIREMENTS.keys() == {code for _, rows in LINTS.values() for _, code, _ in rows}
