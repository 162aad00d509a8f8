"""Plans are written, read again as they were, and refused if anything about them is wrong."""

import json
from typing import Any

import pytest
from sidecheck_server.core.convert.plan import Plan, plan_from_json, plan_to_json
from sidecheck_server.core.convert.words import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from support.mapping_texts import DIGEST, text

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
    with pytest.raises(RequestError) as refused:
        plan_to_json(plan)

    assert ErrorReason.NOT_CONVERTIBLE is refused.value.reason


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
        pytest.param(text(more=1), "/more", "PLAN_UNKNOWN_PROPERTY", '"more"', id="unknown member"),
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
    with pytest.raises(RequestError) as refused:
        plan_from_json(plan, Limits())

    assert ErrorReason.INVALID_MAPPING is refused.value.reason
    assert {"pointer": pointer, "code": code} == refused.value.metadata
    assert said in refused.value.message


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
    with pytest.raises(RequestError) as refused:
        plan_from_json(plan, Limits())

    assert (ErrorReason.LIMIT_EXCEEDED, bound) == (
        refused.value.reason,
        refused.value.metadata["bound"],
    )


def test_a_plan_at_the_bounds_is_read() -> None:
    """As deep and with as many guides as may be."""
    widest: Any = {"also": [{}] * 9_999}
    for guide in (deep(126), widest):
        assert guide == plan_from_json(text(guide), Limits()).guide
