"""Generic classes: their type variables, and the classes that type arguments make of them.

A class with arguments is the same class in a scope that binds its type variables to them.
Its name is the one that pydantic gives it: `Page[int]`.
"""

import ast
from collections.abc import Iterator

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, SourceError
from sidecheck_server.core.infer.scopes import Alias, KnownName, Scope, SourceClass
from sidecheck_server.core.infer.source import parse_expression
from sidecheck_server.core.infer.unwrapping import known_name, subscript_arguments

__all__ = ["is_type_variable", "specialize_alias", "specialize_class"]

_MAX_DEPTH = 30
_MAX_CHARACTERS = 500
"""Maximum length of the arguments of a class, as text."""
_GENERIC = frozenset({"typing.Generic", "typing.Protocol"})
_UNION = frozenset({"typing.Optional", "typing.Union"})


def is_type_variable(node: ast.expr, scope: Scope) -> bool:
    """Return whether *node* is a call of ``TypeVar``."""
    return isinstance(node, ast.Call) and known_name(node.func, scope) == "typing.TypeVar"


def specialize_class(subject: SourceClass, node: ast.Subscript, scope: Scope) -> SourceClass:
    """Return *subject* with the arguments of *node*, which stands in *scope*.

    Raises:
        SourceError: it has not as many type variables, or the arguments nest too deeply.
    """
    arguments = subscript_arguments(node)
    variables = _variables_of_class(subject)
    if not variables or len(variables) != len(arguments):
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_TYPE,
            f"{subject.node.name} has {len(variables)} type parameters, and {len(arguments)} "
            "arguments",
            node,
        )
    describer = _Describer()
    texts = [describer.describe(argument, scope) for argument in arguments]
    if texts == [f"~{variable}" for variable in variables]:
        return subject  # Its own variables, as in the class itself.
    inner = _bind(variables, arguments, scope, subject.scope)
    return SourceClass(subject.node, inner, ",".join(texts), tuple(describer.classes))


def specialize_alias(alias: Alias, node: ast.Subscript, scope: Scope) -> Alias | None:
    """Return *alias* with the arguments of *node*; None if it has no type variables.

    Raises:
        SourceError: it has not as many type variables.
    """
    arguments = subscript_arguments(node)
    variables = list(dict.fromkeys(_variables_in(alias.value, alias.scope)))
    if not variables:
        return None
    if len(variables) != len(arguments):
        raise SourceError(
            DiagnosticCode.UNSUPPORTED_TYPE,
            f"the type has {len(variables)} type parameters, and {len(arguments)} arguments",
            node,
        )
    return Alias(alias.value, _bind(variables, arguments, scope, alias.scope))


def _bind(names: list[str], arguments: list[ast.expr], scope: Scope, outer: Scope) -> Scope:
    """Return a scope in *outer* that binds *names* to *arguments*, which stand in *scope*."""
    return outer.with_bindings(
        {name: Alias(argument, scope) for name, argument in zip(names, arguments, strict=True)}
    )


def _variables_of_class(subject: SourceClass) -> list[str]:
    """Return the names of the type variables of *subject*, in order."""
    parameters = getattr(subject.node, "type_params", [])
    if parameters:
        return [parameter.name for parameter in parameters]
    bases = [base for base in subject.node.bases if isinstance(base, ast.Subscript)]
    names: list[str] = []
    for base in bases:
        found = list(_variables_in(base.slice, subject.scope))
        if known_name(base.value, subject.scope) in _GENERIC:
            return found
        names += found
    return list(dict.fromkeys(names))


def _variables_in(node: ast.expr, scope: Scope) -> Iterator[str]:
    """Yield the names of the type variables in *node*."""
    pending: list[ast.AST] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Name):
            try:
                binding = scope.resolve(part)
            except SourceError:
                continue
            if isinstance(binding, Alias) and is_type_variable(binding.value, binding.scope):
                yield part.id
        else:
            pending += reversed(list(ast.iter_child_nodes(part)))


class _Describer:
    """Texts of type arguments in pydantic's form, and the classes in them."""

    def __init__(self) -> None:
        #: Their nodes; different classes may have one name.
        self.classes: list[ast.ClassDef] = []

    def describe(self, node: ast.expr, scope: Scope, depth: int = 0) -> str:
        """Return the text of the type *node*.

        Raises:
            SourceError: it nests too deeply, or a name in it is unknown.
        """
        text = "" if depth > _MAX_DEPTH else self._describe(node, scope, depth + 1)
        if depth > _MAX_DEPTH or len(text) > _MAX_CHARACTERS:
            raise SourceError(
                DiagnosticCode.TOO_DEEP, "the arguments of a generic class are too large", node
            )
        return text

    def _describe(self, node: ast.expr, scope: Scope, depth: int) -> str:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                return self.describe(parse_expression(node), scope, depth)
            return "NoneType" if node.value is None else ast.unparse(node)
        if isinstance(node, ast.Name | ast.Attribute):
            return self._describe_name(node, scope, depth)
        if isinstance(node, ast.BinOp):
            return self._describe_union([node.left, node.right], scope, depth)
        if isinstance(node, ast.Subscript):
            return self._describe_generic(node, scope, depth)
        return ast.unparse(node)

    def _describe_name(self, node: ast.Name | ast.Attribute, scope: Scope, depth: int) -> str:
        binding = scope.resolve(node)
        last = node.id if isinstance(node, ast.Name) else node.attr
        if isinstance(binding, Alias):
            if is_type_variable(binding.value, binding.scope):
                return f"~{last}"
            return self.describe(binding.value, binding.scope, depth)
        if isinstance(binding, SourceClass):
            self.classes.append(binding.node)
            return binding.node.name
        if isinstance(binding, KnownName) and binding.name == "builtins.None":
            return "NoneType"
        return last

    def _describe_union(self, nodes: list[ast.expr], scope: Scope, depth: int) -> str:
        branches: list[str] = []
        for node in nodes:
            text = self.describe(node, scope, depth)
            is_nested = text.startswith("Union[") and isinstance(node, ast.BinOp)
            branches += [text[len("Union[") : -1]] if is_nested else [text]
        return f"Union[{', '.join(dict.fromkeys(branches))}]"

    def _describe_generic(self, node: ast.Subscript, scope: Scope, depth: int) -> str:
        name = known_name(node.value, scope)
        arguments = subscript_arguments(node)
        if name == "typing.Literal":
            return f"Literal[{', '.join(map(ast.unparse, arguments))}]"
        if name in _UNION:
            null: list[ast.expr] = [ast.Constant(None)] if name == "typing.Optional" else []
            return self._describe_union([*arguments, *null], scope, depth)
        if name == "typing.Annotated":
            metadata = map(ast.unparse, arguments[1:])
            texts = [self.describe(arguments[0], scope, depth), *metadata]
        else:
            texts = [self.describe(argument, scope, depth) for argument in arguments]
        return f"{self.describe(node.value, scope, depth)}[{', '.join(texts)}]"
