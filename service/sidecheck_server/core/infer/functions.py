"""Functions: which of a text are tools, and where they stand."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from sidecheck_server.core.infer.decorators import marks_tool
from sidecheck_server.core.infer.scopes import Scope

__all__ = ["Definition", "Found", "chosen", "functions_of"]

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Found:
    """A function of the text."""

    node: Definition
    #: Its name, with those of what it is inside of.
    name: str
    #: Where its annotations are looked up.
    scope: Scope

    @property
    def decorator(self) -> ast.expr | None:
        """The decorator that makes it a tool."""
        return next(filter(marks_tool, self.node.decorator_list), None)

    @property
    def is_method(self) -> bool:
        """Whether its first parameter is the object, or the class, that it is called on."""
        static = any(
            isinstance(each, ast.Name) and each.id == "staticmethod"
            for each in self.node.decorator_list
        )
        return isinstance(self.scope.node, ast.ClassDef) and not static


def functions_of(tree: ast.Module) -> list[Found]:
    """Return all functions of *tree*, at whatever depth, in the order of the text."""
    return list(_inside(Scope(tree)))


def chosen(functions: list[Found], names: tuple[str, ...]) -> list[Found]:
    """Return those called *names*; without names the tools, or else the public functions."""
    if names:
        return [each for each in functions if each.name in names]
    tools = [each for each in functions if each.decorator is not None]
    return tools or [
        each
        for each in functions
        if isinstance(each.scope.node, ast.Module) and not each.name.startswith("_")
    ]


def _inside(module: Scope) -> Iterator[Found]:
    waiting: list[tuple[ast.AST, str, Scope]] = [(module.node, "", module)]
    while waiting:
        node, prefix, scope = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Found(node, f"{prefix}{node.name}", scope)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            prefix, scope = f"{prefix}{node.name}.", scope.within(node)
        # Functions stand among statements; expressions have none.
        inner = [
            each
            for each in ast.iter_child_nodes(node)
            if isinstance(each, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]
        waiting.extend((each, prefix, scope) for each in reversed(inner))
