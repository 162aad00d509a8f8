"""Tests of the hostile cases' form, of the builder of texts and of the tripwire."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hostile.building import build
from hostile.cases import CASES, families
from sidecheck_server.core.errors import ErrorReason

TRIPWIRE = Path(__file__).parent / "tripwire"


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        pytest.param("é".encode(), "é", id="a string"),
        pytest.param(b"abc", ["a", ["b", "c"]], id="an array"),
        pytest.param(b'{"a": [1]}', {"json": {"a": [1]}}, id="json"),
        pytest.param(b"aaa", {"repeat": "a", "times": 3}, id="repeat"),
        pytest.param(b"0,1,2", {"repeat": "<i>", "times": 3, "between": ","}, id="turns"),
        pytest.param(b"0:1:0 1:2:7 ", {"repeat": "<i>:<i+1>:<i*7> ", "times": 2}, id="sums"),
        pytest.param(b"0101", {"repeat": "<i%2>", "times": 4}, id="remainders"),
        pytest.param(
            b"0-0 1-0 0-1 1-1 ",
            {"repeat": {"repeat": "<i>-<k> ", "times": 2}, "times": 2, "as": "k"},
            id="turns of turns",
        ),
        pytest.param(b"5%5%", {"repeat": "5%", "times": 2}, id="a percent sign"),
        pytest.param(b"0%", {"repeat": "<i>%", "times": 1}, id="a percent sign beside a turn"),
        pytest.param(b"((x))", {"nest": ["(", "x", ")"], "times": 2}, id="nest"),
        pytest.param(b"\xff\x00", {"hex": "ff 00"}, id="hex"),
        pytest.param(b"\x0a\x02hi", {"field": 1, "of": "hi"}, id="field"),
        pytest.param(b"\x12\x80\x01" + b"x" * 128, {"field": 2, "of": "x" * 128}, id="long field"),
        pytest.param(b"at there", "at <http>", id="bait"),
    ],
)
def test_a_text_is_built_from_its_description(expected: bytes, text: Any) -> None:
    """Descriptions nest."""
    assert expected == build(text, {"http": "there"})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(5, id="a number"),
        pytest.param({"open": "/etc/passwd"}, id="an unknown property"),
        pytest.param({"repeat": "a"}, id="without times"),
        pytest.param({"repeat": "a", "times": 2, "else": 1}, id="an additional property"),
        pytest.param({"json": 1, "times": 2}, id="properties of two forms"),
    ],
)
def test_an_unknown_description_is_an_error(text: Any) -> None:
    """The set of forms is closed."""
    with pytest.raises(ValueError, match="no text is written as"):
        build(text)


def test_names_are_unique_and_each_case_has_a_reason() -> None:
    """The reason is a sentence."""
    assert len(CASES) == len({case.id for case in CASES})
    assert [] == [case.id for case in CASES if not case.why.endswith(".")]
    assert set(families()) == {case.family for case in CASES}


def test_each_case_expects_one_summary() -> None:
    """The summary has one of the known forms, and a known reason."""
    forms = [
        {"reason"},
        {"reason", "bound"},
        {"status"},
        {"verdict"},
        {"verdict", "codes"},
        {"verdict", "codes", "truncated"},
        {"tools"},
        {"tools", "codes"},
        {"outcomes"},
        {"outcomes", "codes"},
        {"answered"},
    ]
    reasons = {reason.value for reason in ErrorReason}

    assert [] == [case.id for case in CASES if set(case.expect) not in forms]
    assert {case.expect["reason"] for case in CASES if "reason" in case.expect} <= reasons


FORBIDDEN_CODE = {
    "open": "open('/etc/hostname')",
    "socket.connect": "import socket; socket.socket().connect_ex(('127.0.0.1', 9))",
    "socket.getaddrinfo": "import socket; socket.getaddrinfo('127.0.0.1', 9)",
    "subprocess.Popen": "import subprocess; subprocess.run(['true'])",
    "os.system": "import os; os.system('true')",
    "PWN": "PWN()",
    "compile": "compile('PWN()', 'x', 'eval')",
    "exec": "exec(compile('1', 'elsewhere', 'eval'))",
    "import": "import http.client",
}


@pytest.mark.parametrize("event", FORBIDDEN_CODE)
def test_a_tripwire_records_the_event(event: str, tmp_path: Path) -> None:
    """The process of the code starts with the tripwire on its path."""
    log = tmp_path / "log"
    environment = {**os.environ, "PYTHONPATH": str(TRIPWIRE), "SIDECHECK_TRIPWIRE": str(log)}
    subprocess.run([sys.executable, "-c", FORBIDDEN_CODE[event]], env=environment, check=True)
    events = [json.loads(line)[1] for line in log.read_text().splitlines()]

    assert "watched" == events[0]
    assert event in events


def test_a_tripwire_records_foreign_names_in_generated_code(tmp_path: Path) -> None:
    """Generated code may have numbered names only."""
    log = tmp_path / "log"
    program = "exec(compile('def d0(data):\\n return data.__class__', '<schema>', 'exec'))"
    environment = {**os.environ, "PYTHONPATH": str(TRIPWIRE), "SIDECHECK_TRIPWIRE": str(log)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)

    assert ["exec", "the name '__class__'"] in [
        json.loads(line)[1:] for line in log.read_text().splitlines()
    ]
