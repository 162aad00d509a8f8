"""Structured content that must be an object, and results that owe it."""

import pytest
from sidecheck_server.core.judge import NOT_EXPLAINED, VALID, Judging
from sidecheck_server.core.mcp.results import absent_output, must_be_object, objects_only
from sidecheck_server.core.mcp.versions import VERSIONS
from sidecheck_server.core.words import Repair, Verdict, Violation

VERSION = "2025-11-25"


def violation(pointer: str, code: str = "TYPE") -> Violation:
    return Violation(pointer, "", "", code, "wrong")


def test_versions_differ_in_what_structured_content_may_be() -> None:
    """Nothing is said before 2025-06-18, which has none."""
    assert [False, False, True, True, False] == [objects_only(one) for one in VERSIONS]
    assert [True, True, False, False, False] == [absent_output(one).valid for one in VERSIONS]


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        (b"[1]", "an array"),
        (b' "{}"', "a string"),
        (b"true", "a boolean"),
        (b"false", "a boolean"),
        (b"\n\tnull", "null"),
        (b"-1.5", "a number"),
    ],
)
def test_what_is_no_object_is_a_fault_of_its_type(payload: bytes, found: str) -> None:
    """Though the schema admits it."""
    verdict = must_be_object(VALID, payload, Judging(), VERSION)
    clause = "https://modelcontextprotocol.io/specification/2025-11-25/schema#calltoolresult"
    said = f"expected an object, found {found}"

    assert Verdict((Violation("", "", "type", "TYPE", said, clause=clause),)) == verdict


@pytest.mark.parametrize("payload", [b"{}", b' \r\n\t{"a": 1}'])
def test_an_object_is_what_the_schema_says_it_is(payload: bytes) -> None:
    """The very verdict, of which valid ones are cached."""
    assert VALID is must_be_object(VALID, payload, Judging(), VERSION)


@pytest.mark.parametrize("code", ["TYPE", "PAYLOAD_NOT_JSON", "NUMBER_OUT_OF_RANGE", NOT_EXPLAINED])
def test_a_fault_is_told_once(code: str) -> None:
    """The schema may refuse the type too, and a text that is not JSON has none."""
    verdict = Verdict((violation("", code),))

    assert verdict is must_be_object(verdict, b"[", Judging(), VERSION)


def test_other_faults_are_told_beside_as_many_as_are_wanted() -> None:
    """This one first, since it is the whole that is wrong."""
    verdict = Verdict((violation("/0"), violation("/1")))
    told = [
        (
            [one.instance_pointer for one in got.violations],
            got.truncated,
        )
        for most in (3, 2, 1)
        for got in [must_be_object(verdict, b"[1]", Judging(max_violations=most), VERSION)]
    ]

    assert [(["", "/0", "/1"], False), (["", "/0"], True), ([""], True)] == told


def test_a_repair_stays() -> None:
    """It may well be the object that was wanted."""
    repair = Repair(b"{}", VALID, ())

    assert repair is must_be_object(Verdict(repair=repair), b'"{}"', Judging(), VERSION).repair
