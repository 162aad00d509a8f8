"""Source text: bounds on reading it, and its syntax trees.

Nothing is compiled to bytecode: `ast.parse` only returns the syntax tree.
"""

import ast
import re
import sys
import warnings
from dataclasses import dataclass

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, SourceError
from sidecheck_server.core.limits import spend

__all__ = ["BOUNDS", "Bounds", "Meter", "parse_expression", "parse_source", "split_lines"]

# Line ends of Python source; bytes.splitlines() splits at other characters, too.
_END_OF_LINE = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = "\ufeff"
# The parser accepts the syntax of its own release: `type X = int` is Python since 3.12.
_PARSER_VERSION = (
    f"this server reads the syntax of Python {sys.version_info.major}.{sys.version_info.minor}"
)
_CHARACTERS_PER_STEP = 16

# An unclosed string ends with its line or the source, so that scanning takes linear time.
_STRING_OR_COMMENT = re.compile(
    r"""#[^\n]*|(?P<prefix>[A-Za-z]{0,2})(?:"""
    r"""'{3}(?:[^\\]|\\.|\\\Z)*?(?:'{3}|\Z)|"{3}(?:[^\\]|\\.|\\\Z)*?(?:"{3}|\Z)"""
    r"""|'(?:[^'\\\n]|\\.)*+'?|"(?:[^"\\\n]|\\.)*+"?)""",
    re.DOTALL,
)
# Before 3.12, the parser searches the text of a format string for each of its fields: one
# nanosecond per character. The largest number in a collection of public servers is 70,000.
_MAX_FIELD_SEARCH = 500_000_000


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds on reading one source; `core.limits` bounds its size."""

    #: Nodes of annotations, classes and defaults per tool, counted at each use.
    nodes: int = 20_000
    #: Nodes of annotations, classes and defaults for all tools of a source.
    all_nodes: int = 100_000
    #: Nesting of annotations, of values and of aliases.
    depth: int = 40
    #: Classes per source and mode of schemas.
    classes: int = 200
    #: Fields of a class, members of an enumeration, parameters of a function.
    fields: int = 200
    #: Characters of a qualified function name.
    name_length: int = 1000
    #: Tools per source.
    tools: int = 1000
    #: Size of all definitions together, in bytes.
    definitions_bytes: int = 2 << 20
    #: Bits of an integer. JSON has no bound, but Python limits the digits that it prints.
    integer_bits: int = 1024


BOUNDS = Bounds()


class Meter:
    """Counter of the nodes that are read, per tool and in total."""

    def __init__(self, bounds: Bounds = BOUNDS) -> None:
        self.bounds = bounds
        self._all = [bounds.all_nodes]
        self._tool = [bounds.nodes]

    def start_tool(self) -> None:
        """Restart the count per tool."""
        self._tool = [self.bounds.nodes]

    def count_node(self, text: str | bytes = "") -> None:
        """Count a node, and the *text* that the definition repeats.

        Raises:
            core.limits.Exhausted: a bound is exceeded.
        """
        steps = 1 + len(text) // _CHARACTERS_PER_STEP
        spend(self._tool, steps)
        spend(self._all, steps)

    def check_depth(self, depth: int, node: object) -> None:
        """Check that *node* is not nested too deeply.

        Raises:
            SourceError: TOO_DEEP.
        """
        if depth > self.bounds.depth:
            raise SourceError(
                DiagnosticCode.TOO_DEEP,
                f"nested deeper than {self.bounds.depth} levels, aliases included, or an alias "
                "of itself; use classes, which may refer to themselves, to make it flatter",
                node if hasattr(node, "lineno") else None,  # type: ignore[arg-type]
            )


def split_lines(source: bytes) -> list[bytes]:
    """Return the lines of *source*, without line ends."""
    return _END_OF_LINE.split(source.removeprefix(b"\xef\xbb\xbf"))


def parse_source(source: bytes) -> ast.Module:
    """Return the syntax tree of *source*, which is UTF-8.

    A declaration of another encoding (PEP 263) is a comment like any other.

    Raises:
        SourceError: it is not UTF-8, not Python, or too deeply nested for the parser.
    """
    try:
        decoded = source.decode().removeprefix(_BYTE_ORDER_MARK)
    except UnicodeDecodeError as error:
        lines_before = _END_OF_LINE.split(source[: error.start])
        raise SourceError(
            DiagnosticCode.SYNTAX_ERROR,
            f"byte {error.start} is not UTF-8; the source is read as UTF-8 whatever encoding it "
            "declares",
            _node_at(len(lines_before), len(lines_before[-1])),
        ) from None
    _check_format_strings(decoded)
    tree = _parse(decoded, "exec")
    assert isinstance(tree, ast.Module)
    return tree


def _check_format_strings(text: str) -> None:
    """Check that parsing the format strings in *text* takes bounded time.

    Raises:
        SourceError: TOO_LARGE.
    """
    searched_characters = 0
    for token in _STRING_OR_COMMENT.finditer(text):
        if "f" in (token["prefix"] or "").lower():
            searched_characters += token[0].count("{") * len(token[0])
            if searched_characters > _MAX_FIELD_SEARCH:
                line = text.count("\n", 0, token.start()) + 1
                raise SourceError(
                    DiagnosticCode.TOO_LARGE,
                    "format strings with too many fields; use shorter ones",
                    _node_at(line, 0),
                )


def parse_expression(quoted: ast.Constant) -> ast.expr:
    """Return the expression in a *quoted* annotation, located at the quotes.

    Raises:
        SourceError: it is not an expression, or too deeply nested for the parser.
    """
    try:
        tree = _parse(str(quoted.value).strip(), "eval")
    except SourceError as error:
        raise SourceError(error.code, f"in the quotes: {error.message}", quoted) from None
    assert isinstance(tree, ast.Expression)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            ast.copy_location(node, quoted)
    return tree.body


def _parse(text: str, mode: str) -> ast.AST:
    if "\0" in text:
        # Python reports null bytes without a location.
        lines_before = _END_OF_LINE.split(text.partition("\0")[0].encode("utf-8", "surrogatepass"))
        raise SourceError(
            DiagnosticCode.SYNTAX_ERROR,
            f"not valid Python: contains a null byte; {_PARSER_VERSION}",
            _node_at(len(lines_before), len(lines_before[-1])),
        )
    try:
        with warnings.catch_warnings():
            # The parser warns of invalid escapes and of comparisons with `is`.
            warnings.simplefilter("ignore")
            # For a syntax error, Python opens the named file; no file has the name "".
            # Decision 0038: the source is parsed and never run.
            return ast.parse(text, "", mode)
    except SyntaxError as error:
        raise SourceError(
            DiagnosticCode.SYNTAX_ERROR,
            f"not valid Python: {error.msg}; {_PARSER_VERSION}",
            _node_of_error(text, error),
        ) from None
    except UnicodeEncodeError:  # The text of a quoted annotation may have such an escape.
        raise SourceError(
            DiagnosticCode.SYNTAX_ERROR,
            f"not valid Python: contains a lone surrogate; {_PARSER_VERSION}",
            _node_at(1, 0),
        ) from None
    except (MemoryError, RecursionError):
        raise SourceError(
            DiagnosticCode.TOO_DEEP, "nested too deeply, or too large, for Python's parser", None
        ) from None


def _node_of_error(text: str, error: SyntaxError) -> ast.AST:
    """Return a node at the location of *error*, whose columns count from 1."""
    lines = _END_OF_LINE.split(text.encode())
    line = min(max(error.lineno or 1, 1), len(lines))
    characters = lines[line - 1].decode()
    start = min(max((error.offset or 1) - 1, 0), len(characters))
    end_line = min(max(error.end_lineno or line, line), len(lines))
    end = (error.end_offset or 0) - 1
    if end_line == line:
        end = max(min(end, len(characters)), start)
    return _node_at(
        line,
        len(characters[:start].encode()),
        end_line,
        len(lines[end_line - 1].decode()[: max(end, 0)].encode()),
    )


def _node_at(
    line: int, column: int, end_line: int | None = None, end: int | None = None
) -> ast.AST:
    return ast.Pass(
        lineno=line,
        col_offset=column,
        end_lineno=end_line or line,
        end_col_offset=column if end is None else end,
    )
