"""Options of decorators and metadata of fields: read if they are literals, else omitted."""

from typing import Any

import pytest
from support.inference import infer, infer_definition

HEAD = """\
from typing import Annotated
from mcp.types import ToolAnnotations
from pydantic import Field
WHERE = "here"
HINTS = ToolAnnotations(title="Look", read_only_hint=True, open_world_hint=None)
TEXT = "What to look for."
"""


def test_annotations_may_be_an_alias() -> None:
    """The alias is of ToolAnnotations with literals."""
    definition = infer_definition(HEAD + "@server.tool(annotations=HINTS)\ndef look(): ...\n")
    assert {"title": "Look", "readOnlyHint": True} == definition["annotations"]


def test_annotations_returned_by_a_function_are_omitted() -> None:
    """A warning reports it; the arguments of the function do not matter."""
    result = infer(HEAD + "@server.tool(annotations=hints(read_only=True))\ndef look(): ...\n")
    assert ["UNSUPPORTED_SYNTAX"] == [diagnostic.code for diagnostic in result.diagnostics]
    assert b"annotations" not in result.tools[0].json


def test_unstructured_results_have_no_schema() -> None:
    """The argument is structured_output=False."""
    definition = infer_definition(
        HEAD + "@server.tool(structured_output=False)\ndef look() -> str: ...\n"
    )
    assert "outputSchema" not in definition


@pytest.mark.parametrize("expression", ['f"What is {WHERE}."', "TEXT + WHERE", "compute()"])
def test_a_computed_description_is_omitted_with_a_warning(expression: str) -> None:
    """It restricts nothing, so the tool is valid without it."""
    source = (
        f"{HEAD}@tool\ndef look(a: Annotated[int, Field(ge=1, description={expression})]): ...\n"
    )
    result = infer(source)
    assert [("UNSUPPORTED_SYNTAX", "warning", "a")] == [
        (diagnostic.code, diagnostic.severity, diagnostic.parameter)
        for diagnostic in result.diagnostics
    ]
    assert b'{"a":{"type":"integer","minimum":1}}' in result.tools[0].json


def test_a_computed_bound_is_an_error() -> None:
    """Without it, the schema would admit values that the function rejects."""
    result = infer(f"{HEAD}@tool\ndef look(a: Annotated[int, Field(ge=least())]): ...\n")
    assert () == result.tools
    assert ["error"] == [diagnostic.severity for diagnostic in result.diagnostics]


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ("'What to look for.'", "What to look for."),
        ("TEXT", "What to look for."),
        ("'The first.', 'The second.'", "The first."),
        ("'A text.', Field(description='A description.')", "A description."),
    ],
)
def test_a_string_in_annotated_describes(metadata: str, expected: str) -> None:
    """It may be in an alias; the first of several counts; `description` takes precedence."""
    definition = infer_definition(f"{HEAD}@tool\ndef look(a: Annotated[str, {metadata}]): ...\n")
    assert expected == definition["inputSchema"]["properties"]["a"]["description"]


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("from sidecheck.inference import tool\n@tool(title='T')", {"annotations": {"title": "T"}}),
        ("@skill_command(title='T')", {"annotations": {"title": "T"}}),
        ("@server.tool(title='T')", {"title": "T"}),
    ],
)
def test_the_place_of_a_title_depends_on_the_decorator(
    decorator: str, expected: dict[str, Any]
) -> None:
    """The client's own decorator sets it in the annotations, others in the tool."""
    definition = infer_definition(f"{decorator}\ndef look(): ...\n")
    assert expected == {
        key: definition[key] for key in ("title", "annotations") if key in definition
    }


@pytest.mark.parametrize("type_", ["None", "Annotated[None, Field(description='It is done.')]"])
def test_a_result_of_none_has_no_schema(type_: str) -> None:
    """A description does not change that."""
    definition = infer_definition(f"{HEAD}@tool\ndef look() -> {type_}: ...\n")
    assert "outputSchema" not in definition


def test_additional_arguments_without_a_type_are_a_warning() -> None:
    """They admit any value, as a parameter without a type does."""
    result = infer("@tool\ndef look(**rest): ...\n")
    assert [("MISSING_ANNOTATION", "rest")] == [
        (diagnostic.code, diagnostic.parameter) for diagnostic in result.diagnostics
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
def test_a_default_that_the_type_does_not_admit_is_omitted(parameter: str) -> None:
    """A warning reports it; the argument stays optional."""
    result = infer(f"from typing import Literal\n{HEAD}@tool\ndef look({parameter}): ...\n")
    assert ["DEFAULT_NOT_JSON"] == [diagnostic.code for diagnostic in result.diagnostics]
    assert b"default" not in result.tools[0].json
    assert b"required" not in result.tools[0].json


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
def test_a_default_that_the_type_admits_is_kept(parameter: str) -> None:
    """It is written as JSON."""
    definition = infer_definition(
        f"from typing import Literal\n{HEAD}@tool\ndef look({parameter}): ...\n"
    )
    assert "default" in definition["inputSchema"]["properties"]["a"]
