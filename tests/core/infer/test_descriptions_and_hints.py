"""What decorators and fields say beside the types: told where it is written out, or left out."""

from typing import Any

import pytest
from support.inferring import definition, infer

HEAD = """\
from typing import Annotated
from mcp.types import ToolAnnotations
from pydantic import Field
WHERE = "here"
HINTS = ToolAnnotations(title="Look", read_only_hint=True, open_world_hint=None)
TEXT = "What to look for."
"""


def test_annotations_may_have_a_name() -> None:
    """A name of the text, for ToolAnnotations with literals."""
    found = definition(HEAD + "@server.tool(annotations=HINTS)\ndef look(): ...\n")
    assert {"title": "Look", "readOnlyHint": True} == found["annotations"]


def test_annotations_that_a_function_makes_are_left_out() -> None:
    """Whatever its arguments are called; a warning says so."""
    found = infer(HEAD + "@server.tool(annotations=hints(read_only=True))\ndef look(): ...\n")
    assert ["UNSUPPORTED_SYNTAX"] == [one.code for one in found.diagnostics]
    assert b"annotations" not in found.tools[0].json


def test_results_that_are_text_alone_have_no_schema() -> None:
    """The decorator says so by structured_output=False."""
    found = definition(HEAD + "@server.tool(structured_output=False)\ndef look() -> str: ...\n")
    assert "outputSchema" not in found


@pytest.mark.parametrize("said", ['f"What is {WHERE}."', "TEXT + WHERE", "told()"])
def test_a_description_that_is_computed_is_left_out_with_a_warning(said: str) -> None:
    """It admits nothing and nobody; the tool is what it is without it."""
    source = f"{HEAD}@tool\ndef look(a: Annotated[int, Field(ge=1, description={said})]): ...\n"
    found = infer(source)
    assert [("UNSUPPORTED_SYNTAX", "warning", "a")] == [
        (one.code, one.severity, one.parameter) for one in found.diagnostics
    ]
    assert b'{"a":{"type":"integer","minimum":1}}' in found.tools[0].json


def test_a_bound_that_is_computed_is_an_error() -> None:
    """Without it, the schema would admit what the function does not."""
    found = infer(f"{HEAD}@tool\ndef look(a: Annotated[int, Field(ge=least())]): ...\n")
    assert () == found.tools
    assert ["error"] == [one.severity for one in found.diagnostics]


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("'What to look for.'", "What to look for."),
        ("TEXT", "What to look for."),
        ("'The first.', 'The second.'", "The first."),
        ("'A text.', Field(description='A description.')", "A description."),
    ],
)
def test_a_text_in_annotated_describes(said: str, wanted: str) -> None:
    """Also under a name; the first of several; and not beside a description."""
    found = definition(f"{HEAD}@tool\ndef look(a: Annotated[str, {said}]): ...\n")
    assert wanted == found["inputSchema"]["properties"]["a"]["description"]


@pytest.mark.parametrize(
    ("decorator", "wanted"),
    [
        ("from sidecheck.inference import tool\n@tool(title='T')", {"annotations": {"title": "T"}}),
        ("@skill_command(title='T')", {"annotations": {"title": "T"}}),
        ("@server.tool(title='T')", {"title": "T"}),
    ],
)
def test_a_title_stands_where_the_decorator_puts_it(decorator: str, wanted: dict[str, Any]) -> None:
    """Among the annotations, if it is the client's own; elsewhere it is the tool's."""
    found = definition(f"{decorator}\ndef look(): ...\n")
    assert wanted == {key: found[key] for key in ("title", "annotations") if key in found}


@pytest.mark.parametrize("type_", ["None", "Annotated[None, Field(description='It is done.')]"])
def test_nothing_is_said_of_nothing(type_: str) -> None:
    """Whatever describes it."""
    found = definition(f"{HEAD}@tool\ndef look() -> {type_}: ...\n")
    assert "outputSchema" not in found


def test_further_arguments_without_a_type_are_warned_of() -> None:
    """They admit anything, as a parameter without one does."""
    found = infer("@tool\ndef look(**rest): ...\n")
    assert [("MISSING_ANNOTATION", "rest")] == [
        (one.code, one.parameter) for one in found.diagnostics
    ]


@pytest.mark.parametrize(
    "parameter",
    [
        "a: int = 'x'",
        "a: int = -1.5",
        "a: bool = 1",
        "a: int = ...",
        "a: list[int] = ['x']",
        "a: Literal['x'] = 'y'",
        "a: int | None = 'x'",
        "a: Annotated[int, Field(ge=1)] = 0",
        "a: int = Field(0, gt=0)",
        "a: Annotated[str, Field(min_length=1)] = ''",
        "a: Annotated[list[int], Field(max_length=1)] = [1, 2]",
    ],
)
def test_a_default_that_the_type_does_not_admit_is_left_out(parameter: str) -> None:
    """With a warning; the argument is optional all the same."""
    found = infer(f"from typing import Literal\n{HEAD}@tool\ndef look({parameter}): ...\n")
    assert ["DEFAULT_NOT_JSON"] == [one.code for one in found.diagnostics]
    assert b"default" not in found.tools[0].json
    assert b"required" not in found.tools[0].json


@pytest.mark.parametrize(
    "parameter",
    [
        "a: float = 1e300",
        "a: float = 3",
        "a: int | None = None",
        "a: Annotated[int, Field(ge=1, le=1)] = 1",
        "a: Annotated[str, Field(max_length=1)] = ''",
        "a: list[list[int]] = [[], [1]]",
        "a: Literal['x', None] = None",
    ],
)
def test_a_default_that_the_type_admits_stays(parameter: str) -> None:
    """As the JSON that it is."""
    found = definition(f"from typing import Literal\n{HEAD}@tool\ndef look({parameter}): ...\n")
    assert "default" in found["inputSchema"]["properties"]["a"]
