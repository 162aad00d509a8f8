"""Parsing: from bytes to a syntax tree, and from a quoted annotation to an expression.

Nothing is compiled: `ast.parse` asks the compiler for its tree alone.
"""

import ast
import re
import sys
import warnings
from dataclasses import dataclass

from sidecheck_server.core.infer.complaints import Code, Complaint

__all__ = ["Text", "parse_expression", "parse_text"]

# What a line of Python source ends with; bytes.splitlines() knows more.
_END_OF_LINE = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = "\ufeff"
# The parser knows the syntax of its own release: `type X = int` is Python since 3.12.
_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, slots=True)
class Text:
    """A source text: its lines in UTF-8, and its tree."""

    lines: list[bytes]
    tree: ast.Module


def lines_of(source: bytes) -> list[bytes]:
    """Return the lines of *source*, without their ends."""
    return _END_OF_LINE.split(source.removeprefix(b"\xef\xbb\xbf"))


def parse_text(source: bytes) -> ast.Module:
    """Return the tree of *source*, which is UTF-8.

    A declaration of another encoding (PEP 263) is a comment like any other.

    Raises:
        Complaint: it is not UTF-8, or not Python, or nested too deeply for the parser.
    """
    try:
        decoded = source.decode().removeprefix(_BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        before = _END_OF_LINE.split(source[: error.start])
        raise Complaint(
            Code.SYNTAX_ERROR,
            f"byte {error.start} is not UTF-8; the text is read as UTF-8 whatever it declares",
            _at(len(before), len(before[-1])),
        ) from None
    tree = _parse(decoded, "exec")
    assert isinstance(tree, ast.Module)
    return tree


def parse_expression(quoted: ast.Constant) -> ast.expr:
    """Return the expression that a *quoted* annotation has, all of it placed at the quotes.

    Raises:
        Complaint: it is not an expression, or nested too deeply for the parser.
    """
    try:
        tree = _parse(str(quoted.value).strip(), "eval")
    except Complaint as complaint:
        raise Complaint(complaint.code, f"in the quotes: {complaint.message}", quoted) from None
    assert isinstance(tree, ast.Expression)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            ast.copy_location(node, quoted)
    return tree.body


def _parse(text: str, mode: str) -> ast.AST:
    if "\0" in text:
        # Of these, Python does not tell the place.
        before = _END_OF_LINE.split(text.partition("\0")[0].encode("utf-8", "surrogatepass"))
        raise Complaint(
            Code.SYNTAX_ERROR,
            f"this is not {_PYTHON}: it has a null byte",
            _at(len(before), len(before[-1])),
        )
    try:
        with warnings.catch_warnings():
            # The parser warns of escapes and of comparisons by `is`, which are nobody's here.
            warnings.simplefilter("ignore")
            # Of an error, Python looks for the line in the file of that name: there is none.
            return ast.parse(text, "", mode)
    except SyntaxError as error:
        raise Complaint(
            Code.SYNTAX_ERROR, f"this is not {_PYTHON}: {error.msg}", _where(text, error)
        ) from None
    except UnicodeEncodeError:  # within quotes, as an escape
        raise Complaint(
            Code.SYNTAX_ERROR, f"this is not {_PYTHON}: it has half of a surrogate pair", _at(1, 0)
        ) from None
    except (MemoryError, RecursionError):
        raise Complaint(
            Code.TOO_DEEP, "this is nested too deeply for Python's own parser", None
        ) from None


def _where(text: str, error: SyntaxError) -> ast.AST:
    """Return a node at the place of *error*, whose columns are in characters from 1."""
    lines = _END_OF_LINE.split(text.encode())
    line = min(max(error.lineno or 1, 1), len(lines))
    shown = lines[line - 1].decode()
    start = min(max((error.offset or 1) - 1, 0), len(shown))
    last = min(max(error.end_lineno or line, line), len(lines))
    end = (error.end_offset or 0) - 1
    if last == line:
        end = max(min(end, len(shown)), start)
    return _at(
        line,
        len(shown[:start].encode()),
        last,
        len(lines[last - 1].decode()[: max(end, 0)].encode()),
    )


def _at(line: int, column: int, end_line: int | None = None, end: int | None = None) -> ast.AST:
    return ast.Pass(
        lineno=line,
        col_offset=column,
        end_lineno=end_line or line,
        end_col_offset=column if end is None else end,
    )
