"""`sidecheck convert`: what it prints, and how it exits."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck

SEARCH = {
    "name": "search.flights",
    "title": "Search",
    "description": "Finds flights.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "to": {"type": "string", "minLength": 3},
            "date": {"type": "string", "format": "date"},
        },
        "required": ["to"],
        "additionalProperties": False,
    },
}
PING = {
    "name": "ping",
    "description": "Answers.",
    "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False},
}
GONE = {
    "name": "gone",
    "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/gone"}}},
}
FILES: dict[str, Any] = {
    "search.json": SEARCH,
    "ping.json": [PING],
    "tools.json": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [SEARCH, GONE, PING]}},
    "many.json": [{**PING, "name": f"ping{n}"} for n in range(129)],
}
REFUSED = (
    "the $ref #/gone at /properties/a does not resolve: nothing is there; references resolve "
    "within the schema and the documents sent along, and nothing is ever fetched"
)
KNOWN_AS = "the model knows the tool as 'search_flights'"
NO_PLACE = "OpenAI's Chat Completions has no place for it"
CONVERTED = {
    "type": "function",
    "function": {
        "name": "search_flights",
        "description": "Finds flights.",
        "parameters": SEARCH["inputSchema"],
        "strict": False,
    },
}
PINGED = {
    "type": "function",
    "function": {
        "name": "ping",
        "description": "Answers.",
        "parameters": PING["inputSchema"],
        "strict": False,
    },
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which has FILES."""
    monkeypatch.chdir(tmp_path)
    for name, value in FILES.items():
        (tmp_path / name).write_text(json.dumps(value))
    return tmp_path


def run(*words: str, stdin: bytes | None = None) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(sidecheck, ["convert", *words], input=stdin, catch_exceptions=False)


def told(*words: str) -> Any:
    """Return what the command says in JSON."""
    return json.loads(run(*words, "--format", "json").stdout)


def test_the_tools_are_apart_from_what_is_told_of_them() -> None:
    """So that they can be piped on."""
    result = run("--to", "openai-chat", "tools.json")

    assert f"{json.dumps([CONVERTED, PINGED], indent=2)}\n" == result.stdout
    assert (
        "TOOL            LOCATION  KEYWORD  ACTION   EFFECT  MESSAGE\n"
        f"search.flights  /name              encoded  same    {KNOWN_AS}\n"
        f"search.flights  /title             dropped  same    {NO_PLACE}\n"
        f"tools.json: gone: not converted: UNRESOLVABLE_REFERENCE: {REFUSED}\n"
        "2 tools for OpenAI's Chat Completions, 1 not converted, 2 losses (2 same)\n"
    ) == result.stderr
    assert 1 == result.exit_code


def test_without_losses_there_is_one_row() -> None:
    """And all is well."""
    result = run("--to", "openai-chat", "ping.json")

    assert [PINGED] == json.loads(result.stdout)
    assert "1 tool for OpenAI's Chat Completions, no losses\n" == result.stderr
    assert 0 == result.exit_code


def test_the_sum_tells_the_worst_first() -> None:
    """What losses mean, by how much that is to be minded."""
    loose = {"name": "loose", "description": "Takes anything.", "inputSchema": {"type": "object"}}
    Path("loose.json").write_text(json.dumps(loose))
    result = run("--to", "openai-chat", "--mode", "strict", "search.json", "loose.json")

    assert (
        "2 tools for OpenAI's Chat Completions, 2 strict, 5 losses (1 narrower, 1 wider, 3 same)"
        == result.stderr.splitlines()[-1]
    )
    assert 0 == result.exit_code


def test_json_is_one_object() -> None:
    """With all that text says, and the plans."""
    loss = {"tool": "search.flights", "keyword": "", "direction": "same"}
    found = told("--to", "openai-chat", "tools.json")
    plans = found.pop("mappings")

    assert {
        "tools": [CONVERTED, PINGED],
        "rejected": [
            {
                "file": "tools.json",
                "name": "gone",
                "reason": "UNRESOLVABLE_REFERENCE",
                "message": REFUSED,
            }
        ],
        "losses": [
            {**loss, "pointer": "/name", "action": "encoded", "message": KNOWN_AS},
            {**loss, "pointer": "/title", "action": "dropped", "message": NO_PLACE},
        ],
        "not_strict": [],
        "request": {"valid": True, "violations": []},
    } == found
    assert [("search_flights", "search.flights"), ("ping", "ping")] == [
        (plan["name"], plan["tool"]) for plan in plans
    ]


def test_plans_go_to_a_file(folder: Path) -> None:
    """As an array, in place of what stood there; they are those that JSON has."""
    (folder / "plans.json").write_text("x" * 10_000)
    result = run("--to", "gemini", "--server", "air", "--mappings-out", "plans.json", "search.json")
    plans = json.loads((folder / "plans.json").read_text())

    assert 0 == result.exit_code
    assert [("gemini", "air", "search.flights")] == [
        (plan["api"], plan["server"], plan["tool"]) for plan in plans
    ]
    assert plans == told("--to", "gemini", "--server", "air", "search.json")["mappings"]


def functions(tools: Any) -> list[Any]:
    """Return the functions of tools that have them below."""
    return [tool["function"] for tool in tools]


def declared(tools: Any) -> Any:
    """Return the functions that the one tool declares."""
    (tool,) = tools
    return tool["functionDeclarations"]


def specified(tools: Any) -> list[Any]:
    """Return what the tools of a ``toolConfig`` specify."""
    return [tool["toolSpec"] for tool in tools["tools"]]


@pytest.mark.parametrize(
    ("expected", "api", "each_of"),
    [
        ("search_flights", "openai-chat", functions),
        ("search_flights", "openai-responses", list),
        ("search_flights", "anthropic", list),
        ("search.flights", "gemini", declared),
        ("search.flights", "gemini-json", declared),
        ("search_flights", "bedrock", specified),
        ("search_flights", "mistral", functions),
        ("search_flights", "ollama", functions),
    ],
)
def test_the_tools_are_as_a_request_takes_them(expected: str, api: str, each_of: Any) -> None:
    """For every API, and out of several files."""
    result = run("--to", api, "search.json", "ping.json")

    assert 0 == result.exit_code
    assert [expected, "ping"] == [tool["name"] for tool in each_of(json.loads(result.stdout))]


def test_the_mode_says_what_is_strict() -> None:
    """Where it is not, the reason is told."""
    lax = {**SEARCH, "name": "lax", "inputSchema": {"type": "object", "properties": {"a": {}}}}
    Path("lax.json").write_text(json.dumps(lax))
    preferred = run("--to", "openai-chat", "--mode", "strict-if-lossless", "ping.json", "lax.json")
    reasons = [row for row in preferred.stderr.splitlines() if row.startswith("lax: not strict: ")]

    assert [True, False] == [each["function"]["strict"] for each in json.loads(preferred.stdout)]
    assert 1 == len(reasons)
    assert "2 tools for OpenAI's Chat Completions, 1 strict" in preferred.stderr
    found = told("--to", "openai-chat", "--mode", "strict-if-lossless", "ping.json", "lax.json")
    assert [("lax", reasons[0].removeprefix("lax: not strict: "))] == [
        (each["tool"], each["reason"]) for each in found["not_strict"]
    ]
    refused = run("--to", "ollama", "--mode", "strict", "ping.json")
    assert (1, "[]\n") == (refused.exit_code, refused.stdout)
    assert (
        "ping.json: ping: not converted: NOT_CONVERTIBLE: Ollama's chat cannot be asked to hold a model "
        "to a schema; the modes compatible and strict_if_lossless do not ask for that\n"
    ) in refused.stderr


def test_assume_closed_makes_more_strict() -> None:
    """Objects that do not say whether they take other members."""
    Path("open.json").write_text(
        json.dumps(
            {
                "name": "open",
                "inputSchema": {
                    "type": "object",
                    "properties": {"a": {"type": "string"}},
                    "required": ["a"],
                },
            }
        )
    )
    words = ("--to", "openai-chat", "--mode", "strict-if-lossless", "open.json")

    assert [[False], [True]] == [
        [tool["function"]["strict"] for tool in json.loads(run(*words, *more).stdout)]
        for more in ((), ("--assume-closed",))
    ]
    assert (
        "open: not strict: members that are not declared were admitted by default, and cannot be "
        "given (at /inputSchema); with assume_closed that does not count\n"
    ) in run(*words).stderr


def test_more_strict_tools_than_a_request_takes_are_not_strict() -> None:
    """The first ones are; why the others are not is told."""
    words = ("--to", "anthropic", "--mode", "strict-if-lossless", "many.json")
    result = run(*words)
    strict = [tool["strict"] for tool in json.loads(result.stdout)]

    assert [True] * 20 + [False] * 109 == strict
    assert (0, 109) == (result.exit_code, result.stderr.count(": not strict: "))
    assert "129 tools for Anthropic's Messages, 20 strict, no losses\n" in result.stderr


def test_a_request_beyond_a_limit_is_told() -> None:
    """Though every tool was converted."""
    result = run("--to", "openai-chat", "many.json")
    (found,) = told("--to", "openai-chat", "many.json")["request"]["violations"]

    assert ("REQUEST_TOOLS", "error", "/128") == (
        found["code"],
        found["severity"],
        found["instance_location"],
    )
    assert (
        f"the request: error: REQUEST_TOOLS: {found['message']} (at /128)\n"
        "129 tools for OpenAI's Chat Completions, no losses\n"
    ) == result.stderr
    assert (1, 129) == (result.exit_code, len(json.loads(result.stdout)))


def test_names_may_begin_with_the_server() -> None:
    """If one is named."""
    words = ("--to", "anthropic", "--server", "air", "--server-prefix", "always", "ping.json")

    assert ["air__ping"] == [tool["name"] for tool in json.loads(run(*words).stdout)]


def test_descriptions_may_be_cut() -> None:
    """And output schemas go along where the API takes them."""
    Path("output.json").write_text(json.dumps({**PING, "outputSchema": {"type": "object"}}))
    words = ("--description-length", "4", "--include-output-schema", "output.json")
    (tool,) = json.loads(run("--to", "openai-responses", *words).stdout)

    assert ("Ans…", {"type": "object"}) == (tool["description"], tool["output_schema"])


def test_a_terminal_gets_colours(on_terminal: Any) -> None:
    """In what is told; the tools are plain JSON."""
    code, said = on_terminal("convert", "--to", "openai-chat", "tools.json", columns=200)

    assert 1 == code
    assert said.startswith(json.dumps([CONVERTED, PINGED], indent=2))
    assert "\x1b[1mtools.json: gone\x1b[0m: \x1b[1;31mnot converted\x1b[0m" in said
