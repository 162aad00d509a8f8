"""What a model is told has the names of members that it knows."""

from dataclasses import replace

import pytest
from sidecheck_server.core.convert.calls import with_known_names
from sidecheck_server.core.convert.guides import Guide
from sidecheck_server.core.types import Severity, Verdict, Violation

RENAMED: Guide = {"renamed": {"a_b": "a b"}}


def verdict(pointer: str, message: str, severity: Severity = Severity.ERROR) -> Verdict:
    return Verdict((Violation(pointer, "/s", "type", "TYPE", message, severity),), truncated=True)


@pytest.mark.parametrize(
    "guide",
    [
        RENAMED,
        {"members": {"renamed": RENAMED}},
        {"values": RENAMED},
        {"items": RENAMED},
        {"prefix": [None, RENAMED]},
        {"entries": {"name": "name", "value": "value", "each": RENAMED}},
        {"wrapped": "input", "inner": RENAMED},
        {"any_of": [{"when": {}}, {"when": {}, "as": RENAMED}]},
        {"also": [RENAMED]},
        {"ref": "d0", "defs": {"d0": RENAMED}},
    ],
)
def test_names_are_found_wherever_a_guide_has_them(guide: Guide) -> None:
    """Only what was said of the place and of the name is put in other words."""
    given = verdict("/0/a b/x", '"a b" is wrong; is it "a c"?')
    assert verdict("/0/a_b/x", '"a_b" is wrong; is it "a c"?') == with_known_names(given, guide)


def test_names_with_slashes_and_quotes() -> None:
    """They are escaped in pointers, and in messages."""
    guide: Guide = {"renamed": {"a_b": "a/b", "c_d": 'c"d'}}
    given = verdict("/a~1b", r'"c\"d" is missing')
    assert verdict("/a_b", '"c_d" is missing') == with_known_names(given, guide)


def test_a_value_that_was_found_is_no_name() -> None:
    given = verdict("/a b", 'expected an integer, found the string "a b"')
    told = verdict("/a_b", 'expected an integer, found the string "a b"')
    assert told == with_known_names(given, RENAMED)


def test_a_value_that_is_wanted_is_no_name() -> None:
    [found] = verdict("/a b", 'expected "a b" or "c", found the string "d"').violations
    [told] = verdict("/a_b", 'expected "a b" or "c", found the string "d"').violations
    given = Verdict((replace(found, keyword="enum"),))
    assert Verdict((replace(told, keyword="enum"),)) == with_known_names(given, RENAMED)


@pytest.mark.parametrize("guide", [None, {"nulls": ["a b"]}, {"members": {"renamed": {}}}])
def test_nothing_changes_without_other_names(guide: Guide | None) -> None:
    """A member may be called as the words of guides are."""
    given = verdict("/a b", '"a b" is wrong')
    assert given is with_known_names(given, guide)
