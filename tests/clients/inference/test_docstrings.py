"""Docstring parser of both routes; further cases: tests/cases/infer/docstrings.json."""

import time
from typing import Annotated

import pytest
from sidecheck.inference import infer_tool, tool_config, tool_definition
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


@pytest.mark.parametrize(
    "section",
    [
        pytest.param(
            "Args:\n    book (str) : The title.\n    ref : Where.", id="space before colon"
        ),
        pytest.param("Args:\n    - book: The title.\n    - ref: Where.", id="dashes"),
        pytest.param("Args:\n    * book: The title.\n    + ref: Where.", id="other bullets"),
        pytest.param("Args:\n    1. book: The title.\n    2) ref: Where.", id="numbers"),
        pytest.param("Args:\n- book: The title.\n- ref: Where.", id="bullets without indentation"),
        pytest.param("Args:\nbook: The title.\nref: Where.", id="no indentation"),
        pytest.param("Args:\n    book - The title.\n    ref -- Where.", id="dash as a separator"),
        pytest.param("Args:\n    book \u2014 The title.\n    ref\u2013Where.", id="long dashes"),
        pytest.param(
            "Args\uff1a\n    book\uff1aThe title.\n    ref\uff08str\uff09\uff1aWhere.",
            id="full width",
        ),
        pytest.param("Args:\n    `book`: The title.\n    - **ref**: Where.", id="emphasis"),
        pytest.param("Args:\n    **book:** The title.\n    **ref** (str): Where.", id="bold colon"),
        pytest.param("Args:\n    book {str} -- The title.\n    ref [str]: Where.", id="brackets"),
        pytest.param(
            "Args:\n    book (dict[str: int]): The title.\n    ref str: Where.", id="types"
        ),
        pytest.param("Args:\n    book (str) The title.\n    ref   Where.", id="no separator"),
        pytest.param(
            "Args:\n    book\n        The title.\n    ref (str)\n        Where.", id="below"
        ),
        pytest.param("Args:\n\n    book: The title.\n\n    ref: Where.", id="blank lines"),
        pytest.param("Parameters:\n  book: The title.\n  ref: Where.", id="two spaces"),
        pytest.param("Args: book: The title.\n    ref: Where.", id="in the line of the header"),
        pytest.param(
            "Parameters\n----------\nbook: The title.\nref : Where.", id="NumPy in a line"
        ),
        pytest.param(
            "Parameters:\n-----------\nbook : str\n    The title.\nref\n    Where.",
            id="NumPy, colon",
        ),
        pytest.param(":param book : The title.\n:param str ref: Where.", id="Sphinx"),
        pytest.param(":param book\uff1aThe title.\n:arg ref: Where.", id="Sphinx, full width"),
    ],
)
def test_every_form_of_an_entry_is_read(section: str) -> None:
    parsed = parse_docstring(f"Fetch.\n\n{section}\n\nMore.", ["book", "ref"])
    assert ParsedDocstring("Fetch.\n\nMore.", {"book": "The title.", "ref": "Where."}) == parsed


@pytest.mark.parametrize(
    ("section", "text"),
    [
        pytest.param("Args:\n    title: It.\n    book: B.", "Args:\n    title: It.", id="Google"),
        pytest.param("Args:\n    Two:\n    book: B.", "Args:\n    Two:", id="introduction"),
        pytest.param("Args:\n    | a | b |", "Args:\n    | a | b |", id="no entry"),
        pytest.param(":param book: B.\n:param title: It.", ":param title: It.", id="Sphinx"),
        pytest.param(
            "Parameters\n----------\ntitle : str\n    It.\nbook : str\n    B.",
            "Parameters\n----------\ntitle : str\n    It.",
            id="NumPy",
        ),
    ],
)
def test_what_describes_no_parameter_stays_in_the_text(section: str, text: str) -> None:
    parsed = parse_docstring(f"Fetch.\n\n{section}\n\nReturns:\n    It.", ["book"])
    assert f"Fetch.\n\n{text}" == parsed.text
    assert len(parsed.unread) == 1
    assert parsed.unread[0] in parsed.text


def test_a_continuation_in_the_column_of_entries_is_kept() -> None:
    parsed = parse_docstring("F.\n\nArgs:\n    x: The title\n    of it.\n    y: Y.", ["x", "y"])
    assert ParsedDocstring("F.", {"x": "The title\nof it.", "y": "Y."}) == parsed


def test_an_unknown_parameter_in_a_docstring_is_a_warning() -> None:
    def fetch(book: str) -> None:
        """Fetch.

        Args:
            title: The title.
        """

    def fetch_more(book: str, **more: str) -> None: ...

    fetch_more.__doc__ = fetch.__doc__
    warnings = tool_config(infer_tool(fetch)).diagnostics
    assert [("UNREAD_DOCSTRING", "warning")] == [
        (warning.code, warning.severity.value) for warning in warnings
    ]
    assert '"title: The title."' in warnings[0].message
    assert () == tool_config(infer_tool(fetch_more)).diagnostics


@pytest.mark.parametrize(
    "docstring",
    [
        "Args:\n    x" + " " * 16_000 + "y",
        "Args" + " " * 16_000 + "y",
        "Args:\n    x" + " " * 8_000 + "y" + " " * 8_000 + ": z",
        "Parameters\n---\nx :" + " or" * 5_000,
        "Args:\nx: y\n\n" * 1_200,
        "Args:\n" * 2_700,
        "Args:\n    x " + "(" * 16_000,
    ],
    ids=range(7),
)
def test_a_hostile_docstring_is_parsed_in_time(docstring: str) -> None:
    """Of quadratic work, each of them takes seconds."""
    start = time.process_time()
    parse_docstring(docstring, ["x"])
    assert time.process_time() - start < 1
