"""Where in its file a function and its parameters stand."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sidecheck.inference.errors import Diagnostic, InferenceError
from sidecheck.verdicts import Severity

__all__ = ["Placed"]


@dataclass(frozen=True, slots=True)
class Placed:
    """Makes the diagnostics of one function."""

    function: Callable[..., Any]
    #: The function's qualified name.
    name: str

    def error(self, code: str, parameter: str, message: str) -> InferenceError:
        """Return the error that ends the inference of the function."""
        return InferenceError(self._told(code, Severity.ERROR, parameter, message))

    def warning(self, code: str, parameter: str, message: str) -> Diagnostic:
        """Return what is told beside the definition."""
        return self._told(code, Severity.WARNING, parameter, message)

    def _told(self, code: str, severity: Severity, parameter: str, message: str) -> Diagnostic:
        file, line = _place(self.function, parameter)
        return Diagnostic(code, severity, message, self.name, parameter, file, line)


def _place(function: Callable[..., Any], parameter: str) -> tuple[str, int]:
    """Return the file and the line of *parameter*, as near as the source can tell."""
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
            # A decorator's line is the first of the code; that of `def` is the function's.
            return file, first - 1 + _line_within(node, parameter)
    return file, line


def _line_within(node: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str) -> int:
    if parameter == "return" and node.returns is not None:
        return node.returns.lineno
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return next((one.lineno for one in every if one and one.arg == parameter), node.lineno)
