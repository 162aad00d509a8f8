"""Allow-list for the syntax tree of generated code.

Any other node is a defect of the generator, and the code is never run.
"""

import ast
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

__all__ = ["RUNTIME_NAMES", "check_generated_code"]

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
"""The names of the runtime that generated code may use."""

# Numbered functions, patterns, formats, constants and sets of names; the argument and
# variables derived from it; the budget.
_OWN_NAME = re.compile(r"(?:[dPFCS]\d+|data(?:_[a-z0-9_]+)?|budget)\Z")
_SET = re.compile(r"S\d+\Z")
_METHODS = frozenset({"items", "is_integer"})
_NODES = frozenset(
    {
        ast.Add,
        ast.And,
        ast.Assign,
        ast.Attribute,
        ast.AugAssign,
        ast.BinOp,
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
        ast.Mult,
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
    }
)


def _is_known_name(node: ast.Name) -> bool:
    if isinstance(node.ctx, ast.Store):
        return node.id.startswith("data_") and bool(_OWN_NAME.match(node.id))
    return node.id in RUNTIME_NAMES or bool(_OWN_NAME.match(node.id))


def _is_plain_function(node: ast.FunctionDef) -> bool:
    return bool(_OWN_NAME.match(node.name)) and not node.decorator_list and node.returns is None


def _are_plain_arguments(node: ast.arguments) -> bool:
    others = (node.posonlyargs, node.kwonlyargs, node.defaults, node.kw_defaults)
    return not any(others) and node.vararg is None and node.kwarg is None


def _is_loop_charge(node: ast.BinOp) -> bool:
    return (
        isinstance(node.op, ast.Mult)
        and isinstance(node.left, ast.Call)
        and isinstance(node.left.func, ast.Name)
        and node.left.func.id == "len"
        and isinstance(node.right, ast.Constant)
        and isinstance(node.right.value, int)
    )


def _find_contextual_node(node: ast.AST) -> ast.AST | None:
    """Return the part of *node* that is allowed only in this context, or None.

    That is the method in ``data.keys() <= S0``, and the name in ``S0 = {'a', 'b'}``.
    """
    match node:
        case ast.Compare(
            left=ast.Call(func=ast.Attribute(value=ast.Name(), attr="keys") as method, args=[]),
            ops=[ast.LtE()],
            comparators=[ast.Name(id=name)],
        ) if _SET.match(name):
            return method
        case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Set(elts=names)) if (
            _SET.match(name) and all(isinstance(element, ast.Constant) for element in names)
        ):
            return target
    return None


_CONDITIONS: Mapping[type[ast.AST], Callable[[Any], bool]] = MappingProxyType(
    {
        ast.Name: _is_known_name,
        ast.FunctionDef: _is_plain_function,
        ast.arguments: _are_plain_arguments,
        ast.arg: lambda node: node.arg in {"data", "budget"} and node.annotation is None,
        ast.BinOp: _is_loop_charge,
        ast.Attribute: lambda node: node.attr in _METHODS,
        ast.ExceptHandler: lambda node: node.name is None and node.type is not None,
    }
)
"""Additional conditions on some of the allowed nodes."""


def check_generated_code(tree: ast.Module) -> None:
    """Check that *tree* consists only of allowed nodes.

    Raises:
        AssertionError: another node occurs; the schema must not be compiled.
    """
    nodes = list(ast.walk(tree))
    contextual_nodes = {
        id(_find_contextual_node(node))
        for node in nodes
        if isinstance(node, ast.Assign | ast.Compare)
    }
    for node in nodes:
        kind = type(node)
        condition = _CONDITIONS.get(kind)
        if kind in _NODES and (condition is None or condition(node)):
            continue
        if id(node) not in contextual_nodes:
            raise AssertionError(f"generated code has a disallowed {kind.__name__}")
