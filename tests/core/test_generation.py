"""Generated code: no text of a schema becomes code, and disallowed code is not run."""

import ast
import builtins
import marshal
from types import CodeType
from typing import Any

import pytest
from sidecheck_server.core.compiler.admission import admit_schema
from sidecheck_server.core.compiler.generation import VerdictGenerator, generate_code
from sidecheck_server.core.compiler.lowering import lower_schema
from sidecheck_server.core.engines.allowed_code import check_generated_code
from sidecheck_server.core.engines.fast import FastCode, FastEngine
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.schemas.canonical import CannotLowerError, LoweredSchema
from support.compiling import D04, D07, LIMITS, compile_value, source_of

HOSTILE = [
    'PWN()', '"+PWN()+"', "'+PWN()+'", '");PWN();("', "');PWN();('", '"""+PWN()+"""',
    "'''+PWN()+'''", "\\", "\\'", '\\"', "\\\\'+PWN()+'", "{PWN()}", "{{PWN()}}", "{0}", "{}",
    "{variable}", "{name}", "{data.__class__}", "{self}", "{definition}", "}{", "{", "}", "{!r}",
    "{variable.__class__.__mro__}", "{0.__init__.__globals__}", "%s", "%(name)s", "%", "$", "#",
    "# PWN()", "\n", "\r", "\nPWN()\n", "\r\nPWN()", "\n    PWN()", "\tPWN()", "\x00", "\x0c",
    "\x1b", "\x85PWN()", "\u2028PWN()", "\u2029PWN()", "\ufeff", "\u202ePWN", "é", "😀", "ｐｗｎ",
    "'", '"', "`PWN()`", ";PWN()", ")", "(", "]", "[", ":", "=", "lambda: PWN()", "__import__",
    "__builtins__", "__class__", "data", "data['x']", "d0", "P0", "C0", "raise Exhausted",
    "Invalid", "True", "None", "import os", "f'{PWN()}'", "\\N{BULLET}", "\\x41", "\\u0041",
    "\\\n", "a" * 3000, "", " ", "/", "~", "~1", "a/b", "http://[", "urn:'", "\U0010ffff",
]  # fmt: skip
BENIGN = "harmless"

# Every position of a text in a schema.
POSITIONS: dict[str, Any] = {
    "a property": lambda text: {"properties": {text: {"type": "integer"}}},
    "a closed object": lambda text: {"properties": {text: True}, "additionalProperties": False},
    "a required name": lambda text: {"required": [text, "x"]},
    "an enumeration": lambda text: {"enum": [text, 1]},
    "a constant": lambda text: {"const": text},
    "a constant member": lambda text: {"const": {text: [text]}},
    "a pattern": lambda text: {"pattern": text},
    "a pattern of names": lambda text: {"patternProperties": {text: {"type": "string"}}},
    "patterns of no other names": lambda text: {
        "patternProperties": {text: True},
        "additionalProperties": {"type": "null"},
    },
    "a definition": lambda text: {"$defs": {text: {"type": "string"}}},
    "a definition that is used": lambda text: {
        "$ref": "#/$defs/" + text.replace("~", "~0").replace("/", "~1").replace("%", "%25"),
        "$defs": {text: {"type": "string"}},
    },
    "a definition of draft 7": lambda text: {
        "$schema": D07,
        "definitions": {text: {"type": "string"}},
    },
    "a reference": lambda text: {"$ref": text},
    "an identifier": lambda text: {"$id": text, "properties": {"a": {"$ref": "#"}}},
    "an identifier inside": lambda text: {"not": {"$id": text, "type": "string"}},
    "an identifier of draft 4": lambda text: {"$schema": D04, "not": {"id": text, "not": {}}},
    "an anchor": lambda text: {"$anchor": text, "not": {"type": "string"}},
    "a dynamic anchor": lambda text: {"$dynamicAnchor": text},
    "required dependencies": lambda text: {"dependentRequired": {text: [text, "x"]}},
    "schemas of dependencies": lambda text: {"dependentSchemas": {text: {"required": [text]}}},
    "dependencies": lambda text: {"dependencies": {text: [text]}},
    "a format": lambda text: {"format": text},
    "a title": lambda text: {"title": text, "description": text, "$comment": text},
    "a default": lambda text: {"default": text, "examples": [text, {text: text}]},
    "an unknown keyword": lambda text: {text + " ": text, "x-a": {text: text}},
    "an encoding": lambda text: {"contentEncoding": text, "contentMediaType": text},
    "names of properties": lambda text: {"propertyNames": {"enum": [text]}},
    "a branch": lambda text: {"anyOf": [{"enum": [text]}, {"required": [text]}]},
    "a condition": lambda text: {"if": {"const": text}, "then": {"required": [text]}},
    "an unevaluated neighbour": lambda text: {
        "properties": {text: True},
        "unevaluatedProperties": False,
    },
    "a dialect": lambda text: {"$schema": text},
    "a deep place": lambda text: {
        "not": {"not": {"not": {"not": {"not": {"not": {"properties": {text: False}}}}}}}
    },
}
PAYLOADS: list[Any] = [None, 1, "PWN()", [], [1], {}, {"a": 1}, {"x": {}}]


class Executed(Exception):
    """A text of a schema was run."""


@pytest.fixture(autouse=True)
def _tripwire(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_arguments: Any) -> Any:
        raise Executed

    monkeypatch.setattr(builtins, "PWN", run, raising=False)


def code_of(schema: Any) -> ast.Module:
    """Return the syntax tree of the code generated for *schema*."""
    survey = admit_schema(source_of(schema, assert_formats=True), LIMITS).survey
    assert survey is not None
    lowered = lower_schema(survey, lambda _dialect, _name: False)
    schema = {"definitions": lowered.definitions, "$ref": "#/definitions/d0"}
    source: str = VerdictGenerator(schema, [], counted=False).func_code
    return ast.parse(source)


def shape(tree: ast.AST) -> list[str]:
    """Return the nodes of *tree* in order, with all names, and constants by their type."""
    names = []
    for node in ast.walk(tree):
        name = type(node).__name__
        if isinstance(node, ast.Name | ast.FunctionDef):
            name += f" {node.id if isinstance(node, ast.Name) else node.name}"
        if isinstance(node, ast.Constant):
            name += f" {type(node.value).__name__}"
        names.append(name)
    return names


@pytest.mark.slow
@pytest.mark.parametrize(
    "position", [pytest.param(make, id=name) for name, make in POSITIONS.items()]
)
def test_texts_of_schemas_are_never_code(position: Any) -> None:
    """Each compiles to the same code as a harmless one but for its constants, or is rejected."""
    try:
        expected = shape(code_of(position(BENIGN)))
    except RequestError:
        expected = None
    compiles = 0
    for text in HOSTILE:
        schema = position(text)
        try:
            compiled = compile_value(schema, assert_formats=True)
        except RequestError:
            continue
        compiles += 1
        assert compiled.fast is not None
        for payload in [*PAYLOADS, text, {text: text}, {text: 1, "x": [text]}]:
            compiled.fast.is_valid(payload)
        assert expected == shape(code_of(schema)), text

    assert expected is None or compiles > 5


def test_every_constant_of_the_code_is_a_constant_of_the_schema() -> None:
    """A hostile name arrives as it is, and at nothing else."""
    for text in HOSTILE:
        compiled = compile_value({"properties": {text: False}, "required": ["x"]})
        assert compiled.fast is not None
        payloads: list[Any] = [{"x": 1}, {text: 1, "x": 1}, {"y": 1}]
        verdicts = [compiled.fast.is_valid(payload) for payload in payloads]
        assert [text != "x", False, False] == verdicts


@pytest.mark.parametrize(
    ("source", "node"),
    [
        pytest.param("import os", "Import", id="an import"),
        pytest.param("from os import path", "ImportFrom", id="an import from"),
        pytest.param("data.__class__", "Attribute", id="an attribute"),
        pytest.param("data.keys()", "Attribute", id="a method"),
        pytest.param("data.keys() <= data", "Attribute", id="a comparison of names with others"),
        pytest.param("data.keys() < S0", "Attribute", id="another comparison of names"),
        pytest.param("data.keys(S0) <= S0", "Attribute", id="names with an argument"),
        pytest.param("S0 = data", "Name", id="a set of names that is none"),
        pytest.param("S0 = {data}", "Name", id="a set of other things"),
        pytest.param("for S0 in data: pass", "Name", id="a set of names that changes"),
        pytest.param("PWN()", "Name", id="a call of an unknown name"),
        pytest.param("eval('1')", "Name", id="a builtin"),
        pytest.param("__builtins__", "Name", id="the builtins"),
        pytest.param("d0x(data)", "Name", id="nearly a name of its own"),
        pytest.param("data\u00e9 = 1", "Name", id="another name"),
        pytest.param("lambda: 1", "Lambda", id="a lambda"),
        pytest.param("f'{data}'", "JoinedStr", id="an f-string"),
        pytest.param("[data for data in data]", "ListComp", id="a comprehension"),
        pytest.param("{data: 1}", "Dict", id="a dictionary"),
        pytest.param("[1]", "List", id="a list"),
        pytest.param("print", "Name", id="print"),
        pytest.param("isinstance = 1", "Name", id="an assignment to what is called"),
        pytest.param("d0 = data", "Name", id="an assignment to a function"),
        pytest.param("try: pass\nexcept: pass", "ExceptHandler", id="a handler of anything"),
        pytest.param("try: pass\nexcept Invalid as data: pass", "ExceptHandler", id="a named one"),
        pytest.param("@d1\ndef d0(data): pass", "FunctionDef", id="a decorator"),
        pytest.param("def PWN(data): pass", "FunctionDef", id="a function of another name"),
        pytest.param("def d0(data, other): pass", "arg", id="an argument of another name"),
        pytest.param("def d0(data: int): pass", "arg", id="an annotation"),
        pytest.param("def d0(data=1): pass", "arguments", id="a default"),
        pytest.param("def d0(*data): pass", "arguments", id="any number of arguments"),
        pytest.param("def d0(data) -> int: pass", "FunctionDef", id="an annotated return"),
        pytest.param("async def d0(data): pass", "AsyncFunctionDef", id="a coroutine"),
        pytest.param("class d0: pass", "ClassDef", id="a class"),
        pytest.param("while True: pass", "While", id="an unbounded loop"),
        pytest.param("with data: pass", "With", id="a context"),
        pytest.param("global data", "Global", id="a global name"),
        pytest.param("del data", "Delete", id="a deletion"),
        pytest.param("assert data", "Assert", id="an assertion"),
        pytest.param("data * data", "BinOp", id="a product"),
        pytest.param("data ** 9", "BinOp", id="a power"),
        pytest.param("data % 9", "BinOp", id="a format"),
        pytest.param("(data := 1)", "NamedExpr", id="an assignment in an expression"),
        pytest.param("data if data else data", "IfExp", id="a condition in an expression"),
        pytest.param("isinstance(*data)", "Starred", id="unpacked arguments"),
        pytest.param("isinstance(data=1)", "keyword", id="named arguments"),
        pytest.param("def d0(data): yield", "Yield", id="a generator"),
        pytest.param("def d0(data): return data", "Return", id="a result"),
    ],
)
def test_foreign_code_is_not_run(source: str, node: str) -> None:
    """Syntax that the generator does not write is a defect."""
    with pytest.raises(AssertionError, match=f"a disallowed {node}$"):
        check_generated_code(ast.parse(source))


def test_generated_syntax_is_allowed() -> None:
    """One function has all of it."""
    check_generated_code(
        ast.parse(
            "def d0(data, budget):\n"
            "    budget[0] -= 1\n"
            "    if not isinstance(data, dict): raise Invalid\n"
            "    for data_k, data_v in data.items():\n"
            "        try: d1(data_v, budget)\n"
            "        except (JsonSchemaValueException, JsonSchemaValuesException): pass\n"
            "        else: data_c = 1 > -1\n"
            "    if not data.keys() <= S0: raise Invalid\n"
            "S0 = {'a', 'b'}\n"
        )
    )


def test_the_code_crosses_a_process_border() -> None:
    """Marshalled and loaded, it evaluates as before."""
    lowered = LoweredSchema({"d0": {"type": ["string"], "pattern": 0}}, patterns={"^a": 0})
    generated = generate_code(lowered, LIMITS)
    rebuilt = FastCode(
        generated.code,
        generated.patterns,
        generated.formats,
        generated.constants,
        generated.counted,
    )
    engine = FastEngine(rebuilt, "2020-12", LIMITS)

    assert isinstance(marshal.loads(generated.code), CodeType)
    assert [True, False, False] == [engine.is_valid(payload) for payload in ("ab", "b", 1)]
    assert FastCode(generated.code, ("^a",), (), (), True) == generated


def test_code_that_is_too_long_is_not_run() -> None:
    """The complete engine evaluates instead."""
    lowered = LoweredSchema({"d0": {"required": ["a" * 1000]}})

    with pytest.raises(CannotLowerError) as excinfo:
        generate_code(lowered, Limits(code_length=500))
    assert "code longer than the limit" == excinfo.value.reason
