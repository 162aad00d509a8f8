"""`sidecheck lint-messages` on logs of clients and on HAR files: `tests/cases/message_logs`."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sidecheck_server.cli import sidecheck
from support.shared_material import REPOSITORY

LOGS = REPOSITORY / "tests" / "cases" / "message_logs"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, which has the logs."""
    shutil.copytree(LOGS, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str, stdin: bytes | None = None) -> Result:
    """Run the command here; an exception of its own is the test's."""
    return CliRunner().invoke(
        sidecheck, ["lint-messages", *words], input=stdin, catch_exceptions=False
    )


#: Number of messages, what was skipped, and line, column, code and location of each violation.
EXPECTED: dict[str, tuple[int, str, list[tuple[int, int, str, str]]]] = {
    "claude-desktop.log": (
        12,
        "claude-desktop.log (claude-desktop): skipped 11 lines that are not messages\n",
        [(14, 131, "REQUIRED", "/params/arguments"), (17, 64, "MESSAGE_INCOMPLETE", "")],
    ),
    "claude-desktop-2025.log": (
        7,
        "claude-desktop-2025.log (claude-desktop): skipped 2 lines that are not messages\n",
        [(8, 72, "CAPABILITY_UNDECLARED", "/method"), (8, 108, "TYPE", "/params/cursor")],
    ),
    "vscode.log": (
        6,
        "vscode.log (vscode): skipped 7 lines that are not messages\n",
        [
            (10, 214, "ENUM", "/result/tools/0/inputSchema/properties/city/type"),
            (13, 52, "MESSAGE_INCOMPLETE", ""),
        ],
    ),
    "vscode-2025-03.log": (2, "", [(1, 109, "TYPE", "/params/name")]),
    "inspector-protocol.json": (
        9,
        "",
        [
            (124, 17, "LOGGING_UNDECLARED", "/method"),
            (126, 18, "ENUM", "/params/level"),
            (140, 22, "REQUIRED", "/params/arguments"),
        ],
    ),
    "inspector-network.json": (
        8,
        "inspector-network.json (inspector): skipped 1 HTTP request that is not a message\n",
        [(84, 20, "TYPE", "/params/arguments/city")],
    ),
    "browser.har": (
        10,
        "browser.har (har): skipped 1 HTTP request that is not a message\n",
        [(283, 21, "TYPE", "/params/arguments/city"), (317, 7, "MESSAGE_INCOMPLETE", "")],
    ),
}


def test_each_log_is_read() -> None:
    """The table names all of them."""
    assert {path.name for path in LOGS.iterdir()} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_log(name: str) -> None:
    """Its form is recognized; what is not a message is counted, what is cut off is named."""
    result = run(name, "--format", "json")
    outcomes = json.loads(result.stdout)
    found = sorted(
        (
            violation["line"],
            violation["column"],
            violation["code"],
            violation["instance_location"],
        )
        for outcome in outcomes
        for violation in outcome["violations"]
    )

    assert EXPECTED[name] == (len(outcomes), result.stderr, found)
    assert 1 == result.exit_code


@pytest.mark.parametrize("name", EXPECTED)
def test_a_position_is_that_of_the_value(name: str, folder: Path) -> None:
    """Editors jump to it."""
    lines = (folder / name).read_bytes().decode().splitlines()
    found = json.loads(run(name, "--format", "json").stdout)
    starts = {
        violation["code"]: lines[violation["line"] - 1][violation["column"] - 1 :]
        for outcome in found
        for violation in outcome["violations"]
    }
    expected = {
        "CAPABILITY_UNDECLARED": '"',
        "ENUM": ('"text"', '"loud"'),
        "LOGGING_UNDECLARED": '"',
        "MESSAGE_INCOMPLETE": "{",
        "REQUIRED": "{",
        "TYPE": ("7", '"{'),
    }

    assert all(text.startswith(expected[code]) for code, text in starts.items())


def test_text_names_the_incomplete_message() -> None:
    """It is not checked, and its session has no rules that need all of it."""
    result = run("claude-desktop.log")

    assert (
        "claude-desktop.log:17:64:  warning  MESSAGE_INCOMPLETE  (root)             the log omits "
        "a part of it ([14696 chars truncated]); this message is not checked\n"
        "12 messages, 1 error, 1 warning\n"
    ) in result.stdout


def test_code_scanners_read_the_findings() -> None:
    """SARIF has the same places as the text."""
    result = run("vscode.log", "browser.har", "--format", "sarif")
    [log] = json.loads(result.stdout)["runs"]
    places = [
        (
            place["artifactLocation"]["uri"],
            place["region"]["startLine"],
            found["ruleId"],
            found["level"],
        )
        for found in log["results"]
        for location in found["locations"]
        for place in [location["physicalLocation"]]
    ]

    assert [
        ("vscode.log", 10, "ENUM", "error"),
        ("vscode.log", 13, "MESSAGE_INCOMPLETE", "warning"),
        ("browser.har", 283, "TYPE", "error"),
        ("browser.har", 317, "MESSAGE_INCOMPLETE", "warning"),
    ] == places
    assert 1 == result.exit_code


def logged(*messages: tuple[str, Any]) -> bytes:
    """Return a log of Claude Desktop with *messages*; bytes are inserted unchanged."""
    lines = [
        f"2026-05-09T15:57:42.000Z [weather] [info] Message from {sender}: ".encode()
        + (message if isinstance(message, bytes) else json.dumps(message).encode())
        for sender, message in messages
    ]
    return b"\n".join(lines)


PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HOSTILE = [
    pytest.param(b"[" * 100_000, [["LIMIT_EXCEEDED"]], id="deep"),
    pytest.param(b'{"a": \xff}', [["PAYLOAD_NOT_JSON"]], id="not UTF-8"),
    pytest.param(b'{"id": ' + b"1" * 10_000 + b"}", [["LIMIT_EXCEEDED"]], id="many digits"),
    pytest.param(b'{"a": 1, "a": 2}', [["DUPLICATE_KEY"]], id="a name twice"),
    pytest.param(b"not JSON", [["PAYLOAD_NOT_JSON"]], id="not JSON"),
    pytest.param(b"", [["MESSAGE_INCOMPLETE"]], id="nothing"),
    pytest.param(b'{"jsonrpc": "2.0",', [["MESSAGE_INCOMPLETE"]], id="half"),
    pytest.param(
        b'{\n  "jsonrpc": "2.0",\n  "method": 7\n}', [["METHOD_TYPE"]], id="several lines"
    ),
]


@pytest.mark.parametrize(("message", "codes"), HOSTILE)
def test_a_message_that_cannot_be_read_does_not_affect_others(
    message: bytes, codes: list[list[str]]
) -> None:
    """It has a finding of its own."""
    log = logged(("client", PING), ("client", message), ("client", {**PING, "id": 2}))
    outcomes = json.loads(run("-", "--format", "json", "--min-severity", "info", stdin=log).stdout)

    assert [[], *codes, []] == [
        [violation["code"] for violation in outcome["violations"]] for outcome in outcomes
    ]


def test_a_rotated_log_begins_within_a_session() -> None:
    """Then rules that need the start do not apply; after initialize they do."""
    answer = {"jsonrpc": "2.0", "id": 7, "result": {}}
    start = (LOGS / "claude-desktop.log").read_bytes()
    rotated = logged(("server", answer)) + b"\n" + start
    outcomes = json.loads(run("-", "--format", "json", stdin=rotated).stdout)
    late = json.loads(run("-", "--format", "json", stdin=start + logged(("server", answer))).stdout)

    assert [] == outcomes[0]["violations"]
    assert ["RESPONSE_WITHOUT_REQUEST"] == [
        violation["code"] for violation in late[-1]["violations"]
    ]


WRONG = [
    pytest.param(
        "vscode.log", "har", "not JSON: Extra data: line 1 column 5 (char 4)", id="not JSON"
    ),
    pytest.param("inspector-protocol.json", "har", 'it has no "entries" in its "log"', id="no log"),
    pytest.param("browser.har", "inspector", "it is not an array of entries", id="no array"),
]


@pytest.mark.parametrize(("name", "form", "fault"), WRONG)
def test_a_log_that_does_not_have_the_form_is_rejected(name: str, form: str, fault: str) -> None:
    """The message names the form and the fault."""
    result = run(name, "--form", form)

    assert 2 == result.exit_code
    assert f"Error: cannot read {name} in the form {form}: {fault}\n" in result.stderr


def test_a_form_can_be_given(folder: Path) -> None:
    """A log read as a transcript has a finding in each line."""
    (folder / "empty.log").write_bytes(b"nothing here\n")
    as_vscode = run("empty.log", "--form", "vscode")
    as_transcript = run("empty.log")

    assert (0, "0 messages, no violations\n") == (as_vscode.exit_code, as_vscode.stdout)
    assert "empty.log (vscode): skipped 1 line that is not a message\n" == as_vscode.stderr
    assert "PAYLOAD_NOT_JSON" in as_transcript.stdout
