"""Hostile sources: nothing of them runs, and every bound holds."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
import sidecheck_server.core.infer
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.infer.infer import infer_tools
from sidecheck_server.core.infer.types import InferenceOptions
from sidecheck_server.core.limits import Limits
from support.inference import infer
from support.inference_sources import SOURCES
from support.shared_material import REPOSITORY

FOLDER = Path(next(iter(sidecheck_server.core.infer.__path__)))
_FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "getattr_static", "literal_eval"}
_FORBIDDEN_MODULES = {
    "builtins", "codeop", "ctypes", "importlib", "inspect", "io", "os", "pathlib", "pickle",
    "pydantic", "runpy", "subprocess", "types", "typing_extensions",
}  # fmt: skip
# Names of typing and types that describe code and evaluate nothing.
_ALLOWED_NAMES = {
    "typing": {"Any", "Literal", "NamedTuple", "Protocol", "TypeAlias"},
    "types": {"MappingProxyType"},
}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_the_package_cannot_run_a_source(path: Path) -> None:
    """It evaluates and imports nothing, annotations included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
            is_pattern = isinstance(called, ast.Attribute) and ast.unparse(called.value) == "re"
            assert is_pattern or name not in _FORBIDDEN_CALLS
        elif isinstance(node, ast.Import):
            for imported in node.names:
                assert imported.name.partition(".")[0] not in {*_FORBIDDEN_MODULES, *_ALLOWED_NAMES}
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").partition(".")[0]
            names = {imported.name for imported in node.names}
            assert names <= _ALLOWED_NAMES.get(module, names)
            assert module in _ALLOWED_NAMES or module not in _FORBIDDEN_MODULES


def test_the_package_loads_neither_grpc_nor_the_client() -> None:
    """Workers import it, and stay small."""
    script = "import sys, sidecheck_server.core.infer.infer; print('grpc' in sys.modules)"
    script += "; print('sidecheck' in sys.modules)"
    process = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )

    assert ["False", "False"] == process.stdout.split()


@pytest.mark.slow
def test_no_source_runs() -> None:
    """An audit hook sees nothing executed, imported, opened or connected."""
    script = REPOSITORY / "tests" / "support" / "inference_sources.py"
    process = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=600, check=False
    )

    assert "" == process.stderr
    report = json.loads(process.stdout)
    assert [] == report["events"]
    assert report["hooked"]
    assert list(SOURCES) == list(report["sources"])
    slow = {name: row[2] for name, row in report["sources"].items() if row[2] > 30}
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
def test_a_hostile_source_has_diagnostics(name: str, codes: set[str]) -> None:
    """All have one code."""
    assert codes == {diagnostic.code for diagnostic in infer(SOURCES[name]).diagnostics}


def test_an_oversized_source_is_rejected() -> None:
    """It is rejected before it is parsed."""
    with pytest.raises(RequestError) as excinfo:
        infer_tools(b"#" * 262_145, InferenceOptions(), Limits())

    assert ErrorReason.LIMIT_EXCEEDED is excinfo.value.reason
    assert {"bound": "source_bytes", "limit": "262144", "found": "262145"} == excinfo.value.metadata


def test_definitions_are_bounded_together() -> None:
    """Each function may be small."""
    result = infer(SOURCES["a long text in many tools"])

    assert sum(len(tool.json) for tool in result.tools) < 3 << 20
    assert 0 < len(result.tools) < 100
