"""What generated code may consist of; anything else is a defect and is not run."""

import ast
import re

__all__ = ["RUNTIME_NAMES", "refuse_foreign_code"]

RUNTIME_NAMES = frozenset(
    {
        "Exhausted",
        "Invalid",
        "JsonSchemaValueException",
        "JsonSchemaValuesException",
        "all_unique",
        "dict",
        "float",
        "int",
        "is_multiple",
        "isinstance",
        "json_equal",
        "len",
        "list",
        "number_text",
        "str",
    }
)
"""The names that generated code finds at run time, besides its own."""

# Functions, patterns, formats and constants by number, the argument and what is
# derived from it, and the budget of calls.
_OWN_NAME = re.compile(r"(?:[dPFC]\d+|data(?:_[a-z0-9_]+)?|budget)\Z")
_METHODS = frozenset({"items", "is_integer"})
_NODES = (
    ast.Add,
    ast.And,
    ast.Assign,
    ast.Attribute,
    ast.AugAssign,
    ast.BoolOp,
    ast.Call,
    ast.Compare,
    ast.Constant,
    ast.Eq,
    ast.ExceptHandler,
    ast.Expr,
    ast.For,
    ast.FunctionDef,
    ast.Gt,
    ast.GtE,
    ast.If,
    ast.In,
    ast.Is,
    ast.IsNot,
    ast.Load,
    ast.Lt,
    ast.LtE,
    ast.Module,
    ast.Name,
    ast.Not,
    ast.NotEq,
    ast.NotIn,
    ast.Or,
    ast.Pass,
    ast.Raise,
    ast.Set,
    ast.Slice,
    ast.Store,
    ast.Sub,
    ast.Subscript,
    ast.Try,
    ast.Tuple,
    ast.USub,
    ast.UnaryOp,
    ast.arg,
    ast.arguments,
)


def refuse_foreign_code(tree: ast.Module) -> None:
    """Check that *tree* holds nothing but what the generator is meant to write.

    Raises:
        AssertionError: it does not; the schema must not be compiled.
    """
    for node in ast.walk(tree):
        allowed = isinstance(node, _NODES)
        if isinstance(node, ast.Name):
            allowed = node.id in RUNTIME_NAMES or bool(_OWN_NAME.match(node.id))
        elif isinstance(node, ast.FunctionDef):
            allowed = bool(_OWN_NAME.match(node.name)) and not node.decorator_list
        elif isinstance(node, ast.Attribute):
            allowed = node.attr in _METHODS
        elif isinstance(node, ast.arg):
            allowed = node.arg in {"data", "budget"} and node.annotation is None
        if not allowed:
            raise AssertionError(f"generated code holds a foreign {type(node).__name__}")
