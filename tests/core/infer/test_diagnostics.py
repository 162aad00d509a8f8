"""What cannot be read of a source is told, with its code and its place."""

import json

import pytest
from sidecheck_server.core.infer.words import OnUnsupported, Place
from sidecheck_server.core.types import Severity
from support.inferring import codes, infer

PYDANTIC = "from pydantic import BaseModel, ConfigDict, Field, computed_field, field_serializer\n"


@pytest.mark.parametrize(
    ("want", "source"),
    [
        pytest.param([("SYNTAX_ERROR", 1, 7)], "def f(:", id="no Python"),
        pytest.param([("SYNTAX_ERROR", 2, 10)], "@tool\ndef f(a: 'int int'): ...", id="no type"),
        pytest.param([("SYNTAX_ERROR", 2, 5)], b"x = 1\nabcd\xff", id="no UTF-8"),
        pytest.param(
            [("UNRESOLVED_NAME", 2, 10)], "@tool\ndef f(a: Shape): ...", id="an unknown name"
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 2, 18)],
            "@tool\ndef f(é: str, a: Shape): ...",
            id="columns are characters",
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 3, 10)],
            "from elsewhere import Shape\n@tool\ndef f(a: Shape): ...",
            id="a foreign name",
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 4, 10)],
            "X = int\nX = str\n@tool\ndef f(a: X): ...",
            id="bound twice",
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 4, 10)],
            "for X in (int, str):\n    pass\n@tool\ndef f(a: X): ...",
            id="bound by a loop",
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 3, 10)],
            "import typing\n@tool\ndef f(a: typing): ...",
            id="a module",
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 3, 10)],
            "from typing import *\n@tool\ndef f(a: Any): ...",
            id="what a star brings",
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 2, 9)],
            "from elsewhere import Base\nclass A(Base): ...\n@tool\ndef f(a: A): ...",
            id="an unknown base",
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 3, 25)],
            "from typing import Annotated\n@tool\ndef f(a: Annotated[int, Field(ge=1)]): ...",
            id="unknown metadata",
        ),
        pytest.param(
            [("UNSUPPORTED_TYPE", 1, 1)],
            "class A: ...\n@tool\ndef f(a: A): ...",
            id="a plain class",
        ),
        pytest.param(
            [("UNSUPPORTED_TYPE", 3, 10)],
            "from typing import Callable\n@tool\ndef f(a: Callable[[int], str]): ...",
            id="a callable",
        ),
        pytest.param(
            [("UNSUPPORTED_TYPE", 4, 6)],
            f"{PYDANTIC}class A(BaseModel):\n    x: int\n    @computed_field\n"
            "    def y(self) -> int: ...\n@tool\ndef f(a: A) -> A: ...",
            id="a computed field, in a result",
        ),
        pytest.param(
            [("UNSUPPORTED_SYNTAX", 3, 47)],
            f"{PYDANTIC}class A(BaseModel):\n"
            "    model_config = ConfigDict(alias_generator=str.upper)\n@tool\ndef f(a: A): ...",
            id="an alias generator",
        ),
        pytest.param(
            [("UNSUPPORTED_SYNTAX", 2, 10)], "@tool\ndef f(a: 1 + 1): ...", id="no type at all"
        ),
        pytest.param([("VARIADIC_PARAMETER", 2, 8)], "@tool\ndef f(*a: int): ...", id="variadic"),
        pytest.param(
            [("POSITIONAL_ONLY", 2, 7)], "@tool\ndef f(a: int, /, b: int): ...", id="positional"
        ),
        pytest.param([("MISSING_ANNOTATION", 2, 7)], "@tool\ndef f(a): ...", id="no annotation"),
        pytest.param(
            [("DEFAULT_NOT_JSON", 2, 16)], "@tool\ndef f(a: int = g()): ...", id="a call"
        ),
        pytest.param(
            [("DEFAULT_NOT_JSON", 2, 18)], "@tool\ndef f(a: float = 1e999): ...", id="infinity"
        ),
        pytest.param(
            [("IMPLICIT_OPTIONAL", 2, 16)], "@tool\ndef f(a: int = None): ...", id="None"
        ),
        pytest.param(
            [("DUPLICATE_TOOL", 4, 1)],
            "@tool\ndef f(): ...\n@tool(name='f')\ndef g(): ...",
            id="one name for two",
        ),
        pytest.param(
            [("UNSUPPORTED_SYNTAX", 1, 12)],
            "@tool(name=g())\ndef f(): ...",
            id="a decorator that computes",
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 2, 10), ("UNRESOLVED_NAME", 2, 16)],
            "@tool\ndef f(a: X, b: Y): ...",
            id="all of them",
        ),
    ],
)  # fmt: skip
def test_a_diagnostic(want: list[tuple[str, int, int]], source: str | bytes) -> None:
    """Ordered by line and column."""
    assert want == codes(source)


def test_a_diagnostic_names_the_function_and_the_parameter() -> None:
    """And where what it is about ends."""
    (found,) = infer("class A:\n    @tool\n    def f(self, a: list[Shape]): ...").diagnostics

    assert ("A.f", "a", Severity.ERROR) == (found.function, found.parameter, found.severity)
    assert Place(3, 25, 3, 30) == found.place
    assert "Shape is neither defined in the text nor imported" in found.message


@pytest.mark.parametrize(
    ("code", "source"),
    [
        pytest.param("MISSING_ANNOTATION", "@tool\ndef f(a): ...", id="no annotation"),
        pytest.param("DEFAULT_NOT_JSON", "@tool\ndef f(a: int = g()): ...", id="default"),
        pytest.param("IMPLICIT_OPTIONAL", "@tool\ndef f(a: int = None): ...", id="None"),
        pytest.param("UNSUPPORTED_SYNTAX", "@tool(name=g())\ndef f(): ...", id="decorator"),
    ],
)
def test_a_warning_leaves_the_tool(code: str, source: str) -> None:
    """It is inferred all the same."""
    found = infer(source)

    assert [(code, Severity.WARNING)] == [(one.code, one.severity) for one in found.diagnostics]
    assert ["f"] == [one.function for one in found.tools]


@pytest.mark.parametrize(
    ("told", "annotation", "default"),
    [
        (True, "int", "1"),
        (True, "float", "1"),
        (True, "int | None", "None"),
        (True, "list[int]", "[1, 2]"),
        (True, "tuple[int, str]", "(1, 'a')"),
        (True, "dict[str, int]", "{'a': 1}"),
        (True, "Literal[1, 'a']", "'a'"),
        (True, "M", "{'x': 1}"),
        (True, "Annotated[int, Field(json_schema_extra={'type': 7})]", "1"),
        (False, "int", "'a'"),
        (False, "int", "True"),
        (False, "bool", "1"),
        (False, "int | str", "1.5"),
        (False, "list[int]", "['a']"),
        (False, "list[int | None]", "[None, 'a']"),
        (False, "tuple[int, str]", "(1, 2)"),
        (False, "dict[str, int]", "{'a': 'b'}"),
        (False, "Literal[1, 'a']", "'b'"),
        (False, "M", "{'x': 'y'}"),
        (False, "M", "{}"),
        (False, "Annotated[int, Field(ge=3)]", "2"),
        (False, "Annotated[str, Field(min_length=2)]", "'a'"),
        (False, "Annotated[list[int], Field(max_length=1)]", "[1, 2]"),
    ],
)
def test_a_default_is_told_if_the_type_admits_it(told: bool, annotation: str, default: str) -> None:
    """Another would break the schema in which it stands."""
    found = infer(
        "from typing import Annotated, Literal\nfrom pydantic import BaseModel, Field\n"
        f"class M(BaseModel):\n x: int\n@tool\ndef f(a: {annotation} = {default}): ..."
    )

    (tool,) = found.tools
    schema = json.loads(tool.json)["inputSchema"]["properties"]["a"]
    codes_of = [] if told else ["DEFAULT_NOT_JSON"]
    assert (codes_of, told) == ([one.code for one in found.diagnostics], "default" in schema)


def test_anything_is_admitted_on_request() -> None:
    """In place of what is unknown, and with a warning for each."""
    source = "@tool\ndef f(a: X, b: list[Y], *, c: Z = 1, **d: U) -> V: ..."
    found = infer(source, on_unsupported=OnUnsupported.ADMIT_ANYTHING)

    assert [("UNRESOLVED_NAME", Severity.WARNING)] * 5 == [
        (one.code, one.severity) for one in found.diagnostics
    ]
    (tool,) = found.tools
    assert (
        b'{"name":"f","inputSchema":{"type":"object","properties":{"a":{},"b":{},"c":{}},'
        b'"required":["a","b"],"additionalProperties":true}}'
    ) == tool.json


def test_an_unknown_function_is_told() -> None:
    """It is about the whole text."""
    found = infer("def f(): ...", functions=("f", "A.f"))

    assert ["f"] == [one.function for one in found.tools]
    assert [("UNKNOWN_FUNCTION", Place(), "A.f")] == [
        (one.code, one.place, one.function) for one in found.diagnostics
    ]


def test_a_function_that_is_inside_is_told_by_its_whole_name() -> None:
    """Where one is called so, and not a function of that end."""
    source = "class A:\n    def f(): ...\n    def g_f(): ..."
    messages = [one.message for one in infer(source, functions=("f", "h", "")).diagnostics]

    assert [
        f'no function of the text is called "{name}"; one inside of a class or a function is '
        f"named with it, as in {like}"
        for name, like in (("f", "A.f"), ("h", "Class.method"), ("", "Class.method"))
    ] == messages


def test_a_null_byte_has_its_place() -> None:
    """Which Python does not tell."""
    assert [("SYNTAX_ERROR", 3, 4)] == codes("def f():\r\n    ...\n'é'\0")


@pytest.mark.parametrize(
    ("said", "escape"), [("a null byte", r"\0"), ("half of a surrogate pair", r"\ud800")]
)
def test_quotes_with_what_no_source_has_are_no_type(said: str, escape: str) -> None:
    """And the message has no word of the decoder's."""
    (found,) = infer(f"def f(a: '{escape}'): ...").diagnostics

    assert ("SYNTAX_ERROR", Place(1, 10, 1, 12 + len(escape))) == (found.code, found.place)
    assert found.message.endswith(f": it has {said}")


@pytest.mark.parametrize("schema", ["{}", "{'type': 'array'}"])
def test_an_input_schema_that_mcp_refuses_is_left_out(schema: str) -> None:
    """That of the function stands instead."""
    found = infer(f"@tool(input_schema={schema})\ndef f(a: int): ...")

    assert b'"properties":{"a":{"type":"integer"}}' in found.tools[0].json
    assert [("UNSUPPORTED_SYNTAX", "warning", 1, 20)] == [
        (one.code, one.severity.value, one.place.line, one.place.column)
        for one in found.diagnostics
    ]


def test_a_declaration_of_an_encoding_means_nothing() -> None:
    """The text is UTF-8 whatever it says."""
    source = '# -*- coding: latin-1 -*-\n@tool(description="é")\ndef f(): ...'.encode()

    assert '"description":"é"'.encode() in infer(source).tools[0].json


def test_a_byte_order_mark_is_no_column() -> None:
    """Nor is it a part of the text."""
    assert [("UNRESOLVED_NAME", 1, 10)] == codes(b"\xef\xbb\xbfdef f(a: X): ...")
