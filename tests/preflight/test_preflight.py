"""Preflight: valid tools pass, and violations of the rules of an API are reported."""

from typing import Any

import pytest
from preflight import openai_rows, other_rows
from preflight.checker import faults, request_faults, schema_of
from preflight.envelopes import ENVELOPES
from preflight.other_rows import LETTERS, capital
from preflight.sizes import depth_of
from preflight.subsets import SUBSETS
from preflight.tools import TEXT, closed, listed, tool_of


def valid_tool(api: str, *, strict: bool) -> dict[str, Any]:
    """Return a valid tool."""
    schema = capital(a=LETTERS) if api == "gemini" else closed(a=TEXT)
    if api in ("ollama", "mcp") or (api == "bedrock" and not strict):
        del schema["additionalProperties"]
    return tool_of(api, schema, strict=strict)


@pytest.mark.parametrize(("api", "strict"), SUBSETS)
def test_a_valid_tool_passes(api: str, strict: bool) -> None:
    assert [] == faults(api, valid_tool(api, strict=strict), strict=strict)


# Around the schema: API, invalid properties of the tool, and the fault.
ENVELOPE_FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("openai-chat", {"name": "a.b"}, "the name"),
    ("openai-chat", {"name": "a" * 65}, "the name"),
    ("openai-chat", {"name": "find\n"}, "the name"),
    ("openai-chat", {"description": None}, "the description"),
    ("openai-chat", {"strict": None}, "strict is missing"),
    ("openai-chat", {"strict": True}, "strict is True"),
    ("openai-chat", {"type": "function"}, "unknown property 'type'"),
    ("openai-responses", {"name": "a" * 129}, "the name"),
    ("openai-responses", {"strict": None}, "strict is missing"),
    ("anthropic", {"name": "a b"}, "the name"),
    ("anthropic", {"strict": True}, "strict is True"),
    ("anthropic", {"parameters": {}}, "unknown property 'parameters'"),
    ("gemini", {"name": "1a"}, "the name"),
    ("gemini", {"strict": False}, "unknown property 'strict'"),
    ("gemini-json", {"name": "a" * 65}, "the name"),
    ("gemini-json", {"parameters": {}}, "unknown property 'parameters'"),
    ("bedrock", {"name": ""}, "the name"),
    ("bedrock", {"name": "a.b"}, "the name"),
    ("bedrock", {"description": ""}, "the description"),
    ("mistral", {"name": "a:b"}, "the name"),
    ("ollama", {"name": ""}, "the name"),
    ("ollama", {"strict": False}, "unknown property 'strict'"),
    ("mcp", {"name": "a" * 49}, "the name"),
    ("mcp", {"parameters": {}}, "unknown property 'parameters'"),
]


@pytest.mark.parametrize(("api", "properties", "message"), ENVELOPE_FAULTS)
def test_faults_around_a_schema_are_reported(
    api: str, properties: dict[str, Any], message: str
) -> None:
    schema = (
        capital(a=LETTERS) if api == "gemini" else schema_of(api, valid_tool(api, strict=False))
    )
    problems = faults(api, tool_of(api, schema, properties), strict=False)
    assert [message] == [problem[: len(message)] for problem in problems]


@pytest.mark.parametrize(
    ("api", "name"),
    [
        ("openai-chat", "a" * 64),
        ("openai-responses", "a" * 128),
        ("anthropic", "A-1_" * 32),
        ("gemini", "_a.b:c-d"),
        ("gemini-json", "a" * 64),
        ("bedrock", "a" * 64),
        ("ollama", "a/b.c"),
        ("mcp", "_" + "a" * 47),
    ],
)
def test_valid_names_pass(api: str, name: str) -> None:
    schema = (
        capital(a=LETTERS) if api == "gemini" else schema_of(api, valid_tool(api, strict=False))
    )
    assert [] == faults(api, tool_of(api, schema, {"name": name}), strict=False)


@pytest.mark.parametrize(
    ("api", "strict", "valid_schema", "invalid_schema", "message"),
    [*openai_rows.ROWS, *other_rows.ROWS],
)
def test_a_valid_schema_passes_and_a_violation_is_reported(
    api: str, strict: bool, valid_schema: Any, invalid_schema: Any, message: str
) -> None:
    assert [] == faults(api, tool_of(api, valid_schema, strict=strict), strict=strict)
    problems = faults(api, tool_of(api, invalid_schema, strict=strict), strict=strict)
    assert message in [problem[: len(message)] for problem in problems]


def test_an_api_without_strict_mode_is_reported() -> None:
    problems = faults("ollama", valid_tool("ollama", strict=False), strict=True)
    assert ["ollama has no strict mode"] == problems


@pytest.mark.parametrize("api", ["gemini", "gemini-json"])
def test_a_tool_without_arguments_has_no_schema(api: str) -> None:
    tool = {"name": "find", "description": "Finds."}
    assert [] == faults(api, tool, strict=False)
    assert None is schema_of(api, tool)


def test_a_schema_of_gemini_is_translated() -> None:
    branch = {"anyOf": [{"type": "OBJECT", "properties": {"type": LETTERS}}], "nullable": True}
    kind = {"type": "STRING", "enum": ["x"], "nullable": True, "description": "d"}
    listed = {"type": "ARRAY", "items": {"type": "NUMBER"}}
    tool = tool_of("gemini", {**capital(a=branch, b=kind, c=listed), "required": ["b"]})
    assert schema_of("gemini", tool) == {
        "type": "object",
        "required": ["b"],
        "properties": {
            "a": {
                "anyOf": [{"type": "object", "properties": {"type": TEXT}}, {"type": "null"}],
            },
            "b": {"type": ["string", "null"], "enum": ["x", None], "description": "d"},
            "c": {"type": "array", "items": {"type": "number"}},
        },
    }


@pytest.mark.parametrize(
    ("schema", "levels"),
    [
        (closed(), 1),
        (closed(a={"anyOf": [TEXT, closed(b=listed(TEXT))]}), 3),
        (closed(next={"anyOf": [{"$ref": "#"}, {"type": "null"}]}), 1),
        ({"type": "string", "items": closed()}, 1),
        ({**closed(a={"$ref": "#/$defs/b"}), "$defs": {"b": closed(c=closed())}}, 3),
    ],
)
def test_levels_are_counted_on_the_longest_path(schema: Any, levels: int) -> None:
    assert levels == depth_of(schema)


def numbered_tools(api: str, count: int, schema: Any, *, strict: bool = False) -> list[Any]:
    return [
        tool_of(api, schema, {"name": f"find{number}"}, strict=strict) for number in range(count)
    ]


_MANY = {f"a{index}": TEXT for index in range(24)}
_UNION = {"type": ["string", "null"]}

# API, tools of a valid request, tools of an invalid one, and the fault.
REQUESTS: list[tuple[str, list[Any], list[Any], str]] = [
    *(
        (
            api,
            [valid_tool(api, strict=False)],
            2 * [valid_tool(api, strict=False)],
            "'find' is the name of 2",
        )
        for api in ENVELOPES
    ),
    *(
        (api, numbered_tools(api, 128, closed()), numbered_tools(api, 129, closed()), "129 tools")
        for api in ("openai-chat", "openai-responses")
    ),
    (
        "anthropic",
        [
            *numbered_tools("anthropic", 20, closed(), strict=True),
            valid_tool("anthropic", strict=False),
        ],
        numbered_tools("anthropic", 21, closed(), strict=True),
        "21 strict tools, more than 20",
    ),
    (
        "anthropic",
        numbered_tools("anthropic", 1, {**closed(**_MANY), "required": []}, strict=True),
        numbered_tools("anthropic", 2, {**closed(**_MANY), "required": ["a1"]}, strict=True),
        "46 optional properties, more than 24",
    ),
    (
        "bedrock",
        numbered_tools("bedrock", 16, closed(a=_UNION), strict=True),
        numbered_tools("bedrock", 17, closed(a={"anyOf": [TEXT, listed(TEXT)]}), strict=True),
        "17 unions, more than 16",
    ),
]


@pytest.mark.parametrize(("api", "accepted", "rejected", "message"), REQUESTS)
def test_limits_of_one_request(
    api: str, accepted: list[Any], rejected: list[Any], message: str
) -> None:
    assert [] == request_faults(api, accepted)
    assert [message] == [problem[: len(message)] for problem in request_faults(api, rejected)]
