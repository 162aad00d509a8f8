"""Nothing of a source ever runs, and nothing in one is beyond a bound."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import sidecheck_server.core.infer
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.infer.inferring import infer_tools
from sidecheck_server.core.infer.words import InferenceOptions
from sidecheck_server.core.limits import Limits
from support.inference_sources import SOURCES
from support.inferring import infer
from support.shared_material import REPOSITORY

FOLDER = Path(next(iter(sidecheck_server.core.infer.__path__)))
_FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "getattr_static", "literal_eval"}
_FORBIDDEN_MODULES = {
    "builtins", "codeop", "ctypes", "importlib", "inspect", "io", "os", "pathlib", "pickle",
    "pydantic", "runpy", "subprocess", "types", "typing_extensions",
}  # fmt: skip
# Of typing and of types, what describes code and makes nothing of a text.
_ALLOWED_NAMES = {
    "typing": {"TYPE_CHECKING", "Any", "TypeAlias"},
    "types": {"MappingProxyType"},
}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_the_package_has_nothing_to_run_a_source_with(path: Path) -> None:
    """Neither what evaluates, nor what imports, nor what evaluates annotations."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            plain = isinstance(called, ast.Attribute) and ast.unparse(called.value) == "re"
            assert plain or name not in _FORBIDDEN_CALLS
        elif isinstance(node, ast.Import):
            for each in node.names:
                assert each.name.partition(".")[0] not in {*_FORBIDDEN_MODULES, *_ALLOWED_NAMES}
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").partition(".")[0]
            names = {each.name for each in node.names}
            assert names <= _ALLOWED_NAMES.get(module, names)
            assert module in _ALLOWED_NAMES or module not in _FORBIDDEN_MODULES


def test_no_source_runs() -> None:
    """An audit hook sees nothing executed, imported, opened or connected."""
    script = REPOSITORY / "tests" / "support" / "inference_sources.py"
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )

    assert "" == done.stderr
    told = json.loads(done.stdout)
    assert [] == told["caught"]
    assert told["hooked"]
    assert list(SOURCES) == list(told["told"])
    slow = {name: row[2] for name, row in told["told"].items() if row[2] > 5}
    assert {} == slow


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        pytest.param("annotation", {"UNSUPPORTED_SYNTAX"}, id="annotation"),
        pytest.param("quoted annotation", {"UNSUPPORTED_SYNTAX"}, id="quoted annotation"),
        pytest.param("default", {"DEFAULT_NOT_JSON"}, id="default"),
        pytest.param("null byte", {"SYNTAX_ERROR"}, id="null byte"),
        pytest.param("no UTF-8", {"SYNTAX_ERROR"}, id="no UTF-8"),
        pytest.param("parentheses", {"SYNTAX_ERROR"}, id="parentheses"),
        pytest.param("signs", {"TOO_DEEP"}, id="signs"),
        pytest.param("nested lists", {"TOO_DEEP"}, id="nested lists"),
        pytest.param("doubling", {"TOO_DEEP"}, id="doubling"),
        pytest.param("a long text many times", {"TOO_LARGE"}, id="a long text many times"),
        pytest.param("chain of classes", {"TOO_LARGE"}, id="chain of classes"),
        pytest.param("diamonds", {"TOO_LARGE"}, id="diamonds"),
        pytest.param("parameters", {"TOO_LARGE"}, id="parameters"),
        pytest.param("a class that is its own base", {"TOO_DEEP"}, id="its own base"),
        pytest.param("hexadecimal digits", {"DEFAULT_NOT_JSON"}, id="hexadecimal digits"),
    ],
)
def test_what_cannot_be_read_is_told(name: str, codes: set[str]) -> None:
    """By one code for each kind of it."""
    assert codes == {one.code for one in infer(SOURCES[name]).diagnostics}


def test_a_text_that_is_too_large_is_refused() -> None:
    """Before it is parsed."""
    with pytest.raises(RequestError) as refused:
        infer_tools(b"#" * 65_537, InferenceOptions(), Limits())

    assert ErrorReason.LIMIT_EXCEEDED is refused.value.reason
    assert {"bound": "source_bytes", "limit": "65536", "found": "65537"} == refused.value.metadata


def test_definitions_are_bounded_together() -> None:
    """However little of the text each takes."""
    found = infer(SOURCES["a long text in many tools"])

    assert sum(len(one.json) for one in found.tools) < 3 << 20
    assert 0 < len(found.tools) < 100
