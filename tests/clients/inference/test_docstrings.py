"""Docstring parser of both routes; further cases: tests/cases/infer/docstrings.json."""

from typing import Annotated

import pytest
from sidecheck.inference import infer_tool, tool_definition
from sidecheck_docstrings import ParsedDocstring, parse_docstring

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
    descriptions = {
        name: " ".join(schema["description"].split())
        for name, schema in definition["inputSchema"]["properties"].items()
    }
    assert {"x": "What to say, at length.", "y": "nearer"} == descriptions


@pytest.mark.parametrize("docstring", [None, "", "  \n\n  "])
def test_a_missing_docstring_is_empty(docstring: str | None) -> None:
    assert ParsedDocstring() == parse_docstring(docstring, ["x"])


def test_an_overlong_docstring_is_not_parsed() -> None:
    """The complete docstring is the description."""
    docstring = f"Say it.\n\nArgs:\n    x: {'x' * (16 << 10)}"
    assert ParsedDocstring(docstring) == parse_docstring(docstring, ["x"])


@pytest.mark.parametrize(
    ("text", "parameters", "docstring"),
    [
        pytest.param(
            "F.\n\nUsage\n~~~~~\n\n    f(1)\n\nMore.",
            {},
            "F.\n\nUsage\n~~~~~\n\n    f(1)\n\nMore.",
            id="text is kept as written",
        ),
        pytest.param(
            "F.\n\nHTTP status: 200\n  or 404",
            {"x": "The x."},
            "F.\n\nHTTP status: 200\n  or 404\n\nArgs:\n    x: The x.",
            id="unknown title with text in its line",
        ),
        pytest.param("F.\n\nHead\n---\nText.", {}, "F.\n\nHead\n---\nText.", id="a Markdown title"),
        pytest.param(
            "F.\n\n```\nArgs:\n    x: no section\n```",
            {},
            "F.\n\n```\nArgs:\n    x: no section\n```",
            id="a code block",
        ),
        pytest.param("F.", {"x": "The x."}, "F.\n\nArgs:\n  `x`: The x.", id="`x`"),
        pytest.param(
            "F.", {"x": "The x,\nand more."}, "F.\n\n:param x: The x,\nand more.", id="unindented"
        ),
        pytest.param("", {"x": "The x."}, "\nArgs:\n    x: The x.", id="no text"),
    ],
)  # fmt: skip
def test_edge_cases(text: str, parameters: dict[str, str], docstring: str) -> None:
    assert ParsedDocstring(text, parameters) == parse_docstring(docstring, ["x"])
