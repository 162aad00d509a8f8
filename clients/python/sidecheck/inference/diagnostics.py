"""Diagnostics of a function, located in its source file."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sidecheck.inference.errors import Diagnostic, InferenceError
from sidecheck.values.verdict import Severity

__all__ = ["FunctionDiagnostics"]


@dataclass(frozen=True, slots=True)
class FunctionDiagnostics:
    """Creates the errors and warnings about one function."""

    function: Callable[..., Any]
    #: Qualified name of the function.
    name: str

    def error(self, code: str, parameter: str, message: str) -> InferenceError:
        """Return the exception that ends the inference of the function."""
        return InferenceError(self._diagnostic(code, Severity.ERROR, parameter, message))

    def warning(self, code: str, parameter: str, message: str) -> Diagnostic:
        """Return a warning."""
        return self._diagnostic(code, Severity.WARNING, parameter, message)

    def _diagnostic(
        self, code: str, severity: Severity, parameter: str, message: str
    ) -> Diagnostic:
        file, line = _locate(self.function, parameter)
        return Diagnostic(code, severity, message, self.name, parameter, file, line)


def _locate(function: Callable[..., Any], parameter: str) -> tuple[str, int]:
    """Return the file and the line of *parameter*, or else of the function."""
    code = getattr(function, "__code__", None)
    if code is None:
        return "", 0
    file, line = code.co_filename, code.co_firstlineno
    try:
        lines, first = inspect.getsourcelines(code)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return file, line
    for node in tree.body[:1]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # The source begins at the first decorator, which may precede the `def`.
            return file, first - 1 + _line_of(node, parameter)
    return file, line


def _line_of(node: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str) -> int:
    if parameter == "return" and node.returns is not None:
        return node.returns.lineno
    signature = node.args
    arguments = [
        *signature.posonlyargs,
        *signature.args,
        *signature.kwonlyargs,
        signature.vararg,
        signature.kwarg,
    ]
    lines = (
        argument.lineno
        for argument in arguments
        if argument is not None and argument.arg == parameter
    )
    return next(lines, node.lineno)
