"""Forms with their names: the API's JSON, the plan, and what is told."""

import json
from dataclasses import replace
from typing import Any

from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.converted import converted
from sidecheck_server.core.convert.counting import Counts
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.names import Named
from sidecheck_server.core.convert.words import Action, Direction, Loss, ModelApi

API = APIS[ModelApi.ANTHROPIC]
COUNTS = Counts(0, 1, 0, 0, 0, 0, 0)
DROPPED = Loss("/inputSchema", "title", Action.DROPPED, Direction.SAME, "?")
LAST = DROPPED._replace(pointer="/title")
GUIDE: Any = {"nulls": ["a"]}
FORM = Form(
    tool="a.b",
    definition_digest="sha256:1",
    description="d",
    parameters=b'{"type":"object"}',
    output_schema=None,
    strict=True,
    guide=GUIDE,
    losses=(LAST, DROPPED),
    not_strict_reason="",
    counts=COUNTS,
)


def test_a_form_and_a_name_are_a_tool_and_its_plan() -> None:
    """The plan has both names, and the guide."""
    tool = converted(FORM, Named("s", "a.b"), "a_b", API)

    assert {
        "name": "a_b",
        "description": "d",
        "input_schema": {"type": "object"},
        "strict": True,
    } == json.loads(tool.json)
    assert {
        "sidecheck_plan": 1,
        "api": "anthropic",
        "name": "a_b",
        "server": "s",
        "tool": "a.b",
        "definition_digest": "sha256:1",
        "strict": True,
        "guide": GUIDE,
    } == json.loads(tool.plan)
    assert ("a_b", True, "") == (tool.name, tool.strict, tool.not_strict_reason)


def test_a_name_that_changed_is_a_loss_among_the_others() -> None:
    """In the order of their places; one that stayed is none."""
    said = "the model knows the tool as 'a_b'"
    named = Loss("/name", "", Action.ENCODED, Direction.SAME, said)

    assert (DROPPED, named, LAST) == converted(FORM, Named("", "a.b"), "a_b", API).losses
    assert (DROPPED, LAST) == converted(FORM, Named("", "a.b"), "a.b", API).losses


def test_why_a_tool_is_not_strict_beside_others_goes_before_why_it_is_not_alone() -> None:
    """An API that cannot be asked counts as not strict."""
    loose = replace(FORM, strict=None, not_strict_reason="alone")
    tool = converted(loose, Named("", "a"), "a", API)

    assert (False, "alone") == (tool.strict, tool.not_strict_reason)
    assert "others" == converted(loose, Named("", "a"), "a", API, "others").not_strict_reason
