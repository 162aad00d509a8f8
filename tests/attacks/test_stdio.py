"""Attacks by a client over stdio: an invalid call in disguise reaches no server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks.requests import BAD_CALL, GOOD_CALL
from sidecheck_server.config.policies import Pinning
from sidecheck_server.proxy.rulings.pins import open_pins
from support.scripted_server import TOOL
from support.stdio_proxy import Proxy

_ONE_READING = "what readers may take for different messages does not pass"
_ENCODINGS = "a message is UTF-8 without a mark"
_LAST = GOOD_CALL.replace(b'"id": 5', b'"id": 99')

#: By name: the rule, the line, and the outcomes that the client gets.
ATTACKS: dict[str, tuple[str, bytes, list[str]]] = {
    "a name twice": (
        _ONE_READING,
        BAD_CALL.replace(b'"name"', b'"name": "none", "name"'),
        ["error"],
    ),
    "params twice": (
        _ONE_READING,
        BAD_CALL.replace(b'"params"', b'"params": {}, "params"'),
        ["error"],
    ),
    "another case": (_ONE_READING, BAD_CALL.replace(b'"arguments"', b'"Arguments"'), ["error"]),
    "NaN": (_ONE_READING, BAD_CALL.replace(b"5}", b"NaN}"), ["error"]),
    "a trailing comma": (_ONE_READING, BAD_CALL[:-1] + b",}", ["error"]),
    "a comment": (_ONE_READING, BAD_CALL[:-1] + b"/**/}", ["error"]),
    "two messages in one line": (_ONE_READING, BAD_CALL + BAD_CALL, ["error"]),
    "a carriage return between two": (_ONE_READING, BAD_CALL + b"\r" + BAD_CALL, ["error"]),
    "U+2028 between two": (_ONE_READING, BAD_CALL + b"\xe2\x80\xa8" + BAD_CALL, ["error"]),
    "a mark": (_ENCODINGS, b"\xef\xbb\xbf" + BAD_CALL, ["error"]),
    "UTF-16": (_ENCODINGS, BAD_CALL.decode().encode("utf-16"), ["error"]),
    "NUL": (_ENCODINGS, b"\0" + BAD_CALL, ["error"]),
    "50,000 open brackets": (_ONE_READING, b"[" * 50_000, ["error"]),
    "a batch of 1,001": (
        "a batch has 1,000 messages at most",
        b"[%b]" % b",".join([BAD_CALL] * 1_001),
        ["error"],
    ),
    "a tool that is not pinned": (
        "--pins locked",
        GOOD_CALL.replace(b"echo", b"other"),
        ["error"],
    ),
    "a response to no request": (
        "a response has a request",
        b'{"jsonrpc":"2.0","id":7,"result":{}}',
        [],
    ),
    "a valid call": ("what is valid passes", GOOD_CALL, ["result"]),
}


@pytest.fixture
def enforcing(tmp_path: Path) -> Iterator[Proxy]:
    """Yield a proxy that enforces everything, with the tool of the server pinned."""
    path = tmp_path / "pins.json"
    pins = open_pins(Pinning.FIRST_USE, path)
    pins.note_definition("echo", json.dumps(TOOL).encode())
    pins.complete(["echo"])
    proxy = Proxy("--enforce", "--pins", "locked", "--pins-file", str(path))
    proxy.shake_hands()
    with proxy.process:
        yield proxy
        proxy.process.kill()


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_over_stdio(enforcing: Proxy, name: str) -> None:
    """The client gets an error or nothing, and a valid call behind it is answered."""
    rule, line, expected = ATTACKS[name]
    enforcing.write(line + b"\n" + _LAST + b"\n")
    outcomes = []
    while (answer := enforcing.receive()) and not _is_last(answer):
        failed = "error" in answer or answer["result"].get("isError", False)
        outcomes.append("error" if failed else "result")

    assert expected == outcomes, rule
    assert "content" in answer["result"]
    assert not answer["result"].get("isError", False)


def _is_last(answer: object) -> bool:
    return isinstance(answer, dict) and answer.get("id") == 99
