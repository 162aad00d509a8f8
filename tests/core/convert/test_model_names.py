"""Verdicts with the property names of the converted schema."""

from dataclasses import replace

import pytest
from sidecheck_server.core.convert.argument_decoder import ArgumentDecoder
from sidecheck_server.core.convert.model_call import with_model_names
from sidecheck_server.core.types import Severity, Verdict, Violation

RENAMED: ArgumentDecoder = {"renamed": {"a_b": "a b"}}


def verdict(pointer: str, message: str, severity: Severity = Severity.ERROR) -> Verdict:
    return Verdict((Violation(pointer, "/s", "type", "TYPE", message, severity),), truncated=True)


@pytest.mark.parametrize(
    "decoder",
    [
        RENAMED,
        {"properties": {"renamed": RENAMED}},
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
def test_names_are_replaced_from_any_part_of_a_decoder(decoder: ArgumentDecoder) -> None:
    """They are replaced in the location and in quoted names only."""
    original = verdict("/0/a b/x", '"a b" is wrong; is it "a c"?')
    assert verdict("/0/a_b/x", '"a_b" is wrong; is it "a c"?') == with_model_names(
        original, decoder
    )


def test_names_with_slashes_and_quotes() -> None:
    """They are escaped in pointers and in messages."""
    decoder: ArgumentDecoder = {"renamed": {"a_b": "a/b", "c_d": 'c"d'}}
    original = verdict("/a~1b", r'"c\"d" is missing')
    assert verdict("/a_b", '"c_d" is missing') == with_model_names(original, decoder)


def test_an_actual_value_is_not_replaced() -> None:
    original = verdict("/a b", 'expected an integer, found the string "a b"')
    reported = verdict("/a_b", 'expected an integer, found the string "a b"')
    assert reported == with_model_names(original, RENAMED)


def test_an_expected_value_is_not_replaced() -> None:
    [result] = verdict("/a b", 'expected "a b" or "c", found the string "d"').violations
    [reported] = verdict("/a_b", 'expected "a b" or "c", found the string "d"').violations
    original = Verdict((replace(result, keyword="enum"),))
    assert Verdict((replace(reported, keyword="enum"),)) == with_model_names(original, RENAMED)


@pytest.mark.parametrize("decoder", [None, {"nulls": ["a b"]}, {"properties": {"renamed": {}}}])
def test_a_verdict_without_renamed_properties_is_unchanged(decoder: ArgumentDecoder | None) -> None:
    """A property may have the name of a property of decoders."""
    original = verdict("/a b", '"a b" is wrong')
    assert original is with_model_names(original, decoder)
