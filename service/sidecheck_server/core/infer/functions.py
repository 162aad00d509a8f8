"""Functions of the source: selection of tools, and options of their decorators."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, Diagnostics, SourceError
from sidecheck_server.core.infer.fields import callee_name
from sidecheck_server.core.infer.literals import LiteralReader
from sidecheck_server.core.infer.scopes import Alias, Scope
from sidecheck_server.core.infer.types import OnUnsupported

__all__ = [
    "DecoratorOptions",
    "SourceFunction",
    "find_functions",
    "read_decorator",
    "select_functions",
]

_TOOL_DECORATORS = frozenset({"tool", "skill_command"})
# The annotations of MCP's Tool, by the names of the decorator's arguments.
_HINTS = {
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
    "read_only": "readOnlyHint",
}
_ANNOTATION_NAMES = {f"{name}_hint": hint for name, hint in _HINTS.items()}
_BOOLEANS = {"autowire": "autowire", "structured_output": "structured_output"}

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class SourceFunction:
    """Function that the source defines."""

    node: _Definition
    #: Qualified name: ``Class.method``, ``outer.inner``.
    name: str
    #: Scope that contains the function.
    scope: Scope

    @property
    def annotation_scope(self) -> Scope:
        """The scope of its annotations, with its type parameters."""
        return self.scope.with_type_parameters(self.node)

    @property
    def decorator(self) -> ast.expr | None:
        """The decorator that marks the function as a tool."""
        return next(filter(_is_tool_decorator, self.node.decorator_list), None)

    @property
    def is_method(self) -> bool:
        """Whether its first parameter is the instance or the class."""
        is_static = any(
            isinstance(decorator, ast.Name) and decorator.id == "staticmethod"
            for decorator in self.node.decorator_list
        )
        return isinstance(self.scope.node, ast.ClassDef) and not is_static


@dataclass(slots=True)
class DecoratorOptions:
    """Options of a decorator that are literals."""

    name: str = ""
    title: str = ""
    #: None for the description of the docstring.
    description: str | None = None
    annotations: dict[str, Any] = field(default_factory=dict)
    input_schema: dict[str, Any] | None = None
    #: Whether results have structured content besides text.
    structured_output: bool = True
    output_schema: dict[str, Any] | None = None
    #: Names of injected parameters.
    injected: set[str] = field(default_factory=set)
    #: Names of types whose parameters are injected.
    injected_types: set[str] = field(default_factory=set)
    #: Whether settings are injected by their types.
    autowire: bool = True
    #: None for the option of the inference.
    on_unsupported: OnUnsupported | None = None


def find_functions(tree: ast.Module) -> list[SourceFunction]:
    """Return all functions of *tree*, nested ones included, in source order."""
    return list(_iterate_functions(Scope(tree)))


def select_functions(
    functions: list[SourceFunction], names: tuple[str, ...]
) -> list[SourceFunction]:
    """Return the functions *names*, or else the tools, or else the public functions."""
    if names:
        return [function for function in functions if function.name in names]
    tools = [function for function in functions if function.decorator is not None]
    return tools or [
        function
        for function in functions
        if isinstance(function.scope.node, ast.Module) and not function.name.startswith("_")
    ]


def _iterate_functions(module: Scope) -> Iterator[SourceFunction]:
    pending: list[tuple[ast.AST, str, Scope]] = [(module.node, "", module)]
    while pending:
        node, prefix, scope = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield SourceFunction(node, f"{prefix}{node.name}", scope)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = scope.with_type_parameters(node)
            prefix, scope = f"{prefix}{node.name}.", inner.child(node)
        # Functions are statements, so expressions contain none.
        children = [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]
        pending.extend((child, prefix, scope) for child in reversed(children))


def _is_tool_decorator(decorator: ast.expr) -> bool:
    """Whether *decorator* marks a tool, by the last part of its name."""
    callee = decorator.func if isinstance(decorator, ast.Call) else decorator
    name = callee.id if isinstance(callee, ast.Name) else getattr(callee, "attr", "")
    return name in _TOOL_DECORATORS


def read_decorator(
    decorator: ast.expr, scope: Scope, literals: LiteralReader, diagnostics: Diagnostics
) -> DecoratorOptions:
    """Return the options of *decorator*.

    Options that are not literals are omitted with warnings.
    """
    options = DecoratorOptions()
    for name, node in _arguments(decorator):
        try:
            _read_option(name, node, scope, literals, options)
        except SourceError as error:
            message = f"the decorator's argument {name} is omitted: {error.message}"
            diagnostics.warn(DiagnosticCode.UNSUPPORTED_SYNTAX, message, node)
    if _has_annotation_title(decorator, scope) and options.title:
        options.annotations = {"title": options.title, **options.annotations}
        options.title = ""
    return options


def _has_annotation_title(decorator: ast.expr, scope: Scope) -> bool:
    """Whether the title in *decorator* is an annotation rather than the tool's title."""
    name = callee_name(decorator, scope)
    return name.startswith("sidecheck.") or name.rpartition(".")[2] == "skill_command"


def _arguments(decorator: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if not isinstance(decorator, ast.Call):
        return
    if decorator.args:
        yield "name", decorator.args[0]
    for keyword in decorator.keywords:
        yield keyword.arg or "**", keyword.value


def _read_option(
    name: str, node: ast.expr, scope: Scope, literals: LiteralReader, options: DecoratorOptions
) -> None:
    if isinstance(node, ast.Constant) and node.value is None:
        return
    if name in ("name", "title", "description"):
        setattr(options, name, literals.read_string(node, scope))
    elif name in _HINTS:
        options.annotations[_HINTS[name]] = _read_boolean(node, scope, literals)
    elif name == "annotations":
        options.annotations |= _read_annotations(node, scope, literals)
    elif name in ("input_schema", "output_schema"):
        setattr(options, name, _read_schema(name, node, scope, literals))
    elif name in _BOOLEANS:
        setattr(options, _BOOLEANS[name], _read_boolean(node, scope, literals))
    elif name == "on_unsupported":
        options.on_unsupported = _read_on_unsupported(node, scope, literals)
    elif name == "injected":
        _add_injected(node, scope, literals, options)
    elif name == "**":
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_SYNTAX, "its keywords are not written out", node
        )
    else:
        options.injected |= _injected_parameters(name, node, scope, literals)


def _read_schema(
    name: str, node: ast.expr, scope: Scope, literals: LiteralReader
) -> dict[str, Any]:
    schema = _read_dictionary(node, scope, literals)
    if name == "input_schema" and schema.get("type") != "object":
        message = 'MCP requires "type": "object" at the root'
        raise SourceError(DiagnosticCode.UNSUPPORTED_SYNTAX, message, node)
    return schema


def _injected_parameters(
    name: str, node: ast.expr, scope: Scope, literals: LiteralReader
) -> set[str]:
    """Return the parameters that the decorator's argument *name* injects."""
    if name == "inject_root" and _read_boolean(node, scope, literals):
        return {"project_root"}
    if name == "inject_settings":
        settings = literals.read(node, scope)
        # The setting git.path is the parameter git_path.
        return {setting.replace(".", "_") for setting in settings or () if isinstance(setting, str)}
    return set()


def _add_injected(
    node: ast.expr, scope: Scope, literals: LiteralReader, options: DecoratorOptions
) -> None:
    """Add the parameter names and types of a list."""
    if not isinstance(node, ast.List | ast.Tuple | ast.Set):
        raise SourceError(DiagnosticCode.UNSUPPORTED_SYNTAX, "expected a list", node)
    for element in node.elts:
        if isinstance(element, ast.Name | ast.Attribute):
            name = element.id if isinstance(element, ast.Name) else element.attr
            options.injected_types.add(name)
        else:
            options.injected.add(literals.read_string(element, scope))


def _read_dictionary(node: ast.expr, scope: Scope, literals: LiteralReader) -> dict[str, Any]:
    value = literals.read(node, scope)
    if not isinstance(value, dict):
        raise SourceError(DiagnosticCode.UNSUPPORTED_SYNTAX, "expected a dictionary", node)
    return value


def _read_boolean(node: ast.expr, scope: Scope, literals: LiteralReader) -> bool:
    value = literals.read(node, scope)
    if not isinstance(value, bool):
        raise SourceError(DiagnosticCode.UNSUPPORTED_SYNTAX, "expected True or False", node)
    return value


def _read_on_unsupported(node: ast.expr, scope: Scope, literals: LiteralReader) -> OnUnsupported:
    value = literals.read(node, scope)
    if value not in ("error", "any"):
        expected = 'expected "error" or "any"'
        raise SourceError(DiagnosticCode.UNSUPPORTED_SYNTAX, expected, node)
    return OnUnsupported(value)


def _read_annotations(node: ast.expr, scope: Scope, literals: LiteralReader) -> dict[str, Any]:
    """Return the annotations in a dictionary or a call of ``ToolAnnotations``.

    *node* may be an alias of these.
    """
    if isinstance(node, ast.Name) and isinstance(binding := scope.resolve(node), Alias):
        node, scope = binding.value, binding.scope
    if isinstance(node, ast.Call):
        if node.args or callee_name(node, scope).rpartition(".")[2] != "ToolAnnotations":
            raise SourceError(
                DiagnosticCode.UNSUPPORTED_SYNTAX, "the result of this call is unknown", node
            )
        annotations = {
            keyword.arg: literals.read(keyword.value, scope)
            for keyword in node.keywords
            if keyword.arg is not None
        }
    else:
        annotations = _read_dictionary(node, scope, literals)
    return {
        _ANNOTATION_NAMES.get(name, name): value
        for name, value in annotations.items()
        if value is not None
    }
