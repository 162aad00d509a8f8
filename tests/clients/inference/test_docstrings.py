"""Descriptions out of docstrings, in whatever style."""

from typing import Annotated

import pytest
from sidecheck.inference import infer_tool, tool_definition

GOOGLE = """Say it.

    And more of it.

    Args:
        x: What to say,
            at length.
        *y: Another.

    Returns:
        It.
    """
NUMPY = """Say it.

    And more of it.

    Parameters
    ----------
    x : int
        What to say,
        at length.
    y : int
        Another.
    """
SPHINX = """Say it.

    And more of it.

    :param x: What to say,
        at length.
    :param y: Another."""


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX])
def test_docstrings_describe_the_tool_and_its_parameters(docstring: str) -> None:
    def say(x: int, y: Annotated[int, "nearer"]) -> None: ...

    say.__doc__ = docstring
    definition = tool_definition(infer_tool(say))
    assert "Say it.\n\nAnd more of it." == definition["description"]
    told = {
        n: " ".join(x["description"].split())
        for n, x in definition["inputSchema"]["properties"].items()
    }
    assert {"x": "What to say, at length.", "y": "nearer"} == told
