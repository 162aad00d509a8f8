"""Attacks by a server over stdio: the client receives an error or valid messages."""

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sidecheck_server.core.mcp.sessions.repetitions import TOOL_CODES
from support.hostile_server import TOOL, Plan, write_plans
from support.shared_material import REPOSITORY
from support.stdio_proxy import HANDSHAKE, Proxy

_SERVER = REPOSITORY / "tests" / "support" / "hostile_server.py"
_ids = itertools.count(1_000)
_MARK = "evil"
"""What an invalid result has, and nothing that passes."""

_BAD = '{"content":[],"structuredContent":{"n":"evil"}}'
_GOOD = '{"content":[{"type":"text","text":"{\\"n\\":1}"}],"structuredContent":{"n":1}}'


def _response(result: str, id_: str = "ID") -> str:
    return f'{{"jsonrpc":"2.0","id":{id_},"result":{result}}}\n'


def _tools(*tools: Any) -> str:
    return _response(json.dumps({"tools": tools}))


_BAD_RESPONSE, _GOOD_RESPONSE = _response(_BAD), _response(_GOOD)

_LINES = "a message is one line of JSON in UTF-8: other lines are dropped"
_MARKS = "a byte order mark is dropped, and the message after it validated"
_IDS = "a response has the id of its request, and there is one"
_ONE_READING = "what readers may take for different messages does not pass"
_BATCHES = "a version without batches has none, and no batch has more than 1,000 messages"
_PAYLOAD = "the depth of a payload"
_LENGTH = "--max-message-bytes"
_ENDED = "what the server leaves open when it ends is answered"
_DEFINITIONS = "calls of tools that cannot be validated do not pass"
_PAGES = "a list has 1,000 pages at most"
_UNDECLARED = "requests of the server are checked like those of the client"
_NOTHING = "what is valid passes"

_DROPPED, _FOREIGN = "NOT_A_MESSAGE dropped", "RESPONSE_WITHOUT_REQUEST rejected"
_INVALID = ["TYPE rejected"]
_FORMS = {"NOT_A_MESSAGE", "BYTE_ORDER_MARK"}
"""Codes about the form of lines, reported once in a session."""

#: By name: the rule, the server's behavior at a call, the client's response, and the report.
#: The server goes on, and the next call is answered; a call without an answer has it at the end.
CALLS: dict[str, tuple[str, Plan, list[str], list[str]]] = {
    "1,000 lines that are not JSON": (
        _LINES,
        Plan("evil\n", 1_000, responds=True),
        ["result"],
        [_DROPPED],
    ),
    "bytes": (_LINES, Plan("\xff\xfe\0\n", 100, responds=True), ["result"], [_DROPPED]),
    "UTF-16": (
        _LINES,
        Plan(_BAD_RESPONSE.encode("utf-16").decode("latin-1") + "\n", responds=True),
        ["result"],
        [_DROPPED],
    ),
    "a mark": (
        _MARKS,
        Plan("\xef\xbb\xbf" + _BAD_RESPONSE, responds=True),
        ["failed tool"],
        [_FOREIGN, *_INVALID],
    ),
    "a carriage return between two": (
        _LINES,
        Plan(_GOOD_RESPONSE.rstrip() + "\r" + _BAD_RESPONSE, responds=True),
        ["result"],
        [_DROPPED],
    ),
    "U+2028 between two": (
        _LINES,
        Plan(_GOOD_RESPONSE.rstrip() + "\xe2\x80\xa8" + _BAD_RESPONSE, responds=True),
        ["result"],
        [_DROPPED],
    ),
    "300,000 quotes": (
        _LINES,
        Plan('{"' + '\\"' * 300_000 + "}\n", responds=True),
        ["result"],
        [_DROPPED],
    ),
    "50,000 open brackets": (
        _LINES,
        Plan("[" * 50_000 + "\n", responds=True),
        ["result"],
        [_DROPPED],
    ),
    "the id as a string": (
        _IDS,
        Plan(_response(_BAD, '"ID"'), responds=True),
        ["error"],
        [_FOREIGN],
    ),
    "the id as a fraction": (_IDS, Plan(_response(_BAD, "ID.0")), ["failed tool"], _INVALID),
    "1,000 responses to one call": (
        _IDS,
        Plan(_GOOD_RESPONSE + _BAD_RESPONSE * 999),
        ["result"],
        [_FOREIGN],
    ),
    "a result and an error": (
        _ONE_READING,
        Plan(_BAD_RESPONSE.replace('"result"', '"error":{"code":1,"message":"evil"},"result"')),
        ["error"],
        ["RESULT_WITH_ERROR rejected"],
    ),
    "a result and a method": (
        _ONE_READING,
        Plan(_BAD_RESPONSE.replace('"result"', '"method":"ping","result"')),
        ["failed tool"],
        _INVALID,
    ),
    "a result twice": (
        _ONE_READING,
        Plan(_BAD_RESPONSE.replace('"result"', '"result":{},"result"')),
        ["error"],
        ["DUPLICATE_KEY rejected"],
    ),
    "another case": (
        _ONE_READING,
        Plan(_GOOD_RESPONSE.replace('"result"', f'"Result":{_BAD},"result"')),
        ["error"],
        ["AMBIGUOUS_NAME rejected"],
    ),
    "a batch of 1,001": (
        _BATCHES,
        Plan("[" + ",".join([_BAD_RESPONSE.strip()] * 1_001) + "]\n", responds=True),
        ["result"],
        [_DROPPED],
    ),
    "a batch of 1,000": (
        _BATCHES,
        Plan("[" + ",".join([_BAD_RESPONSE.strip()] * 1_000) + "]\n"),
        ["error"],
        ["BATCH_UNSUPPORTED rejected"],
    ),
    "50,000 objects in each other": (
        _PAYLOAD,
        Plan(_response('{"a":' * 50_000 + "1" + "}" * 50_000)),
        ["error"],
        ["LIMIT_EXCEEDED rejected"],
    ),
    "an invalid result": (_NOTHING, Plan(_BAD_RESPONSE), ["failed tool"], _INVALID),
    "a valid result": (_NOTHING, Plan(_GOOD_RESPONSE), ["result"], []),
    "a request that was not negotiated": (
        _UNDECLARED,
        Plan('{"jsonrpc":"2.0","id":1,"method":"roots/list"}\n', responds=True),
        ["result"],
        ["CAPABILITY_UNDECLARED rejected"],
    ),
}

#: By name: the rule, the plans of the server, what the client gets for `initialize`,
#: `tools/list` and two calls, the exit code, and the report.
SESSIONS: dict[str, tuple[str, dict[str, Plan], list[str], int, list[str]]] = {
    "a line without an end": (
        _LENGTH,
        {"attack": Plan("x" * 3_000_000)},
        ["result", "result", "error", "error"],
        0,
        ["MESSAGE_TOO_LONG rejected"],
    ),
    "a flood without an end": (
        _LENGTH,
        {"attack": Plan("x" * 100_000, 1_000)},
        ["result", "result", "error", "error"],
        0,
        ["MESSAGE_TOO_LONG rejected"],
    ),
    "an end in the middle of a line": (
        _ENDED,
        {"attack": Plan(_BAD_RESPONSE[:60], then="exit")},
        ["result", "result", "error", "error"],
        3,
        [_DROPPED],
    ),
    "an end before the end of a line": (
        _ENDED,
        {"attack": Plan(_BAD_RESPONSE.rstrip(), then="exit")},
        ["result", "result", "failed tool", "error"],
        3,
        _INVALID,
    ),
    "a closed output": (
        _ENDED,
        {"attack": Plan(then="close its output")},
        ["result", "result", "error", "error"],
        0,
        [],
    ),
    "1,000 responses to no request": (
        _IDS,
        {"attack": Plan(_response(_BAD, "77"), 1_000)},
        ["result", "result", "error", "result"],
        0,
        [_FOREIGN],
    ),
    "no id": (
        _IDS,
        {"attack": Plan(f'{{"jsonrpc":"2.0","result":{_BAD}}}\n')},
        ["result", "result", "error", "result"],
        0,
        ["ID_MISSING rejected"],
    ),
    "null as the id": (
        _IDS,
        {"attack": Plan(_response(_BAD, "null"))},
        ["result", "result", "error", "result"],
        0,
        ["ID_NULL rejected"],
    ),
    "responses before the handshake": (
        _IDS,
        {"start": Plan(_response(_BAD, "5"), 10)},
        ["result", "result", "result", "result"],
        0,
        [_FOREIGN],
    ),
    "a list without an end": (
        _PAGES,
        {"tools/list": Plan(_response('{"tools":[],"nextCursor":"COUNT"}'))},
        ["result", "result", "result", "result"],
        0,
        ["UNKNOWN_TOOL passed"],
    ),
    "a cursor that leads back": (
        _PAGES,
        {"tools/list": Plan(_response(f'{{"tools":[{json.dumps(TOOL)}],"nextCursor":"a"}}'))},
        ["result", "result", "result", "result"],
        0,
        [],
    ),
    "a reference to a file": (
        _DEFINITIONS,
        {
            "tools/list": Plan(
                _tools({**TOOL, "inputSchema": {"type": "object", "$ref": "file:///etc/passwd"}})
            )
        },
        ["result", "result", "error", "error"],
        0,
        ["UNRESOLVABLE_REFERENCE passed", "UNRESOLVABLE_REFERENCE rejected"],
    ),
    "tools twice": (
        _ONE_READING,
        {"tools/list": Plan(_response('{"tools":[],"tools":[{"name":"evil"}]}'))},
        ["result", "error", "result", "result"],
        0,
        ["DUPLICATE_KEY rejected", "REQUIRED dropped", "UNKNOWN_TOOL passed"],
    ),
}


def _command(folder: Path, plans: dict[str, Plan]) -> list[str]:
    write_plans(folder / "plans.json", plans)
    return [sys.executable, str(_SERVER), str(folder / "plans.json")]


def _proxy(folder: Path, plans: dict[str, Plan]) -> Proxy:
    """Return a proxy that enforces everything, with a report in *folder*."""
    options = ("--enforce", "--max-message-bytes", "2000000")
    report = ("--report", str(folder / "report.jsonl"))
    return Proxy(*options, *report, server=_command(folder, plans))


def _receive(proxy: Proxy) -> Any:
    """Return the next message, which may be the only one of a batch."""
    message = proxy.receive()
    if isinstance(message, list):
        [message] = message
    return message


def _kind(message: Any) -> str:
    if "error" in message:
        return "error"
    is_failed = isinstance(message["result"], dict) and message["result"].get("isError")
    return "failed tool" if is_failed else "result"


def _findings(folder: Path, start: int | None = None) -> list[str]:
    """Return the codes and actions of the findings from *start* on, each once.

    A violation of a tool, and the form of lines, are reported once, at the first attack.
    """
    lines = (folder / "report.jsonl").read_text().splitlines()[start:]
    return sorted(
        {
            f"{finding['code']} {finding['action']}"
            for finding in map(json.loads, lines)
            if finding["code"] not in TOOL_CODES
            and not (start is not None and finding["code"] in _FORMS)
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def attacked(folder: Path) -> Iterator[Proxy]:
    """Yield a proxy before a server that carries out the plan that a call names."""
    proxy = _proxy(folder, {name: plan for name, (_, plan, _, _) in CALLS.items()})
    with proxy.process:
        proxy.shake_hands()
        proxy.call(2)
        proxy.receive()
        yield proxy
        proxy.process.kill()


@pytest.mark.parametrize("name", CALLS)
def test_an_attack_at_a_call(attacked: Proxy, folder: Path, name: str) -> None:
    """The call is answered once, and so is the next."""
    rule, _, expected, report = CALLS[name]
    before = len((folder / "report.jsonl").read_text().splitlines())
    id_, next_id = next(_ids), next(_ids)
    attacked.call(id_, do=name)
    attacked.call(next_id)
    answers = []
    while (answer := _receive(attacked))["id"] != next_id:
        answers.append(answer)

    assert expected == [_kind(answer) for answer in answers], rule
    assert _MARK not in json.dumps(answers).replace('\\"evil\\"', "")
    assert "result" == _kind(answer)
    assert [code for code in report if code != _DROPPED] == _findings(folder, before)


@pytest.mark.parametrize("name", SESSIONS)
def test_an_attack_on_a_session(tmp_path: Path, name: str) -> None:
    """Each request is answered once, and the proxy ends as the server does."""
    rule, plans, expected, code, report = SESSIONS[name]
    proxy = _proxy(tmp_path, plans)
    proxy.send(HANDSHAKE[0])
    answers = [proxy.receive()]
    proxy.send(HANDSHAKE[1])
    proxy.send({"id": 2, "method": "tools/list"})
    answers.append(proxy.receive())
    proxy.call(3, do="attack")
    answers.append(proxy.receive())
    proxy.call(4)
    exit_code, rest, err = proxy.end()
    answers += rest

    assert expected == [_kind(answer) for answer in answers], rule
    assert [1, 2, 3, 4] == [answer["id"] for answer in answers]
    assert _MARK not in json.dumps(answers).replace('\\"evil\\"', "")
    assert code == exit_code
    assert report == _findings(tmp_path)
    assert "Traceback" not in err
