"""The preflight passes what keeps the rules of an API, and catches what breaks one."""

from typing import Any

import pytest
from preflight import openai_rows, other_rows
from preflight.checker import faults, request_faults, schema_of
from preflight.envelopes import ENVELOPES
from preflight.making import TEXT, closed, listed, tool_of
from preflight.other_rows import LETTERS, capital
from preflight.sizes import depth_of
from preflight.subsets import SUBSETS


def sound(api: str, *, strict: bool) -> dict[str, Any]:
    """Return a tool that breaks nothing."""
    schema = capital(a=LETTERS) if api == "gemini" else closed(a=TEXT)
    if api == "ollama" or (api == "bedrock" and not strict):
        del schema["additionalProperties"]
    return tool_of(api, schema, strict=strict)


@pytest.mark.parametrize(("api", "strict"), SUBSETS)
def test_a_sound_tool_passes(api: str, strict: bool) -> None:
    assert [] == faults(api, sound(api, strict=strict), strict=strict)


# Around the schema: API, members of the tool that break a rule, and what is said of them.
AROUND: list[tuple[str, dict[str, Any], str]] = [
    ("openai-chat", {"name": "a.b"}, "the name"),
    ("openai-chat", {"name": "a" * 65}, "the name"),
    ("openai-chat", {"name": "find\n"}, "the name"),
    ("openai-chat", {"description": None}, "the description"),
    ("openai-chat", {"strict": None}, "strict is not said"),
    ("openai-chat", {"strict": True}, "strict is True"),
    ("openai-chat", {"type": "function"}, "unknown member 'type'"),
    ("openai-responses", {"name": "a" * 129}, "the name"),
    ("openai-responses", {"strict": None}, "strict is not said"),
    ("anthropic", {"name": "a b"}, "the name"),
    ("anthropic", {"strict": True}, "strict is True"),
    ("anthropic", {"parameters": {}}, "unknown member 'parameters'"),
    ("gemini", {"name": "1a"}, "the name"),
    ("gemini", {"strict": False}, "unknown member 'strict'"),
    ("gemini-json", {"name": "a" * 65}, "the name"),
    ("gemini-json", {"parameters": {}}, "unknown member 'parameters'"),
    ("bedrock", {"name": ""}, "the name"),
    ("bedrock", {"name": "a.b"}, "the name"),
    ("bedrock", {"description": ""}, "the description"),
    ("mistral", {"name": "a:b"}, "the name"),
    ("ollama", {"name": ""}, "the name"),
    ("ollama", {"strict": False}, "unknown member 'strict'"),
]


@pytest.mark.parametrize(("api", "members", "said"), AROUND)
def test_what_is_wrong_around_a_schema_is_told(
    api: str, members: dict[str, Any], said: str
) -> None:
    schema = capital(a=LETTERS) if api == "gemini" else schema_of(api, sound(api, strict=False))
    found = faults(api, tool_of(api, schema, members), strict=False)
    assert [said] == [each[: len(said)] for each in found]


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
    ],
)
def test_names_within_the_rule_pass(api: str, name: str) -> None:
    schema = capital(a=LETTERS) if api == "gemini" else schema_of(api, sound(api, strict=False))
    assert [] == faults(api, tool_of(api, schema, {"name": name}), strict=False)


@pytest.mark.parametrize(
    ("api", "strict", "passes", "breaks", "said"), [*openai_rows.ROWS, *other_rows.ROWS]
)
def test_a_schema_passes_and_one_that_breaks_the_rule_is_told(
    api: str, strict: bool, passes: Any, breaks: Any, said: str
) -> None:
    assert [] == faults(api, tool_of(api, passes, strict=strict), strict=strict)
    found = faults(api, tool_of(api, breaks, strict=strict), strict=strict)
    assert said in [each[: len(said)] for each in found]


def test_an_api_without_strictness_is_not_asked_for_it() -> None:
    found = faults("ollama", sound("ollama", strict=False), strict=True)
    assert ["ollama cannot be asked for strictness"] == found


@pytest.mark.parametrize("api", ["gemini", "gemini-json"])
def test_a_tool_that_takes_nothing_has_no_schema(api: str) -> None:
    tool = {"name": "find", "description": "Finds."}
    assert [] == faults(api, tool, strict=False)
    assert None is schema_of(api, tool)


def test_a_schema_of_gemini_means_what_openapi_says() -> None:
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
def test_levels_are_counted_on_the_way_down(schema: Any, levels: int) -> None:
    assert levels == depth_of(schema)


def named(api: str, count: int, schema: Any, *, strict: bool = False) -> list[Any]:
    return [
        tool_of(api, schema, {"name": f"find{number}"}, strict=strict) for number in range(count)
    ]


_MANY = {f"a{index}": TEXT for index in range(24)}
_UNION = {"type": ["string", "null"]}

# API, tools that fit together, tools that do not, and what is said of them.
TOGETHER: list[tuple[str, list[Any], list[Any], str]] = [
    *(
        (api, [sound(api, strict=False)], 2 * [sound(api, strict=False)], "'find' is the name of 2")
        for api in ENVELOPES
    ),
    *(
        (api, named(api, 128, closed()), named(api, 129, closed()), "129 tools")
        for api in ("openai-chat", "openai-responses")
    ),
    (
        "anthropic",
        [*named("anthropic", 20, closed(), strict=True), sound("anthropic", strict=False)],
        named("anthropic", 21, closed(), strict=True),
        "21 strict tools, more than 20",
    ),
    (
        "anthropic",
        named("anthropic", 1, {**closed(**_MANY), "required": []}, strict=True),
        named("anthropic", 2, {**closed(**_MANY), "required": ["a1"]}, strict=True),
        "46 optional members, more than 24",
    ),
    (
        "bedrock",
        named("bedrock", 16, closed(a=_UNION), strict=True),
        named("bedrock", 17, closed(a={"anyOf": [TEXT, listed(TEXT)]}), strict=True),
        "17 unions, more than 16",
    ),
]


@pytest.mark.parametrize(("api", "fitting", "beyond", "said"), TOGETHER)
def test_tools_of_one_request_fit_together(
    api: str, fitting: list[Any], beyond: list[Any], said: str
) -> None:
    assert [] == request_faults(api, fitting)
    assert [said] == [each[: len(said)] for each in request_faults(api, beyond)]
