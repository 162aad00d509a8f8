"""Selection of functions, injected parameters, descriptions, and output schemas."""

import json
from typing import Any

import pytest
from sidecheck_server.core.infer.types import OnUnsupported
from sidecheck_server.core.types import Severity
from support.inference import infer, infer_definition


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        pytest.param(["f"], "@tool\ndef f(): ...\ndef g(): ...", id="bare"),
        pytest.param(["f"], "@mcp.tool()\nasync def f(): ...\ndef g(): ...", id="called, async"),
        pytest.param(["f"], "@a.b.server.tool('n')\ndef f(): ...", id="of a server"),
        pytest.param(["f"], "@skill_command(name='x')\ndef f(): ...", id="another decorator"),
        pytest.param(["f"], "@other\n@tool\n@more()\ndef f(): ...", id="among others"),
        pytest.param(["A.f"], "class A:\n @tool\n def f(self): ...", id="a method"),
        pytest.param(["g.f"], "def g():\n @tool\n def f(): ...", id="in a function"),
        pytest.param(["g.A.f"], "def g():\n class A:\n  @tool\n  def f(self): ...", id="in both"),
        pytest.param(["f"], "if True:\n @tool\n def f(): ...\nelse: ...", id="in a branch"),
        pytest.param(
            ["f"], "with a:\n try: ...\n except B:\n  @tool\n  def f(): ...", id="nested statements"
        ),
        pytest.param(["f", "g"], "def f(): ...\ndef g(): ...\ndef _h(): ...", id="no decorators"),
        pytest.param([], "class A:\n def f(self): ...", id="methods are not public functions"),
        pytest.param([], "x = 1", id="nothing"),
        pytest.param([], "", id="empty"),
    ],
)
def test_the_tools_of_a_source(expected: list[str], source: str) -> None:
    """They are in source order."""
    assert expected == [tool.function for tool in infer(source).tools]


def test_requested_functions() -> None:
    """Methods by qualified name; a decorator is not needed."""
    source = "@tool\ndef f(): ...\nclass A:\n def g(self, a: int): ...\n def h(self): ..."
    result = infer(source, functions=("A.g",))

    assert [("A.g", 4)] == [(tool.function, tool.line) for tool in result.tools]


@pytest.mark.parametrize(
    ("expected", "parameters"),
    [
        pytest.param(["a"], "a: int, ctx: Context", id="a context"),
        pytest.param(["a"], "a: int, ctx: Context | None = None", id="or none"),
        pytest.param(["a"], "a: int, ctx: 'Context[A, B]'", id="with parameters, quoted"),
        pytest.param(["a"], "a: int, ctx: fastmcp.Context", id="of a module"),
        pytest.param(["a"], "a: int, ctx: Optional[RunContext[int]] = None", id="optional"),
        pytest.param(["a"], "a: int, db: X = Depends(get)", id="a default that injects"),
        pytest.param(["a"], "a: int, db: Annotated[X, Depends(get)]", id="metadata that injects"),
        pytest.param(["a"], "a: int, s: Session", id="a listed type"),
        pytest.param(["a"], "a: int, user: X", id="a listed parameter"),
        pytest.param(["a", "Context"], "a: int, Context: int", id="a parameter named as a type"),
    ],
)
def test_an_injected_parameter_is_not_an_argument(expected: list[str], parameters: str) -> None:
    """Its type, its default, its metadata, or its name marks it."""
    definition = infer_definition(
        f"from typing import Annotated, Optional\n@tool\ndef f({parameters}): ...",
        injected_types=("Session",),
        injected_parameters=("user",),
    )

    assert expected == list(definition["inputSchema"]["properties"])


def test_a_decorator_lists_injected_parameters_and_types() -> None:
    """Parameters are strings, types are names."""
    source = "@tool(injected=['user', db.Session])\ndef f(a: int, user: X, s: Session): ..."

    assert ["a"] == list(infer_definition(source)["inputSchema"]["properties"])


@pytest.mark.parametrize(
    ("expected", "classes"),
    [
        pytest.param(["a"], "class C(Context): ...", id="derived from a context"),
        pytest.param(
            ["a"], "class B(mcp.Context[int]): ...\nclass C(B): ...", id="derived indirectly"
        ),
        pytest.param(["a", "c"], "class C(Request, TypedDict): ...", id="a request may be data"),
        pytest.param(
            ["a", "c"],
            "class Context(TypedDict):\n x: int\nclass C(Context): ...",
            id="derived from a class of data",
        ),
    ],
)
def test_a_class_derived_from_a_context_is_injected(expected: list[str], classes: str) -> None:
    """It is not if the source defines the context as a data class."""
    source = f"from typing import TypedDict\n{classes}\n@tool\ndef f(a: int, c: C): ..."
    result = infer(source, on_unsupported=OnUnsupported.ANY)

    assert expected == list(json.loads(result.tools[0].json)["inputSchema"]["properties"])


def test_an_empty_description_hides_the_docstring() -> None:
    assert "description" not in infer_definition("@tool(description='')\ndef f():\n 'Text.'")


def test_a_class_of_data_is_not_a_context() -> None:
    """It may have the name of a context class."""
    source = (
        "from dataclasses import dataclass\n@dataclass\nclass Context:\n    a: int\n"
        "@tool\ndef f(c: Context): ..."
    )

    assert ["c"] == list(infer_definition(source)["inputSchema"]["properties"])


GOOGLE = """F.

    More of it.

    Args:
        a (int): The a,
            going on.
        b: The b.

    Returns:
        Nothing.
    """
NUMPY = """F.

    More of it.

    Parameters
    ----------
    a : int
        The a,
        going on.
    b
        The b.

    Returns
    -------
    None
    """
SPHINX = """F.

    More of it.

    :param a: The a,
        going on.
    :type a: int
    :param b: The b.
    :returns: Nothing.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_docstrings_describe(text: str) -> None:
    """Three styles are supported."""
    definition = infer_definition(f'@tool\ndef f(a: int, b: int = 1):\n    """{text}"""')

    properties = definition["inputSchema"]["properties"]
    assert "F.\n\nMore of it." == definition["description"]
    assert "The a, going on." == " ".join(properties["a"]["description"].split())
    assert "The b." == properties["b"]["description"]


@pytest.mark.parametrize(
    ("expected", "annotation"),
    [
        pytest.param("of the field", "Annotated[int, Field(description='of the field'), 'x']"),
        pytest.param("of the type", "Annotated[int, 'of the type']"),
        pytest.param("of the docstring", "int"),
    ],
)
def test_the_nearest_description_wins(expected: str, annotation: str) -> None:
    """The order is a field, a string in `Annotated`, the docstring."""
    definition = infer_definition(
        "from typing import Annotated\nfrom pydantic import Field\n@tool\n"
        f'def f(a: {annotation}):\n    """F.\n\n    Args:\n        a: of the docstring\n    """'
    )

    assert expected == definition["inputSchema"]["properties"]["a"]["description"]


@pytest.mark.parametrize(
    ("expected", "returns"),
    [
        pytest.param(None, "", id="none"),
        pytest.param(None, " -> None", id="None"),
        pytest.param(None, " -> Any", id="Any"),
        pytest.param(None, " -> bytes", id="bytes"),
        pytest.param(None, " -> list[bytes]", id="bytes in a list"),
        pytest.param(None, " -> list", id="a bare list"),
        pytest.param(None, " -> list[Any]", id="a list of anything"),
        pytest.param(None, " -> TextContent", id="content"),
        pytest.param(None, " -> list[TextContent | types.ImageContent]", id="contents"),
        pytest.param(None, " -> CallToolResult", id="a result"),
        pytest.param(None, " -> Image | None", id="an image of an SDK"),
        pytest.param(None, " -> list[Image | str]", id="images of an SDK"),
        pytest.param(None, " -> toolkit.File", id="a file of an SDK"),
        pytest.param(None, " -> ToolResult", id="a result of an SDK"),
        pytest.param(None, " -> list[ContentBlock]", id="blocks"),
        pytest.param({"type": "integer"}, " -> int", id="a number"),
        pytest.param({"type": "object", "additionalProperties": True}, " -> dict", id="an object"),
    ],
)
def test_an_output_schema_is_informative(expected: dict[str, Any] | None, returns: str) -> None:
    """Else it is omitted."""
    source = (
        "from typing import Any\nfrom mcp import types\nfrom mcp.types import CallToolResult\n"
        "from mcp.types import ContentBlock, TextContent\n"
        "from mcp.server.fastmcp import Image\nimport fastmcp.utilities.types as toolkit\n"
        f"from fastmcp.tools import ToolResult\n@tool\ndef f(){returns}: ..."
    )

    result = infer(source)

    assert () == result.diagnostics
    assert expected == json.loads(result.tools[0].json).get("outputSchema")


@pytest.mark.parametrize(
    ("code", "returns"),
    [
        pytest.param("UNRESOLVED_NAME", "PIL.Image.Image", id="an image of another package"),
        pytest.param("UNRESOLVED_NAME", "list['Frame'] | None", id="a name of another module"),
        pytest.param("UNRESOLVED_NAME", "missing", id="an unknown name"),
        pytest.param("UNSUPPORTED_TYPE", "dict[str, Plain]", id="a plain class"),
        pytest.param("UNSUPPORTED_TYPE", "Callable[[int], str]", id="a function"),
        pytest.param("UNSUPPORTED_SYNTAX", "5", id="no type"),
    ],
)
def test_a_result_that_cannot_be_read_has_no_schema(code: str, returns: str) -> None:
    """A warning at the annotation says so; the tool has its input schema."""
    source = (
        "from typing import Callable\nimport PIL.Image\nfrom frames import Frame\n"
        f"class Plain: ...\n\ndef f(x: int) -> {returns}: ...\n"
        f"\ndef g(x: int) -> {returns}: ...\n"
    )

    result = infer(source)

    assert ["f", "g"] == [tool.function for tool in result.tools]
    assert [(code, Severity.WARNING, line) for line in (6, 8)] == [
        (diagnostic.code, diagnostic.severity, diagnostic.location.line)
        for diagnostic in result.diagnostics
    ]
    for tool in result.tools:
        definition = json.loads(tool.json)
        assert {"x": {"type": "integer"}} == definition["inputSchema"]["properties"]
        assert "outputSchema" not in definition


def test_properties_of_a_definition_are_ordered() -> None:
    """The order is that in which clients show them."""
    source = "@tool(title='T', description='D', read_only=True)\ndef f(a: int) -> int: ..."

    assert ["name", "title", "description", "inputSchema", "outputSchema", "annotations"] == list(
        json.loads(infer(source).tools[0].json)
    )


def test_names_of_a_function_are_visible_inside_of_it() -> None:
    """Names of a class are not visible in the bodies of its methods."""
    source = (
        "def make():\n    X = list[int]\n    @tool\n    def f(a: X): ...\n"
        "class A:\n    Y = str\n    @tool\n    def g(self, a: Y):\n"
        "        @tool\n        def h(a: Y): ...\n"
    )
    result = infer(source)

    assert ["make.f", "A.g"] == [tool.function for tool in result.tools]
    assert [("UNRESOLVED_NAME", "A.g.h")] == [
        (diagnostic.code, diagnostic.function) for diagnostic in result.diagnostics
    ]
