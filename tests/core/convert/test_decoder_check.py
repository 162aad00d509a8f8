"""Check of decoders down to their last property."""

from typing import Any

import pytest
from sidecheck_server.core.convert.mapping import mapping_from_json
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from support.mapping_texts import text

LIST = {"any_of": [{"when": {}, "as": {"ref": "d0"}}]}


@pytest.mark.parametrize(
    ("decoder", "pointer", "code"),
    [
        pytest.param({"null": []}, "/null", "MAPPING_UNKNOWN_PROPERTY", id="unknown property"),
        pytest.param({"nulls": "a"}, "/nulls", "MAPPING_WRONG_TYPE", id="nulls is a string"),
        pytest.param({"nulls": [1]}, "/nulls/0", "MAPPING_WRONG_TYPE", id="a null without a name"),
        pytest.param({"renamed": []}, "/renamed", "MAPPING_WRONG_TYPE", id="renamed is an array"),
        pytest.param({"renamed": {"a": 1}}, "/renamed/a", "MAPPING_WRONG_TYPE", id="renamed to 1"),
        pytest.param(
            {"properties": []}, "/properties", "MAPPING_WRONG_TYPE", id="properties is an array"
        ),
        pytest.param(
            {"properties": {"a": None}}, "/properties/a", "MAPPING_WRONG_TYPE", id="property null"
        ),
        pytest.param({"values": True}, "/values", "MAPPING_WRONG_TYPE", id="values is true"),
        pytest.param({"items": []}, "/items", "MAPPING_WRONG_TYPE", id="items is an array"),
        pytest.param({"prefix": {}}, "/prefix", "MAPPING_WRONG_TYPE", id="prefix is an object"),
        pytest.param({"prefix": [None, 1]}, "/prefix/1", "MAPPING_WRONG_TYPE", id="prefix of 1"),
        pytest.param({"entries": True}, "/entries", "MAPPING_WRONG_TYPE", id="entries is true"),
        pytest.param(
            {"entries": {}}, "/entries", "MAPPING_PROPERTY_MISSING", id="entries of nothing"
        ),
        pytest.param(
            {"entries": {"name": "a", "value": "a"}},
            "/entries",
            "MAPPING_WRONG_VALUE",
            id="entries of one property",
        ),
        pytest.param(
            {"entries": {"name": "a", "value": "b", "each": 1}},
            "/entries/each",
            "MAPPING_WRONG_TYPE",
            id="entries of 1",
        ),
        pytest.param({"json_text": False}, "/json_text", "MAPPING_WRONG_VALUE", id="not JSON text"),
        pytest.param({"json_text": 1}, "/json_text", "MAPPING_WRONG_VALUE", id="JSON text 1"),
        pytest.param({"wrapped": 1}, "/wrapped", "MAPPING_WRONG_TYPE", id="wrapped in 1"),
        pytest.param({"inner": {}}, "", "MAPPING_PROPERTY_MISSING", id="inner of nothing"),
        pytest.param({"any_of": {}}, "/any_of", "MAPPING_WRONG_TYPE", id="any_of is an object"),
        pytest.param({"any_of": [1]}, "/any_of/0", "MAPPING_WRONG_TYPE", id="a branch is 1"),
        pytest.param(
            {"any_of": [{}]}, "/any_of/0", "MAPPING_PROPERTY_MISSING", id="without a test"
        ),
        pytest.param(
            {"any_of": [{"when": {}, "as": []}]},
            "/any_of/0/as",
            "MAPPING_WRONG_TYPE",
            id="as array",
        ),
        pytest.param(
            {"any_of": [{"when": []}]},
            "/any_of/0/when",
            "MAPPING_WRONG_TYPE",
            id="a test is an array",
        ),
        pytest.param(
            {"any_of": [{"when": {"type": []}}]},
            "/any_of/0/when/type",
            "MAPPING_UNKNOWN_PROPERTY",
            id="a test of something unknown",
        ),
        pytest.param(
            {"any_of": [{"when": {"types": ["float"]}}]},
            "/any_of/0/when/types/0",
            "MAPPING_WRONG_VALUE",
            id="a test of an unknown type",
        ),
        pytest.param(
            {"any_of": [{"when": {"types": [[]]}}]},
            "/any_of/0/when/types/0",
            "MAPPING_WRONG_TYPE",
            id="a test of a type that is no name",
        ),
        pytest.param(
            {"any_of": [{"when": {"constants": {"k": [{}]}}}]},
            "/any_of/0/when/constants/k/0",
            "MAPPING_WRONG_TYPE",
            id="a constant is an object",
        ),
        pytest.param(
            {"any_of": [{"when": {"constants": {"k": [1] * 21}}}]},
            "/any_of/0/when/constants/k",
            "MAPPING_WRONG_VALUE",
            id="too many constants",
        ),
        pytest.param({"also": {}}, "/also", "MAPPING_WRONG_TYPE", id="also is an object"),
        pytest.param({"ref": 1}, "/ref", "MAPPING_WRONG_TYPE", id="a reference to 1"),
        pytest.param({"ref": "d"}, "/ref", "MAPPING_REFERENCE_UNRESOLVED", id="to nothing"),
        pytest.param(
            {"defs": {"d": {}}, "items": {"ref": "e"}},
            "/items/ref",
            "MAPPING_REFERENCE_UNRESOLVED",
            id="to nothing from below",
        ),
        pytest.param({"defs": []}, "/defs", "MAPPING_WRONG_TYPE", id="defs is an array"),
        pytest.param({"defs": {"d": 1}}, "/defs/d", "MAPPING_WRONG_TYPE", id="a definition is 1"),
        pytest.param(
            {"items": {"defs": {}}},
            "/items/defs",
            "MAPPING_UNKNOWN_PROPERTY",
            id="defs below the top",
        ),
        pytest.param(
            {"defs": {"d": {"ref": "d"}}}, "/defs/d", "MAPPING_REFERENCE_CYCLE", id="to itself"
        ),
        pytest.param(
            {"defs": {"d": {"also": [LIST]}, "d0": {"any_of": [{"when": {}, "as": {"ref": "d"}}]}}},
            "/defs/d",
            "MAPPING_REFERENCE_CYCLE",
            id="to itself by way of unions",
        ),
    ],
)
def test_an_invalid_decoder_is_rejected(decoder: Any, pointer: str, code: str) -> None:
    """The fault may be at any depth."""
    with pytest.raises(RequestError) as excinfo:
        mapping_from_json(text(decoder), Limits())

    assert ErrorReason.INVALID_MAPPING is excinfo.value.reason
    assert {"pointer": f"/decoder{pointer}", "code": code} == excinfo.value.metadata


@pytest.mark.parametrize(
    "property_name", ["items", "values", "inner", "properties", "prefix", "entries"]
)
def test_a_recursive_reference_through_another_value_is_allowed(property_name: str) -> None:
    """Schemas are recursive; payloads are finite."""
    reference = {"ref": "d"}
    others: dict[str, Any] = {
        "inner": {"wrapped": "w", "inner": reference},
        "properties": {"properties": {"a": reference}},
        "prefix": {"prefix": [reference]},
        "entries": {"entries": {"name": "n", "value": "v", "each": reference}},
    }
    decoder = {"ref": "d", "defs": {"d": others.get(property_name, {property_name: reference})}}

    assert decoder == mapping_from_json(text(decoder), Limits()).decoder


def test_long_chains_of_references_are_checked() -> None:
    """Thousands of decoders, each with a reference to the next, and the last to the first."""
    row = {f"d{n}": {"ref": f"d{n + 1}"} for n in range(5000)}

    assert mapping_from_json(text({"defs": {**row, "d5000": {}}}), Limits()).decoder
    with pytest.raises(RequestError) as excinfo:
        mapping_from_json(text({"defs": {**row, "d5000": {"ref": "d0"}}}), Limits())
    assert "MAPPING_REFERENCE_CYCLE" == excinfo.value.metadata["code"]
