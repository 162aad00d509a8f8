"""Syntax of Python 3.12: inferred by a server that runs on it, and else a clear error."""

import json
import sys
from typing import Any

import pytest
from support.inference import infer

READS = f"this server reads the syntax of Python {sys.version_info.major}.{sys.version_info.minor}"
STRINGS = {"type": "array", "items": {"type": "string"}}
STRING_OR_INTEGER = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
MODEL = "from pydantic import BaseModel\n"

SINCE_3_12 = [
    pytest.param("type Names = list[str]\ndef f(a: Names): ...", STRINGS, id="an alias"),
    pytest.param(
        "def f(a: Names): ...\ntype Names = list[Name]\ntype Name = str",
        STRINGS,
        id="an alias that comes later",
    ),
    pytest.param("type Any = str\ndef f[T](a: T): ...", {}, id="a parameter"),
    pytest.param("def f[T: str](a: list[T]): ...", STRINGS, id="a bound"),
    pytest.param("def f[T: (str, int)](a: T): ...", STRING_OR_INTEGER, id="constraints"),
    pytest.param("T = int\ndef f[T: str](a: list[T]): ...", STRINGS, id="a parameter hides a name"),
    pytest.param(
        MODEL + "class C[T: str](BaseModel):\n  b: list[T]\ndef f(a: C): ...",
        {"$ref": "#/$defs/C"},
        id="a class with a parameter",
    ),
    pytest.param(
        "from typing import Annotated\nfrom pydantic import Field\n"
        "type Name = Annotated[str, Field(min_length=1)]\ndef f(a: Name): ...",
        {"type": "string", "minLength": 1},
        id="an alias with metadata",
    ),
    pytest.param(
        """def f(a: str = "b"):\n  return f"{d["a"]} {f"{a}"}\"""",
        {"type": "string", "default": "b"},
        id="quotes in a format string",
    ),
]


def property_or_code(source: str) -> Any:
    """Return the schema of the argument ``a``, or the code of the diagnostic."""
    result = infer(source)
    if not result.tools:
        return result.diagnostics[0].code
    (tool,) = result.tools
    return json.loads(tool.json)["inputSchema"]["properties"]["a"]


@pytest.mark.parametrize(("source", "schema"), SINCE_3_12)
def test_syntax_of_python_3_12(source: str, schema: Any) -> None:
    """A server on an older Python says that it does not know the syntax."""
    expected = schema if sys.version_info >= (3, 12) else "SYNTAX_ERROR"
    assert expected == property_or_code(source)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        pytest.param("def f[*Ts](a: Ts): ...", "UNRESOLVED_NAME", id="a parameter of many"),
        pytest.param("type X = list[X]\ndef f(a: X): ...", "TOO_DEEP", id="an alias of itself"),
        pytest.param("type X = int\nX = str\ndef f(a: X): ...", "UNRESOLVED_NAME", id="two"),
        pytest.param(
            "class C[T]:\n  def g(self): ...\ndef f(a: T): ...", "UNRESOLVED_NAME", id="outside"
        ),
    ],
)
def test_faults_in_syntax_of_python_3_12(source: str, code: str) -> None:
    """Type parameters are no types outside of their definition, nor without a type."""
    expected = code if sys.version_info >= (3, 12) else "SYNTAX_ERROR"
    assert {expected} == {diagnostic.code for diagnostic in infer(source).diagnostics}


@pytest.mark.parametrize("source", ["def f(:", "x = 'a\0'", "type X = = int"])
def test_a_syntax_error_names_the_syntax_that_is_read(source: str) -> None:
    """The source may be valid in another version of Python."""
    (diagnostic,) = infer(source).diagnostics

    assert diagnostic.message.startswith("not valid Python: ")
    assert diagnostic.message.endswith(READS)


def test_type_parameters_of_a_class_are_visible_in_its_methods() -> None:
    """Other names of the class body are not."""
    source = "class C[T: str]:\n  @staticmethod\n  def f(a: list[T]): ..."
    result = infer(source, functions=("C.f",))
    expected = STRINGS if sys.version_info >= (3, 12) else None
    actual = [json.loads(tool.json)["inputSchema"]["properties"]["a"] for tool in result.tools]

    assert ([] if expected is None else [expected]) == actual
