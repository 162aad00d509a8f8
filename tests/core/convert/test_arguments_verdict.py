"""Verdict on a call, as it is reported to the model."""

from typing import Any

import pytest
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.tool_error_text import tool_error_text
from support.model_calls import (
    CHAT,
    GEMINI,
    RESPONSES,
    chat,
    read,
    responses,
)

TWICE = "duplicate key in the object; JSON parsers disagree on which value counts"


@pytest.mark.parametrize(
    ("key", "call", "lines"),
    [
        pytest.param(CHAT, chat("{}"), [""], id="nothing is wrong"),
        pytest.param(
            CHAT,
            chat('{"b": {"a": 1, "a": 2}}'),
            [
                "The arguments of the call to t cannot be read as JSON:",
                f"- b.a: {TWICE}",
                "Call the tool again with arguments that are one well-formed JSON object.",
            ],
            id="a key twice",
        ),
        pytest.param(
            RESPONSES,
            responses(""),
            [
                "The arguments of the call to t cannot be read as JSON:",
                "- not JSON: it is empty",
                "Call the tool again with arguments that are one well-formed JSON object.",
            ],
            id="empty",
        ),
        pytest.param(
            GEMINI,
            {"functionCall": {"name": "t", "args": []}},
            [
                "The arguments of the call to t are not valid:",
                "- expected an object, found an empty array",
                "Correct the arguments and call the tool again.",
            ],
            id="an array",
        ),
    ],
)
def test_violations_of_the_call_are_reported_as_of_arguments(
    key: ModelApi, call: Any, lines: list[str]
) -> None:
    """The messages are those of arguments."""
    reported = read(key, call).arguments_verdict
    assert lines == tool_error_text(reported, tool="t").split("\n")
