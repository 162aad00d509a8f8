"""Diagnostics: code, severity, message, and location."""

import json

import pytest
from sidecheck_server.core.infer.types import OnUnsupported, SourceRange
from sidecheck_server.core.types import Severity
from support.inference import diagnostic_codes, infer

PYDANTIC = "from pydantic import BaseModel, ConfigDict, Field, computed_field, field_serializer\n"


@pytest.mark.parametrize(
    ("expected", "source"),
    [
        pytest.param([("SYNTAX_ERROR", 1, 7)], "def f(:", id="not Python"),
        pytest.param([("SYNTAX_ERROR", 2, 10)], "@tool\ndef f(a: 'int int'): ...", id="not a type"),
        pytest.param([("SYNTAX_ERROR", 2, 5)], b"x = 1\nabcd\xff", id="not UTF-8"),
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
            "from elsewhere import *\n@tool\ndef f(a: Any): ...",
            id="imported by a star",
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
            [("UNSUPPORTED_TYPE", 7, 16)],
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
            [("UNSUPPORTED_SYNTAX", 2, 10)], "@tool\ndef f(a: 1 + 1): ...", id="a sum"
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
            id="two tools with one name",
        ),
        pytest.param(
            [("UNSUPPORTED_SYNTAX", 1, 12)],
            "@tool(name=g())\ndef f(): ...",
            id="a decorator that computes",
        ),
        pytest.param(
            [("UNRESOLVED_NAME", 2, 10), ("UNRESOLVED_NAME", 2, 16)],
            "@tool\ndef f(a: X, b: Y): ...",
            id="several",
        ),
    ],
)  # fmt: skip
def test_a_diagnostic(expected: list[tuple[str, int, int]], source: str | bytes) -> None:
    """They are sorted by line and column."""
    assert expected == diagnostic_codes(source)


def test_a_diagnostic_names_the_function_and_the_parameter() -> None:
    """It has the end of its location too."""
    (diagnostic,) = infer("class A:\n    @tool\n    def f(self, a: list[Shape]): ...").diagnostics

    assert ("A.f", "a", Severity.ERROR) == (
        diagnostic.function,
        diagnostic.parameter,
        diagnostic.severity,
    )
    assert SourceRange(3, 25, 3, 30) == diagnostic.location
    assert "Shape is neither defined in the source nor imported" in diagnostic.message


@pytest.mark.parametrize(
    ("code", "source"),
    [
        pytest.param("MISSING_ANNOTATION", "@tool\ndef f(a): ...", id="no annotation"),
        pytest.param("DEFAULT_NOT_JSON", "@tool\ndef f(a: int = g()): ...", id="default"),
        pytest.param("IMPLICIT_OPTIONAL", "@tool\ndef f(a: int = None): ...", id="None"),
        pytest.param("UNSUPPORTED_SYNTAX", "@tool(name=g())\ndef f(): ...", id="decorator"),
    ],
)
def test_a_warning_keeps_the_tool(code: str, source: str) -> None:
    """It is inferred."""
    result = infer(source)

    assert [(code, Severity.WARNING)] == [
        (diagnostic.code, diagnostic.severity) for diagnostic in result.diagnostics
    ]
    assert ["f"] == [tool.function for tool in result.tools]


@pytest.mark.parametrize(
    ("admitted", "annotation", "default"),
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
        (False, "Annotated[dict, Field(min_length=1)]", "{}"),
    ],
)
def test_a_default_is_kept_if_the_type_admits_it(
    admitted: bool, annotation: str, default: str
) -> None:
    """Another would contradict its schema."""
    result = infer(
        "from typing import Annotated, Literal\nfrom pydantic import BaseModel, Field\n"
        f"class M(BaseModel):\n x: int\n@tool\ndef f(a: {annotation} = {default}): ..."
    )

    (tool,) = result.tools
    schema = json.loads(tool.json)["inputSchema"]["properties"]["a"]
    codes = [] if admitted else ["DEFAULT_NOT_JSON"]
    assert (codes, admitted) == (
        [diagnostic.code for diagnostic in result.diagnostics],
        "default" in schema,
    )


def test_any_value_is_admitted_on_request() -> None:
    """Each unknown type has a warning."""
    source = "@tool\ndef f(a: X, b: list[Y], *, c: Z = 1, **d: U) -> V: ..."
    result = infer(source, on_unsupported=OnUnsupported.ANY)

    assert [("UNRESOLVED_NAME", Severity.WARNING)] * 5 == [
        (diagnostic.code, diagnostic.severity) for diagnostic in result.diagnostics
    ]
    (tool,) = result.tools
    assert (
        b'{"name":"f","inputSchema":{"type":"object","properties":{"a":{},"b":{},"c":{}},'
        b'"required":["a","b"],"additionalProperties":true}}'
    ) == tool.json


def test_positional_arguments_are_left_out_on_request() -> None:
    """A warning reports it."""
    result = infer("@tool\ndef f(a: int, *b: X): ...", on_unsupported=OnUnsupported.ANY)

    (diagnostic,) = result.diagnostics
    assert ("VARIADIC_PARAMETER", Severity.WARNING, "b") == (
        diagnostic.code,
        diagnostic.severity,
        diagnostic.parameter,
    )
    assert (
        "*b takes positional arguments, but tool arguments are passed by name; it is left out of"
        " the schema; use a parameter of type list[...]"
    ) == diagnostic.message
    assert b'"properties":{"a":{"type":"integer"}}' in result.tools[0].json


@pytest.mark.parametrize(
    ("expected", "value", "option"),
    [
        ([("UNRESOLVED_NAME", "warning")], "'any'", OnUnsupported.ERROR),
        ([("UNRESOLVED_NAME", "error")], "'error'", OnUnsupported.ANY),
        ([("UNRESOLVED_NAME", "warning")], "None", OnUnsupported.ANY),
        (
            [("UNSUPPORTED_SYNTAX", "warning"), ("UNRESOLVED_NAME", "error")],
            "'all'",
            OnUnsupported.ERROR,
        ),
    ],
)
def test_a_decorator_decides_what_is_unsupported(
    expected: list[tuple[str, str]], value: str, option: OnUnsupported
) -> None:
    """Its arguments take precedence over the options of the inference."""
    source = f"@tool(on_unsupported={value})\ndef f(a: X): ..."
    assert expected == [
        (diagnostic.code, diagnostic.severity.value)
        for diagnostic in infer(source, on_unsupported=option).diagnostics
    ]


def test_an_unknown_function_is_an_error() -> None:
    """Its location is the whole source."""
    result = infer("def f(): ...", functions=("f", "A.f"))

    assert ["f"] == [tool.function for tool in result.tools]
    assert [("UNKNOWN_FUNCTION", SourceRange(), "A.f")] == [
        (diagnostic.code, diagnostic.location, diagnostic.function)
        for diagnostic in result.diagnostics
    ]


def test_the_error_of_an_unknown_function_suggests_a_qualified_name() -> None:
    """It is that of a nested function with this name."""
    source = "class A:\n    def f(): ...\n    def g_f(): ..."
    messages = [
        diagnostic.message for diagnostic in infer(source, functions=("f", "h", "")).diagnostics
    ]

    assert [
        f'no function "{name}" in the source; a nested function needs its qualified name, for '
        f"example {example}"
        for name, example in (("f", "A.f"), ("h", "Class.method"), ("", "Class.method"))
    ] == messages


def test_a_null_byte_has_a_location() -> None:
    """Python does not report its location."""
    assert [("SYNTAX_ERROR", 3, 4)] == diagnostic_codes("def f():\r\n    ...\n'é'\0")


@pytest.mark.parametrize(
    ("fault", "escape"), [("a null byte", r"\0"), ("a lone surrogate", r"\ud800")]
)
def test_quotes_with_invalid_characters_are_a_syntax_error(fault: str, escape: str) -> None:
    """The message is not that of the decoder."""
    (diagnostic,) = infer(f"def f(a: '{escape}'): ...").diagnostics

    assert ("SYNTAX_ERROR", SourceRange(1, 10, 1, 12 + len(escape))) == (
        diagnostic.code,
        diagnostic.location,
    )
    assert f": contains {fault}; this server reads the syntax of Python 3." in diagnostic.message


@pytest.mark.parametrize("schema", ["{}", "{'type': 'array'}"])
def test_an_input_schema_that_mcp_rejects_is_omitted(schema: str) -> None:
    """The inferred schema is used instead."""
    result = infer(f"@tool(input_schema={schema})\ndef f(a: int): ...")

    assert b'"properties":{"a":{"type":"integer"}}' in result.tools[0].json
    assert [("UNSUPPORTED_SYNTAX", "warning", 1, 20)] == [
        (
            diagnostic.code,
            diagnostic.severity.value,
            diagnostic.location.line,
            diagnostic.location.column,
        )
        for diagnostic in result.diagnostics
    ]


def test_a_declaration_of_an_encoding_is_ignored() -> None:
    """The source is UTF-8 in any case."""
    source = '# -*- coding: latin-1 -*-\n@tool(description="é")\ndef f(): ...'.encode()

    assert '"description":"é"'.encode() in infer(source).tools[0].json


def test_a_byte_order_mark_counts_as_no_column() -> None:
    """It is not part of the source."""
    assert [("UNRESOLVED_NAME", 1, 10)] == diagnostic_codes(b"\xef\xbb\xbfdef f(a: X): ...")
