"""Plans are written, read again as they were, and refused if anything about them is wrong."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.plan import Plan, plan_from_json, plan_to_json
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.refusals import Reason, Refusal

DIGEST = "sha256:" + "0123456789abcdef" * 4
PLAN = {
    "sidecheck_plan": 1,
    "api": "openai-chat",
    "name": "s__t",
    "server": "s",
    "tool": "t",
    "definition_digest": DIGEST,
    "strict": True,
}
GUIDE: dict[str, Any] = {
    "nulls": ["a", "b"],
    "renamed": {"a_b": "a b"},
    "members": {
        "a": {"items": {"json_text": True}, "prefix": [None, {"ref": "d0"}]},
        "b": {"entries": {"name": "name", "value": "value", "each": {"ref": "d0"}}},
        "c": {"values": {"wrapped": "input", "inner": {"also": [{}]}}},
    },
    "any_of": [
        {
            "when": {
                "types": ["object", "null"],
                "required": ["a"],
                "only": [],
                "constants": {"kind": ["a", 1, None, True]},
            },
            "as": {"ref": "d0"},
        },
        {"when": {}},
    ],
    "ref": "d1",
    "defs": {"d0": {"members": {"again": {"ref": "d0"}}}, "d1": {"ref": "d0"}},
}


def text(guide: Any = None, **members: Any) -> bytes:
    plan = {**PLAN, **members}
    if guide is not None:
        plan["guide"] = guide
    return json.dumps({name: value for name, value in plan.items() if value is not ...}).encode()


@pytest.mark.parametrize("server", ["s", ""])
@pytest.mark.parametrize("guide", [None, GUIDE, {}], ids=["no guide", "a guide", "an empty guide"])
@pytest.mark.parametrize("api", list(ModelApi))
def test_a_plan_is_read_as_it_was_written(
    api: ModelApi, guide: dict[str, Any] | None, server: str
) -> None:
    plan = Plan(api, "n", server, "t", DIGEST, strict=False, guide=guide)

    assert plan == plan_from_json(plan_to_json(plan), Limits())


def test_a_plan_is_a_json_object_that_tells_its_format() -> None:
    """What is not there is not written."""
    plan = Plan(ModelApi.GEMINI, "n", "", "t", DIGEST, strict=False, guide=None)

    assert {
        "sidecheck_plan": 1,
        "api": "gemini",
        "name": "n",
        "tool": "t",
        "definition_digest": DIGEST,
        "strict": False,
    } == json.loads(plan_to_json(plan))


def test_a_plan_that_could_not_be_read_is_not_written() -> None:
    """The name of a tool may be nearly as long as its definition."""
    plan = Plan(ModelApi.GEMINI, "n", "", "t" * (256 << 10), DIGEST, strict=False, guide=None)
    with pytest.raises(Refusal) as refused:
        plan_to_json(plan)

    assert Reason.NOT_CONVERTIBLE is refused.value.reason


LIST = {"any_of": [{"when": {}, "as": {"ref": "d0"}}]}


@pytest.mark.parametrize(
    ("plan", "pointer", "code", "said"),
    [
        pytest.param(b"", "", "PAYLOAD_NOT_JSON", "it is empty", id="nothing"),
        pytest.param(b"{", "", "PAYLOAD_NOT_JSON", "ends before", id="half of a plan"),
        pytest.param(b'{"api":1,"api":2}', "", "DUPLICATE_KEY", "more than once", id="a key twice"),
        pytest.param(b"[]", "", "PLAN_WRONG_TYPE", "found an empty array", id="an array"),
        pytest.param(b"null", "", "PLAN_WRONG_TYPE", "found null", id="null"),
        pytest.param(
            b"{}", "", "PLAN_MEMBER_MISSING", 'needs the member "sidecheck_plan"', id="no version"
        ),
        pytest.param(
            b'{"tools": []}',
            "",
            "PLAN_MEMBER_MISSING",
            "give what a conversion made as it is",
            id="another document",
        ),
        *[
            pytest.param(
                text(**{name: ...}), "", "PLAN_MEMBER_MISSING", f'"{name}"', id=f"no {name}"
            )
            for name in ("api", "name", "tool", "definition_digest", "strict")
        ],
        pytest.param(
            text(sidecheck_plan=2, later=1),
            "/sidecheck_plan",
            "PLAN_VERSION",
            "expected 1, found version 2",
            id="a later version",
        ),
        pytest.param(
            text(sidecheck_plan=True), "/sidecheck_plan", "PLAN_VERSION", "a boolean", id="true"
        ),
        pytest.param(
            text(sidecheck_plan=1.0), "/sidecheck_plan", "PLAN_VERSION", "a number", id="1.0"
        ),
        pytest.param(text(more=1), "/more", "PLAN_UNKNOWN_MEMBER", '"more"', id="unknown member"),
        pytest.param(text(api="other"), "/api", "PLAN_WRONG_VALUE", "openai-chat,", id="no api"),
        pytest.param(text(api=1), "/api", "PLAN_WRONG_TYPE", "an integer", id="api is a number"),
        pytest.param(text(name=""), "/name", "PLAN_WRONG_VALUE", "is empty", id="an empty name"),
        pytest.param(text(tool=["t"]), "/tool", "PLAN_WRONG_TYPE", "1 item", id="tool is an array"),
        pytest.param(text(server=""), "/server", "PLAN_WRONG_VALUE", "empty", id="empty server"),
        pytest.param(text(server=None), "/server", "PLAN_WRONG_TYPE", "null", id="server is null"),
        pytest.param(
            text(definition_digest="sha256:0"),
            "/definition_digest",
            "PLAN_WRONG_VALUE",
            "64 hexadecimal digits",
            id="half of a digest",
        ),
        pytest.param(text(strict=1), "/strict", "PLAN_WRONG_TYPE", "true or false", id="strict 1"),
        pytest.param(text(guide=[]), "/guide", "PLAN_WRONG_TYPE", "an object", id="guide is array"),
    ],
)
def test_a_plan_that_is_wrong_is_refused(plan: bytes, pointer: str, code: str, said: str) -> None:
    """The refusal says where, what, and what would be right."""
    with pytest.raises(Refusal) as refused:
        plan_from_json(plan, Limits())

    assert Reason.INVALID_PLAN is refused.value.reason
    assert {"pointer": pointer, "code": code} == refused.value.metadata
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("guide", "pointer", "code"),
    [
        pytest.param({"null": []}, "/null", "PLAN_UNKNOWN_MEMBER", id="unknown member"),
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
            "PLAN_UNKNOWN_MEMBER",
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
            {"items": {"defs": {}}}, "/items/defs", "PLAN_UNKNOWN_MEMBER", id="defs below the top"
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
    with pytest.raises(Refusal) as refused:
        plan_from_json(text(guide), Limits())

    assert Reason.INVALID_PLAN is refused.value.reason
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


def deep(levels: int) -> Any:
    guide: Any = {}
    for _ in range(levels):
        guide = {"items": guide}
    return guide


@pytest.mark.parametrize(
    ("plan", "bound"),
    [
        pytest.param(text(deep(127)), "schema_depth", id="too deep"),
        pytest.param(
            text({}).replace(b"{}", b'{"items":' * 20_000 + b"{}" + b"}" * 20_000),
            "schema_depth",
            id="far too deep",
        ),
        pytest.param(text({"also": [{}] * 10_000}), "subschemas", id="too many guides"),
        pytest.param(text(name="n" * (256 << 10)), "schema_bytes", id="too large"),
    ],
)
def test_a_plan_beyond_a_bound_is_refused(plan: bytes, bound: str) -> None:
    """The bounds are those of schemas; guides may nest twice as deep."""
    with pytest.raises(Refusal) as refused:
        plan_from_json(plan, Limits())

    assert (Reason.LIMIT_EXCEEDED, bound) == (
        refused.value.reason,
        refused.value.metadata["bound"],
    )


def test_a_plan_at_the_bounds_is_read() -> None:
    """As deep and with as many guides as may be."""
    widest: Any = {"also": [{}] * 9_999}
    for guide in (deep(126), widest):
        assert guide == plan_from_json(text(guide), Limits()).guide


def test_references_in_a_long_row_end() -> None:
    """Each of thousands leads to the next one, and the last one to the first."""
    row = {f"d{n}": {"ref": f"d{n + 1}"} for n in range(5000)}

    assert plan_from_json(text({"defs": {**row, "d5000": {}}}), Limits()).guide
    with pytest.raises(Refusal) as refused:
        plan_from_json(text({"defs": {**row, "d5000": {"ref": "d0"}}}), Limits())
    assert "PLAN_REFERENCE_ENDLESS" == refused.value.metadata["code"]
