"""`sidecheck lint-messages`: an outcome for each line of a transcript, and how it exits."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from sidecheck_server.core.mcp.context import VERSIONS

INFO = {"name": "desk", "version": "1"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": INFO},
}
INITIALIZED = {
    "jsonrpc": "2.0",
    "id": 0,
    "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": INFO},
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SESSION = [
    {"direction": "client", "message": INITIALIZE},
    {"direction": "server", "message": INITIALIZED},
    {"direction": "client", "message": READY},
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str, stdin: bytes | None = None) -> Result:
    """Run the command here; an exception of its own is the test's."""
    words = ("lint-messages", *words)
    return CliRunner().invoke(sidecheck, words, input=stdin, catch_exceptions=False)


def written(*lines: Any) -> bytes:
    """Return a transcript of *lines*; bytes are inserted unchanged."""
    texts = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
    return b"\n".join([*texts, b""])


def linted(*lines: Any, words: tuple[str, ...] = ()) -> list[tuple[int, list[tuple[str, str]]]]:
    """Return the line of each outcome, with the codes and pointers of its violations."""
    result = run("-", "--format", "json", *words, stdin=written(*lines))
    outcomes = json.loads(result.stdout)
    expected = [
        not any(violation["severity"] == "error" for violation in outcome["violations"])
        for outcome in outcomes
    ]
    assert expected == [outcome["ok"] for outcome in outcomes]
    assert (0 if all(expected) else 1) == result.exit_code
    return [
        (
            outcome["line"],
            [
                (violation["code"], violation["instance_location"])
                for violation in outcome["violations"]
            ],
        )
        for outcome in outcomes
    ]


def test_a_sound_session_is_sound(folder: Path) -> None:
    """It exits with 0."""
    (folder / "session.jsonl").write_bytes(written(*SESSION))
    result = run("session.jsonl")

    assert (0, "3 messages, no violations\n") == (result.exit_code, result.stdout)


def test_text_has_a_row_with_the_position_of_each_problem(folder: Path) -> None:
    """Rows are aligned, with the columns of the line."""
    bad = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 3}}
    (folder / "s.jsonl").write_bytes(written(*SESSION, b"", {"message": bad}, b'{"jsonrpc": '))
    result = run("s.jsonl")

    assert 1 == result.exit_code
    assert (
        "s.jsonl:5:84: error  TYPE              /message/params/name  expected a string, found 3\n"
        "s.jsonl:6:13: error  PAYLOAD_NOT_JSON  (root)                "
        "not JSON: it ends before the value is complete at column 13\n"
        "5 messages, 2 errors\n"
    ) == result.stdout


def test_json_has_an_outcome_for_each_line() -> None:
    """A violation has all of its fields."""
    result = run(
        "-", "--format", "json", stdin=written(b"", {"jsonrpc": "2.0", "id": 1, "method": 7})
    )

    (outcome,) = json.loads(result.stdout)
    assert ("-", 2, False) == (outcome["file"], outcome["line"], outcome["ok"])
    (violation,) = outcome["violations"]
    assert {
        "code": "METHOD_TYPE",
        "severity": "error",
        "keyword": "",
        "instance_location": "/method",
        "keyword_location": "",
        "message": violation["message"],
        "suggestion": "",
        "line": 2,
        "column": 39,
        "spec_url": "https://modelcontextprotocol.io/specification/2025-11-25/basic#requests",
    } == violation


def test_each_file_is_a_separate_session(folder: Path) -> None:
    """Request ids may repeat in another file; the worst file decides the exit code."""
    for name in ("monday", "tuesday"):
        (folder / f"{name}.jsonl").write_bytes(written(*SESSION))
    (folder / "broken.jsonl").write_bytes(written({"jsonrpc": "2.0", "id": 1, "method": 7}))
    sound = run("monday.jsonl", "tuesday.jsonl")
    broken = run("monday.jsonl", "broken.jsonl", "tuesday.jsonl", "--format", "json")
    places = [
        (outcome["file"], outcome["line"], outcome["ok"]) for outcome in json.loads(broken.stdout)
    ]

    assert (0, "6 messages, no violations\n") == (sound.exit_code, sound.stdout)
    assert 1 == broken.exit_code
    assert [
        *(("monday.jsonl", line, True) for line in (1, 2, 3)),
        ("broken.jsonl", 1, False),
        *(("tuesday.jsonl", line, True) for line in (1, 2, 3)),
    ] == places
    assert 2 == run("monday.jsonl", "absent.jsonl").exit_code


def test_calls_are_validated_against_the_listed_tools() -> None:
    """A session with the service does the same."""
    schema = {"type": "object", "properties": {"to": {"type": "integer"}}, "required": ["to"]}
    tools = [{"name": "count", "description": "Counts.", "inputSchema": schema}]
    call = {"name": "count", "arguments": {"to": "ten"}}
    got = linted(
        *SESSION,
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"direction": "server", "message": {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    )

    assert [(6, [("TYPE", "/params/arguments/to")])] == got[5:]


def test_a_partial_session_has_fewer_rules() -> None:
    """Its first line need not be its first message."""
    response = {"direction": "server", "message": {"jsonrpc": "2.0", "id": 7, "result": {}}}

    assert [(1, [("RESPONSE_WITHOUT_REQUEST", "/message/id")])] == linted(response)
    assert [(1, [])] == linted(response, words=("--partial",))


def test_a_message_that_http_rejected_may_be_sent_again() -> None:
    """The line has the status of the response; other properties of the recorder are ignored."""
    ping = {"direction": "client", "message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}}
    rejected, accepted = ({**ping, "http": {"status": status}} for status in (401, 202))

    assert [[], [], ["REQUEST_ID_REUSED"]] == [
        [code for code, _ in violations]
        for _, violations in linted(
            *SESSION, rejected, {**ping, "http": {"method": "POST"}}, accepted
        )[3:]
    ]


@pytest.mark.parametrize("status", ["401", 7, 600, True, 401.5])
def test_a_status_that_http_does_not_have_is_reported(status: Any) -> None:
    """Other properties of the transport are ignored."""
    ping = {"message": {"jsonrpc": "2.0", "id": 1, "method": "ping"}, "http": {"status": status}}
    fault = [("TRANSCRIPT_LINE", "/http/status")]

    assert [(1, fault)] == linted(ping, words=("--partial",))
    assert [(1, [])] == linted({**ping, "http": "POST"}, words=("--partial",))


LOG = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}


def test_a_violation_of_every_message_is_reported_once() -> None:
    """Text and JSON have the number of messages."""
    words = ("-", "--protocol-version", "2026-07-28", "--partial")
    text = run(*words, stdin=written(LOG, LOG, LOG)).stdout
    outcomes = json.loads(run(*words, "--format", "json", stdin=written(LOG, LOG, LOG)).stdout)

    assert "since 2026-07-28 (SEP-2577) (in 3 messages, first here)\n3 messages, 1 warning" in text
    assert [[("LOGGING_DEPRECATED", 3)], [], []] == [
        [(violation["code"], violation["messages"]) for violation in outcome["violations"]]
        for outcome in outcomes
    ]


def test_a_response_to_an_oversized_request_is_valid() -> None:
    """An unread request has no violations of its response."""
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x" * 1_048_576}}
    answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
    got = linted(*SESSION, call, {"direction": "server", "message": answer})

    assert [(4, [("LIMIT_EXCEEDED", "")]), (5, [])] == got[3:]


def test_lines_are_one_session() -> None:
    """Rules of sessions apply, with the negotiated version."""
    call = {"jsonrpc": "2.0", "id": 0, "method": "tools/list"}
    got = linted(*SESSION, {"direction": "client-to-server", "message": call})

    assert [(1, []), (2, []), (3, []), (4, [("REQUEST_ID_REUSED", "/message/id")])] == got


def test_a_line_may_name_the_method_of_its_request() -> None:
    """Then the result is checked; otherwise only the envelope of a response is."""
    answer = {"jsonrpc": "2.0", "id": 7, "result": {"tools": 1}}
    codes = [
        code
        for _, violations in linted({"request_method": "tools/list", "message": answer})
        for code in violations
    ]

    assert ("TYPE", "/message/result/tools") in codes
    assert [(1, [])] == linted(answer)


def test_the_sender_of_a_response_is_the_peer_of_the_requester() -> None:
    """This holds where only the method determines the sender."""
    request = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}
    answer = {"jsonrpc": "2.0", "id": 7, "result": {"tools": []}}

    assert [(4, []), (5, [])] == linted(
        *SESSION, {"message": request}, {"request_method": "tools/list", "message": answer}
    )[3:]


def test_a_version_may_be_pinned() -> None:
    """Then the messages do not change the version."""
    batch = [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]
    got = {
        version: [code for code, _ in linted(batch, words=("--protocol-version", version))[0][1]]
        for version in VERSIONS
    }

    assert "2025-03-26" in [version for version, codes in got.items() if not codes]
    assert got["2025-06-18"]


WRAPPED = {"message": READY}
FAULTY = [
    pytest.param({**WRAPPED, "direction": "sideways"}, "/direction", id="another direction"),
    pytest.param({**WRAPPED, "direction": 1}, "/direction", id="a direction that is no text"),
    pytest.param({**WRAPPED, "direction": []}, "/direction", id="a list of directions"),
    pytest.param({**WRAPPED, "request_method": {}}, "/request_method", id="an answer to no text"),
]


@pytest.mark.parametrize(("line", "pointer"), FAULTY)
def test_unknown_properties_beside_a_message_are_reported(line: Any, pointer: str) -> None:
    """The violation is that of the line."""
    assert [(1, [("TRANSCRIPT_LINE", pointer)])] == [
        (number, [violation for violation in violations if violation[0] == "TRANSCRIPT_LINE"])
        for number, violations in linted(line)
    ]


def test_known_properties_beside_a_message_are_ignored() -> None:
    """Transcripts have times and names."""
    assert [(1, [])] == linted({**SESSION[0], "time": 1.5, "request_method": None})


HOSTILE = [
    pytest.param(b"[" * 10_000, ["LIMIT_EXCEEDED"], id="deep"),
    pytest.param(b'{"message": ' * 10_000 + b"1" + b"}" * 10_000, ["LIMIT_EXCEEDED"], id="deeper"),
    pytest.param(b'"' + b"x" * 10_000_000 + b'"', ["LIMIT_EXCEEDED"], id="ten megabytes"),
    pytest.param(b'{"message": {"a": 1, "a": 2}}', ["DUPLICATE_KEY"], id="a key twice"),
    pytest.param(b"\xff\xfe\x00", ["PAYLOAD_NOT_JSON"], id="no text"),
    pytest.param(b"\xef\xbb\xbf{}", ["PAYLOAD_NOT_JSON"], id="a byte order mark"),
    pytest.param(b'{"message": "\\ud800"}', ["PAYLOAD_NOT_JSON"], id="half a character"),
    pytest.param(b"1e4400", ["LIMIT_EXCEEDED"], id="a number of too many digits"),
]


@pytest.mark.parametrize(("line", "codes"), HOSTILE)
def test_an_unreadable_line_does_not_affect_others(line: bytes, codes: list[str]) -> None:
    """Each unreadable line has its own violation."""
    got = linted(SESSION[0], line, SESSION[1])

    assert [[], codes, []] == [[code for code, _ in violations] for _, violations in got]


@pytest.mark.parametrize("text", [b"", b"\n", b" \r\n\t\n"])
def test_a_file_without_messages_is_in_order(text: bytes) -> None:
    """There is nothing to say of it."""
    result = run("-", stdin=text)

    assert (0, "0 messages, no violations\n") == (result.exit_code, result.stdout)


def test_lines_may_end_as_on_windows() -> None:
    """The last may have no end at all."""
    text = written(*SESSION).replace(b"\n", b"\r\n").removesuffix(b"\r\n")
    result = run("-", stdin=text)

    assert (0, "3 messages, no violations\n") == (result.exit_code, result.stdout)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["gone.jsonl"], "cannot read gone.jsonl: No such file", id="no file"),
        pytest.param(["."], "cannot read .: Is a directory", id="a folder"),
        pytest.param([], "Missing argument 'FILE...'", id="nothing"),
        pytest.param(["-", "--protocol-version", "1"], "'1' is not one of", id="no version"),
        pytest.param(["-", "--format", "xml"], "'xml' is not one of", id="no format"),
    ],
)
def test_a_wrong_command_exits_with_2(words: list[str], message: str) -> None:
    """The message names the fault."""
    result = run(*words)

    assert 2 == result.exit_code
    assert message in result.stderr


def test_excerpts_show_the_position(folder: Path) -> None:
    """The excerpt has the line number in the file."""
    (folder / "s.jsonl").write_bytes(written(b"", {"jsonrpc": "2.0", "id": 1, "method": 7}))
    result = run("s.jsonl", "--excerpts")

    assert ' 2 | {"jsonrpc": "2.0", "id": 1, "method": 7}' in result.stdout


def test_findings_of_a_line_are_in_the_order_of_their_positions(
    on_terminal: Callable[..., tuple[int, str]],
) -> None:
    """A terminal with excerpts has the same order."""
    Path("s.jsonl").write_bytes(written({"message": {"id": None, "method": 7}, "direction": 1}))
    code, output = on_terminal("lint-messages", "s.jsonl", columns=100)

    plain = re.sub(r"\x1b\[[0-9;]*m", "", output)

    assert 1 == code
    assert "\n1 message, " in plain
    places = [plain.find(f"at {pointer}") for pointer in ("/message/method", "/direction")]
    assert -1 < places[0] < places[1]


def listing(number: int, *names: str) -> tuple[Any, Any]:
    """Return a request for the tools and its response; the tools have no schema."""
    request = {"jsonrpc": "2.0", "id": number, "method": "tools/list"}
    tools = [{"name": name, "description": "Does it."} for name in names]
    response = {"jsonrpc": "2.0", "id": number, "result": {"tools": tools}}
    return request, {"direction": "server", "message": response}


def test_repeated_violations_are_reported_once(folder: Path) -> None:
    """It has its count and its first location; another tool has its own violation."""
    lists = [*listing(1, "a"), *listing(2, "b", "a"), *listing(3, "a", "b")]
    (folder / "s.jsonl").write_bytes(written(*SESSION, *lists))
    result = run("s.jsonl")

    rows = re.findall(
        r"^(s\.jsonl:\d+):\d+: (\w+) +(\w+) +(\S+) +(.*)$", result.stdout, re.MULTILINE
    )
    missing = [row for row in rows if row[2] == "REQUIRED"]
    where = "/message/result/tools/0"
    assert [("s.jsonl:5", where), ("s.jsonl:7", where)] == [(row[0], row[3]) for row in missing]
    assert missing[0][4].endswith(" (in 3 messages, first here)")
    assert missing[1][4].endswith(" (in 2 messages, first here)")
    assert result.stdout.splitlines()[-1].endswith(f", {len(rows)} without repetitions")


def test_json_leaves_out_no_repetition() -> None:
    """Each message has its own findings, without counts."""
    got = linted(*SESSION, *listing(1, "a"), *listing(2, "a"))
    missing = ("REQUIRED", "/message/result/tools/0")

    assert [True, True] == [missing in violations for _, violations in (got[4], got[6])]


def test_findings_in_one_message_are_never_grouped(folder: Path) -> None:
    """Two tools of the same name are two findings."""
    (folder / "s.jsonl").write_bytes(written(*SESSION, *listing(1, "a", "a")))
    result = run("s.jsonl")

    assert 2 == len(re.findall("REQUIRED", result.stdout))
    assert "without repetitions" not in result.stdout


@pytest.mark.parametrize(
    ("severity", "severities"),
    [
        pytest.param("info", {"error", "warning", "info"}, id="info"),
        pytest.param("warning", {"error", "warning"}, id="warning"),
        pytest.param("error", {"error"}, id="error"),
    ],
)
def test_less_severe_findings_are_left_out(severity: str, severities: set[str]) -> None:
    """The exit code is the same."""
    tools = [{"name": "a", "description": "", "inputSchema": {"type": "object"}}, {"name": "b"}]
    early = {"jsonrpc": "2.0", "id": 5, "method": "tools/list"}
    response = {"jsonrpc": "2.0", "id": 5, "result": {"tools": tools}}
    result = run(
        "-",
        "--format",
        "json",
        "--min-severity",
        severity,
        stdin=written(SESSION[0], early, {"direction": "server", "message": response}),
    )
    reported = {
        violation["severity"]
        for outcome in json.loads(result.stdout)
        for violation in outcome["violations"]
    }

    assert (1, severities) == (result.exit_code, reported)
