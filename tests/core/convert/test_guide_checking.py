"""Guides are checked down to their last part."""

from typing import Any

import pytest
from sidecheck_server.core.convert.plan import plan_from_json
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from support.mapping_texts import text

LIST = {"any_of": [{"when": {}, "as": {"ref": "d0"}}]}


@pytest.mark.parametrize(
    ("guide", "pointer", "code"),
    [
        pytest.param({"null": []}, "/null", "PLAN_UNKNOWN_PROPERTY", id="unknown member"),
        pytest.param({"nulls": "a"}, "/nulls", "PLAN_WRONG_TYPE", id="nulls is a string"),
        pytest.param({"nulls": [1]}, "/nulls/0", "PLAN_WRONG_TYPE", id="a null without a name"),
        pytest.param({"renamed": []}, "/renamed", "PLAN_WRONG_TYPE", id="renamed is an array"),
        pytest.param({"renamed": {"a": 1}}, "/renamed/a", "PLAN_WRONG_TYPE", id="renamed to 1"),
        pytest.param({"members": []}, "/members", "PLAN_WRONG_TYPE", id="members is an array"),
        pytest.param({"members": {"a": None}}, "/members/a", "PLAN_WRONG_TYPE", id="member null"),
        pytest.param({"values": True}, "/values", "PLAN_WRONG_TYPE", id="values is true"),
        pytest.param({"items": []}, "/items", "PLAN_WRONG_TYPE", id="items is an array"),
        pytest.param({"prefix": {}}, "/prefix", "PLAN_WRONG_TYPE", id="prefix is an object"),
        pytest.param({"prefix": [None, 1]}, "/prefix/1", "PLAN_WRONG_TYPE", id="prefix of 1"),
        pytest.param({"entries": True}, "/entries", "PLAN_WRONG_TYPE", id="entries is true"),
        pytest.param({"entries": {}}, "/entries", "PLAN_MEMBER_MISSING", id="entries of nothing"),
        pytest.param(
            {"entries": {"name": "a", "value": "a"}},
            "/entries",
            "PLAN_WRONG_VALUE",
            id="entries of one member",
        ),
        pytest.param(
            {"entries": {"name": "a", "value": "b", "each": 1}},
            "/entries/each",
            "PLAN_WRONG_TYPE",
            id="entries of 1",
        ),
        pytest.param({"json_text": False}, "/json_text", "PLAN_WRONG_VALUE", id="no JSON text"),
        pytest.param({"json_text": 1}, "/json_text", "PLAN_WRONG_VALUE", id="JSON text 1"),
        pytest.param({"wrapped": 1}, "/wrapped", "PLAN_WRONG_TYPE", id="wrapped in 1"),
        pytest.param({"inner": {}}, "", "PLAN_MEMBER_MISSING", id="inner of nothing"),
        pytest.param({"any_of": {}}, "/any_of", "PLAN_WRONG_TYPE", id="any_of is an object"),
        pytest.param({"any_of": [1]}, "/any_of/0", "PLAN_WRONG_TYPE", id="a branch is 1"),
        pytest.param({"any_of": [{}]}, "/any_of/0", "PLAN_MEMBER_MISSING", id="without a test"),
        pytest.param(
            {"any_of": [{"when": {}, "as": []}]}, "/any_of/0/as", "PLAN_WRONG_TYPE", id="as array"
        ),
        pytest.param(
            {"any_of": [{"when": []}]}, "/any_of/0/when", "PLAN_WRONG_TYPE", id="a test is an array"
        ),
        pytest.param(
            {"any_of": [{"when": {"type": []}}]},
            "/any_of/0/when/type",
            "PLAN_UNKNOWN_PROPERTY",
            id="a test of something unknown",
        ),
        pytest.param(
            {"any_of": [{"when": {"types": ["float"]}}]},
            "/any_of/0/when/types/0",
            "PLAN_WRONG_VALUE",
            id="a test of an unknown type",
        ),
        pytest.param(
            {"any_of": [{"when": {"types": [[]]}}]},
            "/any_of/0/when/types/0",
            "PLAN_WRONG_TYPE",
            id="a test of a type that is no name",
        ),
        pytest.param(
            {"any_of": [{"when": {"constants": {"k": [{}]}}}]},
            "/any_of/0/when/constants/k/0",
            "PLAN_WRONG_TYPE",
            id="a constant is an object",
        ),
        pytest.param(
            {"any_of": [{"when": {"constants": {"k": [1] * 21}}}]},
            "/any_of/0/when/constants/k",
            "PLAN_WRONG_VALUE",
            id="too many constants",
        ),
        pytest.param({"also": {}}, "/also", "PLAN_WRONG_TYPE", id="also is an object"),
        pytest.param({"ref": 1}, "/ref", "PLAN_WRONG_TYPE", id="a reference to 1"),
        pytest.param({"ref": "d"}, "/ref", "PLAN_REFERENCE_UNRESOLVED", id="to nothing"),
        pytest.param(
            {"defs": {"d": {}}, "items": {"ref": "e"}},
            "/items/ref",
            "PLAN_REFERENCE_UNRESOLVED",
            id="to nothing from below",
        ),
        pytest.param({"defs": []}, "/defs", "PLAN_WRONG_TYPE", id="defs is an array"),
        pytest.param({"defs": {"d": 1}}, "/defs/d", "PLAN_WRONG_TYPE", id="a definition is 1"),
        pytest.param(
            {"items": {"defs": {}}}, "/items/defs", "PLAN_UNKNOWN_PROPERTY", id="defs below the top"
        ),
        pytest.param(
            {"defs": {"d": {"ref": "d"}}}, "/defs/d", "PLAN_REFERENCE_ENDLESS", id="to itself"
        ),
        pytest.param(
            {"defs": {"d": {"also": [LIST]}, "d0": {"any_of": [{"when": {}, "as": {"ref": "d"}}]}}},
            "/defs/d",
            "PLAN_REFERENCE_ENDLESS",
            id="to itself by way of unions",
        ),
    ],
)
def test_a_guide_that_is_wrong_is_refused(guide: Any, pointer: str, code: str) -> None:
    """It is checked down to its last part."""
    with pytest.raises(RequestError) as refused:
        plan_from_json(text(guide), Limits())

    assert ErrorReason.INVALID_MAPPING is refused.value.reason
    assert {"pointer": f"/guide{pointer}", "code": code} == refused.value.metadata


@pytest.mark.parametrize("member", ["items", "values", "inner", "members", "prefix", "entries"])
def test_a_reference_that_goes_on_to_another_value_may_lead_back(member: str) -> None:
    """Schemas are recursive; payloads end."""
    again = {"ref": "d"}
    others: dict[str, Any] = {
        "inner": {"wrapped": "w", "inner": again},
        "members": {"members": {"a": again}},
        "prefix": {"prefix": [again]},
        "entries": {"entries": {"name": "n", "value": "v", "each": again}},
    }
    guide = {"ref": "d", "defs": {"d": others.get(member, {member: again})}}

    assert guide == plan_from_json(text(guide), Limits()).guide


def test_references_in_a_long_row_end() -> None:
    """Each of thousands leads to the next one, and the last one to the first."""
    row = {f"d{n}": {"ref": f"d{n + 1}"} for n in range(5000)}

    assert plan_from_json(text({"defs": {**row, "d5000": {}}}), Limits()).guide
    with pytest.raises(RequestError) as refused:
        plan_from_json(text({"defs": {**row, "d5000": {"ref": "d0"}}}), Limits())
    assert "PLAN_REFERENCE_ENDLESS" == refused.value.metadata["code"]
