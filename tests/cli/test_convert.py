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
UNRESOLVABLE = (
    "the $ref #/gone at /properties/a cannot be resolved: its target does not exist; "
    "references resolve within the schema and the documents sent along, and nothing is ever fetched"
)
RENAMED = "the tool has the name 'search_flights' at the provider"
NO_COUNTERPART = "OpenAI's Chat Completions has no counterpart"
CONVERTED = {
    "type": "function",
    "function": {
        "name": "search_flights",
        "description": "Finds flights.",
        "parameters": SEARCH["inputSchema"],
        "strict": False,
    },
}
CONVERTED_PING = {
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


def run(*arguments: str, stdin: bytes | None = None) -> Result:
    """Run the command in this process; its exceptions propagate."""
    return CliRunner().invoke(
        sidecheck, ["convert", *arguments], input=stdin, catch_exceptions=False
    )


def report(*arguments: str) -> Any:
    """Return the JSON report of the command."""
    return json.loads(run(*arguments, "--format", "json").stdout)


def test_the_tools_are_separate_from_losses_and_errors() -> None:
    """Standard output has the tools alone, so that it can be piped."""
    result = run("--to", "openai-chat", "tools.json")

    assert f"{json.dumps([CONVERTED, CONVERTED_PING], indent=2)}\n" == result.stdout
    assert (
        "TOOL            LOCATION  KEYWORD  ACTION   EFFECT      MESSAGE\n"
        f"search.flights  /name              encoded  equivalent  {RENAMED}\n"
        f"search.flights  /title             dropped  equivalent  {NO_COUNTERPART}\n"
        f"tools.json: gone: not converted: UNRESOLVABLE_REFERENCE: {UNRESOLVABLE}\n"
        "2 tools for OpenAI's Chat Completions, 1 not converted, 2 losses (2 equivalent)\n"
    ) == result.stderr
    assert 1 == result.exit_code


def test_without_losses_there_is_only_a_summary() -> None:
    """The exit code is 0."""
    result = run("--to", "openai-chat", "ping.json")

    assert [CONVERTED_PING] == json.loads(result.stdout)
    assert "1 tool for OpenAI's Chat Completions, no losses\n" == result.stderr
    assert 0 == result.exit_code


def test_the_summary_counts_losses_by_effect() -> None:
    """The gravest effect comes first."""
    loose = {"name": "loose", "description": "Takes anything.", "inputSchema": {"type": "object"}}
    Path("loose.json").write_text(json.dumps(loose))
    result = run("--to", "openai-chat", "--mode", "strict", "search.json", "loose.json")

    assert (
        "2 tools for OpenAI's Chat Completions, 2 strict, "
        "5 losses (1 narrowed, 1 widened, 3 equivalent)" == result.stderr.splitlines()[-1]
    )
    assert 0 == result.exit_code


def test_json_is_one_object() -> None:
    """It has all that the text has, and the mappings."""
    loss = {"tool": "search.flights", "keyword": "", "effect": "equivalent"}
    actual = report("--to", "openai-chat", "tools.json")
    mappings = actual.pop("mappings")

    assert {
        "tools": [CONVERTED, CONVERTED_PING],
        "errors": [
            {
                "file": "tools.json",
                "name": "gone",
                "reason": "UNRESOLVABLE_REFERENCE",
                "message": UNRESOLVABLE,
            }
        ],
        "losses": [
            {**loss, "pointer": "/name", "action": "encoded", "message": RENAMED},
            {**loss, "pointer": "/title", "action": "dropped", "message": NO_COUNTERPART},
        ],
        "not_strict": [],
        "request": {"valid": True, "violations": []},
    } == actual
    assert [("search_flights", "search.flights"), ("ping", "ping")] == [
        (mapping["name"], mapping["tool"]) for mapping in mappings
    ]


def test_mappings_are_written_to_a_file(folder: Path) -> None:
    """The array replaces the contents of the file, and equals that of the JSON report."""
    (folder / "mappings.json").write_text("x" * 10_000)
    result = run(
        "--to", "gemini", "--server", "air", "--mappings-out", "mappings.json", "search.json"
    )
    mappings = json.loads((folder / "mappings.json").read_text())

    assert 0 == result.exit_code
    assert [("gemini", "air", "search.flights")] == [
        (mapping["api"], mapping["server"], mapping["tool"]) for mapping in mappings
    ]
    assert mappings == report("--to", "gemini", "--server", "air", "search.json")["mappings"]


def functions(tools: Any) -> list[Any]:
    """Return the functions of *tools*."""
    return [tool["function"] for tool in tools]


def declared(tools: Any) -> Any:
    """Return the functions that the only tool declares."""
    (tool,) = tools
    return tool["functionDeclarations"]


def specified(tools: Any) -> list[Any]:
    """Return the specifications of the tools of a ``toolConfig``."""
    return [tool["toolSpec"] for tool in tools["tools"]]


@pytest.mark.parametrize(
    ("expected", "api", "list_tools"),
    [
        ("search_flights", "openai-chat", functions),
        ("search_flights", "openai-responses", list),
        ("search_flights", "anthropic", list),
        ("search.flights", "gemini", declared),
        ("search.flights", "gemini-json", declared),
        ("search_flights", "bedrock", specified),
        ("search_flights", "mistral", functions),
        ("search_flights", "ollama", functions),
        ("search_flights", "mcp", list),
    ],
)
def test_the_tools_have_the_format_of_a_request(expected: str, api: str, list_tools: Any) -> None:
    """Every API and several files are tested."""
    result = run("--to", api, "search.json", "ping.json")

    assert 0 == result.exit_code
    assert [expected, "ping"] == [tool["name"] for tool in list_tools(json.loads(result.stdout))]


def test_the_mode_determines_which_tools_are_strict() -> None:
    """The report has the reason why a tool is not strict."""
    lax = {**SEARCH, "name": "lax", "inputSchema": {"type": "object", "properties": {"a": {}}}}
    Path("lax.json").write_text(json.dumps(lax))
    preferred = run("--to", "openai-chat", "--mode", "strict-if-lossless", "ping.json", "lax.json")
    reasons = [row for row in preferred.stderr.splitlines() if row.startswith("lax: not strict: ")]

    assert [True, False] == [tool["function"]["strict"] for tool in json.loads(preferred.stdout)]
    assert 1 == len(reasons)
    assert "2 tools for OpenAI's Chat Completions, 1 strict" in preferred.stderr
    not_strict = report(
        "--to", "openai-chat", "--mode", "strict-if-lossless", "ping.json", "lax.json"
    )["not_strict"]
    assert [("lax", reasons[0].removeprefix("lax: not strict: "))] == [
        (entry["tool"], entry["reason"]) for entry in not_strict
    ]
    rejected = run("--to", "ollama", "--mode", "strict", "ping.json")
    assert (1, "[]\n") == (rejected.exit_code, rejected.stdout)
    assert (
        "ping.json: ping: not converted: NOT_CONVERTIBLE: Ollama's chat has no strict mode; "
        "use the mode compatible or strict-if-lossless\n"
    ) in rejected.stderr


def test_assume_closed_makes_more_strict() -> None:
    """Objects that do not mention undeclared properties become closed."""
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
    arguments = ("--to", "openai-chat", "--mode", "strict-if-lossless", "open.json")

    assert [[False], [True]] == [
        [tool["function"]["strict"] for tool in json.loads(run(*arguments, *options).stdout)]
        for options in ((), ("--assume-closed",))
    ]
    assert (
        "open: not strict: undeclared properties are allowed by default, but cannot be given "
        "in strict mode (at /inputSchema); allowed with assume_closed\n"
    ) in run(*arguments).stderr


def test_defaults_are_dropped_on_demand() -> None:
    """They are kept otherwise."""
    Path("paged.json").write_text(
        json.dumps(
            {
                "name": "paged",
                "inputSchema": {
                    "type": "object",
                    "properties": {"page": {"type": "integer", "default": 1}},
                },
            }
        )
    )
    results = [
        run("--to", "openai-chat", *options, "paged.json") for options in ((), ("--drop-defaults",))
    ]

    assert [{"type": "integer", "default": 1}, {"type": "integer"}] == [
        tool["function"]["parameters"]["properties"]["page"]
        for result in results
        for tool in json.loads(result.stdout)
    ]
    assert [
        "1 tool for OpenAI's Chat Completions, no losses\n",
        (
            "TOOL   LOCATION                      KEYWORD  ACTION   EFFECT      MESSAGE\n"
            "paged  /inputSchema/properties/page  default  dropped  equivalent  "
            "the option drop_defaults is set\n"
            "1 tool for OpenAI's Chat Completions, 1 loss (1 equivalent)\n"
        ),
    ] == [result.stderr for result in results]


def test_tools_beyond_the_limit_of_strict_tools_are_not_strict() -> None:
    """The first tools are strict; the others have a reason."""
    arguments = ("--to", "anthropic", "--mode", "strict-if-lossless", "many.json")
    result = run(*arguments)
    strict = [tool["strict"] for tool in json.loads(result.stdout)]

    assert [True] * 20 + [False] * 109 == strict
    assert (0, 109) == (result.exit_code, result.stderr.count(": not strict: "))
    assert "129 tools for Anthropic's Messages, 20 strict, no losses\n" in result.stderr


def test_a_request_beyond_a_limit_has_a_violation() -> None:
    """Although every tool was converted."""
    result = run("--to", "openai-chat", "many.json")
    (violation,) = report("--to", "openai-chat", "many.json")["request"]["violations"]

    assert ("REQUEST_TOOLS", "error", "/128") == (
        violation["code"],
        violation["severity"],
        violation["instance_location"],
    )
    assert (
        f"the request: error: REQUEST_TOOLS: {violation['message']} (at /128)\n"
        "129 tools for OpenAI's Chat Completions, no losses\n"
    ) == result.stderr
    assert (1, 129) == (result.exit_code, len(json.loads(result.stdout)))


def test_names_can_have_the_server_as_a_prefix() -> None:
    """The option is --server-prefix always."""
    arguments = ("--to", "anthropic", "--server", "air", "--server-prefix", "always", "ping.json")

    assert ["air__ping"] == [tool["name"] for tool in json.loads(run(*arguments).stdout)]


def test_descriptions_are_shortened_and_output_schemas_included_on_request() -> None:
    """Output schemas are included if the API accepts them."""
    Path("output.json").write_text(json.dumps({**PING, "outputSchema": {"type": "object"}}))
    arguments = ("--description-length", "4", "--include-output-schema", "output.json")
    (tool,) = json.loads(run("--to", "openai-responses", *arguments).stdout)

    assert ("Ans…", {"type": "object"}) == (tool["description"], tool["output_schema"])


def test_losses_and_errors_are_coloured_on_a_terminal(on_terminal: Any) -> None:
    """The tools are plain JSON."""
    code, output = on_terminal("convert", "--to", "openai-chat", "tools.json", columns=200)

    assert 1 == code
    assert output.startswith(json.dumps([CONVERTED, CONVERTED_PING], indent=2))
    assert "\x1b[1mtools.json: gone\x1b[0m: \x1b[1;31mnot converted\x1b[0m" in output
