"""Restoring of calls: which plan, which tool, and what the arguments mean."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sidecheck_server.core.convert.mapping import ToolMapping, mapping_to_json
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.digests import digest_of
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.repair.types import Coercion, Repairs
from sidecheck_server.core.schemas.source import SchemaSource
from sidecheck_server.core.types import ChangeRule
from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Definition
from sidecheck_server.registry.sqlite import open_registry
from sidecheck_server.services.model_calls import CallToRestore, RestoredCall, Restorer
from sidecheck_server.services.targets import InlineTool, RegisteredTool
from support.converting import inline, validator_of

LIMITS = Limits()
SCHEMA: Any = {
    "type": "object",
    "properties": {
        "day": {"format": "date"},
        "places": {"type": "array"},
        "count": {"type": "integer"},
        "of": {"oneOf": [{"required": ["x"]}, {"required": ["y"]}]},
    },
    "required": ["day"],
}
TOOL: Any = {"name": "get.day", "inputSchema": SCHEMA}
INLINE = inline(TOOL)
DIGEST = digest_of(TOOL)
GIVEN: Any = {"day": "?", "places": "[1]"}


def plan(name: str = "get_day", **more: Any) -> bytes:
    given: dict[str, Any] = {
        "api": ModelApi.ANTHROPIC,
        "server": "s",
        "tool": "get.day",
        "definition_digest": DIGEST,
        "strict": False,
        "guide": None,
    }
    return mapping_to_json(ToolMapping(name=name, **{**given, **more}))


def call(arguments: Any, name: str = "get_day") -> bytes:
    block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments}
    return json.dumps(block).encode()


@pytest.fixture
async def registry() -> AsyncIterator[Registry]:
    opened = open_registry(None)
    yield opened
    opened.close()


@pytest.fixture
def registered(registry: Registry) -> Registry:
    """A registry where the server s has the tool."""
    definition = Definition(DIGEST, "get.day", INLINE.json, (), digest_of(SCHEMA), None)
    registry.register("s", [definition], keep=None)
    return registry


@pytest.fixture
def restorer(registry: Registry) -> Restorer:
    return Restorer(validator_of(registry, LIMITS), registry, LIMITS)


def asked(
    arguments: Any, *plans: bytes, how: EvaluationOptions | None = None, **more: Any
) -> CallToRestore:
    given = {"target": INLINE, **more}
    return CallToRestore(
        call(arguments), plans or (plan(),), how=how or EvaluationOptions(), **given
    )


def told(done: RestoredCall) -> list[tuple[str, str]]:
    return [(one.instance_location, one.code) for one in done.whole.verdict.violations]


def params(done: RestoredCall) -> Any:
    return json.loads(done.params)


async def test_a_call_is_named_as_its_tool_is(restorer: Restorer) -> None:
    """With its arguments as they were, if there is nothing to undo."""
    done = await restorer.restore(asked({"day": "2026-01-01"}))

    assert ("s", "get.day", "toolu_1", ()) == (done.server, done.tool, done.call_id, done.changes)
    assert {"name": "get.day", "arguments": {"day": "2026-01-01"}} == params(done)
    whole = done.whole
    assert whole.verdict.valid
    assert (DIGEST, digest_of(SCHEMA), True) == (
        whole.definition_digest,
        whole.schema_digest,
        whole.enforced,
    )


async def test_arguments_are_judged_under_the_original(restorer: Restorer) -> None:
    """By whatever is asked for."""
    done = await restorer.restore(asked({"day": "?"}, assert_formats=True))

    assert [("/day", "FORMAT")] == told(done)
    assert {"day": "?"} == params(done)["arguments"]
    assert "get_day" == done.whole.tool


async def test_the_plan_that_a_call_means_is_found_among_others(restorer: Restorer) -> None:
    """By the name that the model knows."""
    others = [plan(f"other_{count}", tool="x") for count in range(3)]
    done = await restorer.restore(asked({"day": ""}, *others, plan()))

    assert "get.day" == done.tool


async def test_what_a_plan_encodes_is_turned_back(restorer: Restorer) -> None:
    """And told, at the places where the model put it."""
    guide = {"nulls": ["count"], "renamed": {"the_day": "day"}}
    done = await restorer.restore(asked({"the_day": "", "count": None}, plan(guide=guide)))

    assert {"day": ""} == params(done)["arguments"]
    assert [("/count", ChangeRule.SYNTHETIC_NULL_REMOVED)] == [
        (one.pointer, one.rule) for one in done.changes
    ]
    assert done.whole.verdict.valid


BOTH = {"any_of": [{"when": {}}, {"when": {}, "as": {"renamed": {"z": "y"}}}]}


@pytest.mark.parametrize(
    ("given", "restored", "valid"),
    [
        ({"z": 1}, {"y": 1}, True),
        ({"x": 1, "z": 2}, {"x": 1, "z": 2}, True),
        ({"y": 1, "x": 1}, {"y": 1, "x": 1}, False),
        ({"w": 1}, {"w": 1}, False),
    ],
)
async def test_of_several_readings_the_first_that_is_valid_counts(
    restorer: Restorer, given: Any, restored: Any, valid: bool
) -> None:
    """And if none is, the first."""
    one = plan(guide={"members": {"of": BOTH}})
    done = await restorer.restore(asked({"day": "", "of": given}, one))

    assert (restored, valid) == (params(done)["arguments"]["of"], done.whole.verdict.valid)


async def test_strings_that_hold_what_the_schema_demands_are_decoded(restorer: Restorer) -> None:
    """Whether or not repairs are asked for; other strings stay."""
    done = await restorer.restore(asked({"day": "{}", "places": '["here"]'}))

    assert {"day": "{}", "places": ["here"]} == params(done)["arguments"]
    assert (True, None) == (done.whole.verdict.valid, done.whole.verdict.repair)
    assert [("/places", ChangeRule.JSON_STRING_DECODED)] == [
        (one.pointer, one.rule) for one in done.changes
    ]


@pytest.mark.parametrize(
    ("how", "valid", "restored"),
    [
        (EvaluationOptions(), False, '"3"'),
        (EvaluationOptions(repairs=Repairs(coercion=Coercion.SAFE_SCALARS)), True, "3"),
        (EvaluationOptions(repairs=Repairs(apply_defaults=True)), False, '"3"'),
    ],
)
async def test_other_repairs_are_made_if_they_are_asked_for(
    restorer: Restorer, how: EvaluationOptions, valid: bool, restored: str
) -> None:
    """Together with the decoding of strings."""
    given = {"day": "", "count": "3", "places": "[]"}
    done = await restorer.restore(asked(given, how=how))

    assert (valid, restored) == (
        done.whole.verdict.valid,
        json.dumps(params(done)["arguments"]["count"]),
    )
    assert valid is ([] == params(done)["arguments"]["places"])


async def test_a_repair_that_does_not_help_is_not_made(restorer: Restorer) -> None:
    """The arguments are those that the model gave, and so is the verdict."""
    done = await restorer.restore(asked({"places": "[]"}))

    assert {"places": "[]"} == params(done)["arguments"]
    assert ([("", "REQUIRED"), ("/places", "TYPE")], ()) == (told(done), done.changes)
    assert done.whole.verdict.repair is None


@pytest.mark.parametrize("text", [b"{", call([]), call("{}"), b'{"name": 3, "input": {}}'])
async def test_a_call_that_cannot_be_read_is_an_invalid_verdict(
    restorer: Restorer, text: bytes
) -> None:
    """Of the one plan there is; there are no arguments that anybody could be sent."""
    done = await restorer.restore(CallToRestore(text, (plan(),), INLINE, EvaluationOptions()))

    assert ("s", "get.day", b"") == (done.server, done.tool, done.params)
    assert (False, DIGEST, "") == (
        done.whole.verdict.valid,
        done.whole.definition_digest,
        done.whole.schema_digest,
    )


async def test_a_call_that_names_no_tool_may_mean_any_of_several(restorer: Restorer) -> None:
    """So the answer names none."""
    several = (plan(), plan("other"))
    done = await restorer.restore(CallToRestore(b"[]", several, INLINE, EvaluationOptions()))

    assert ("", "", [("", "CALL_NOT_AN_OBJECT")]) == (done.server, done.tool, told(done))


async def test_what_is_wrong_with_arguments_is_told_the_model_as_if_they_stood_alone(
    restorer: Restorer,
) -> None:
    """It did not write what is around them."""
    done = await restorer.restore(asked([]))
    assert done.whole.part is not None

    assert (["/input"], [""]) == (
        [one.instance_location for one in done.whole.verdict.violations],
        [one.instance_location for one in done.whole.part.violations],
    )


async def test_the_registered_definition_is_found_by_the_plan(
    registered: Registry, restorer: Restorer
) -> None:
    """By its digest alone, if another has its name now."""
    named = await restorer.restore(asked({"day": ""}, target=None))
    by_digest = await restorer.restore(asked({"day": ""}, plan(server="t"), target=None))

    assert ("s", "t") == (named.server, by_digest.server)
    assert named.whole == by_digest.whole


async def test_a_server_that_only_reports_does_so_here_too(registered: Registry) -> None:
    """Its tools are judged, and not enforced."""
    validator = validator_of(registered, LIMITS, frozenset({"s"}))
    done = await Restorer(validator, registered, LIMITS).restore(asked({}, target=None))

    assert (False, False) == (done.whole.verdict.valid, done.whole.enforced)


REFUSED: Any = [
    pytest.param(
        CallToRestore(call({}), (), INLINE, EvaluationOptions()), "INVALID_REQUEST", id="no plan"
    ),
    pytest.param(asked({}, b"{"), "INVALID_MAPPING", id="no JSON"),
    pytest.param(asked({}, plan(), b"{}"), "INVALID_MAPPING", id="one of several is none"),
    pytest.param(asked({}, plan("other")), "MAPPING_MISMATCH", id="another tool's plan"),
    pytest.param(asked({}, plan(), plan()), "INVALID_MAPPING", id="two plans of one name"),
    pytest.param(
        asked({}, plan(), plan("other", api=ModelApi.OLLAMA)), "INVALID_REQUEST", id="two APIs"
    ),
    pytest.param(
        asked({}, target=inline({**TOOL, "title": "?"})),
        "MAPPING_MISMATCH",
        id="another definition",
    ),
    pytest.param(asked({}, target=SchemaSource(b"{}")), "INVALID_REQUEST", id="a schema"),
    pytest.param(asked({}, target=RegisteredTool("s", "?")), "UNKNOWN_TOOL", id="unknown tool"),
    pytest.param(asked({}, target=InlineTool(b"{}")), "INVALID_TOOL", id="no definition"),
    pytest.param(asked({}, target=None), "UNKNOWN_DEFINITION", id="unknown definition"),
    pytest.param(asked("x" * (1 << 20)), "LIMIT_EXCEEDED", id="too large"),
]


@pytest.mark.parametrize(("call_", "expected"), REFUSED)
async def test_calls_whose_meaning_nobody_can_tell_are_refused(
    restorer: Restorer, call_: CallToRestore, expected: str
) -> None:
    """Each for its reason."""
    with pytest.raises(RequestError) as caught:
        await restorer.restore(call_)

    assert expected == caught.value.reason.value


async def test_a_definition_that_is_not_known_can_be_sent_along(restorer: Restorer) -> None:
    """Which the refusal says."""
    with pytest.raises(
        RequestError, match="send the tool along with the call, or register it"
    ) as caught:
        await restorer.restore(asked({}, target=None))

    assert (ErrorReason.UNKNOWN_DEFINITION, {"digest": DIGEST}) == (
        caught.value.reason,
        caught.value.metadata,
    )


async def test_arguments_may_not_take_longer_to_turn_back_than_to_judge(
    registry: Registry,
) -> None:
    """Whatever a guide asks for."""
    limits = Limits(steps=1000)
    restorer = Restorer(validator_of(registry, limits), registry, limits)
    guide = {"members": {"places": {"items": {"json_text": True}}}}
    with pytest.raises(RequestError) as caught:
        await restorer.restore(asked({"places": ["1"] * 1000}, plan(guide=guide)))

    assert "steps" == caught.value.metadata["bound"]
