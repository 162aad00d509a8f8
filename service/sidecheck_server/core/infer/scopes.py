"""Scopes: name resolution by the bindings that the source itself contains.

A name with one binding resolves to that binding. A name with several bindings is ambiguous,
since the source is not run.

Type parameters and ``type`` statements (PEP 695) bind names if Python's parser supports them.
Python 3.12 added the nodes (docs.python.org/3/library/ast.html, "ast.TypeAlias", "Type
parameters"); for an older parser they are syntax errors.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from sidecheck_server.core.infer.diagnostics import DiagnosticCode, SourceError
from sidecheck_server.core.infer.known_types import KNOWN_MODULES, canonical_name
from sidecheck_server.core.infer.star_imports import STAR_EXPORTS

__all__ = ["Alias", "Binding", "ClassAttribute", "ForeignName", "KnownName", "Scope", "SourceClass"]

_ALIAS: Any = getattr(ast, "TypeAlias", None)
_TYPE_VARIABLE: Any = getattr(ast, "TypeVar", None)


class _TypeParameter(NamedTuple):
    """A type parameter of a function, a class or an alias."""

    name: str
    #: Whether the parameter is a single type, unlike ``*Ts`` and ``**P``.
    is_variable: bool
    #: Its bound, or the union of its constraints.
    bound: ast.expr | None = None


def _alias_of_statement(node: Any) -> tuple[str, ast.expr] | None:
    """Return the name and the value of ``type NAME = VALUE``; None for other nodes."""
    if _ALIAS is None or not isinstance(node, _ALIAS):
        return None
    return node.name.id, node.value


def _type_parameters(node: ast.AST) -> Iterator[_TypeParameter]:
    """Yield the type parameters of a function, a class or an alias."""
    parameters: list[Any] = getattr(node, "type_params", [])
    for parameter in parameters:
        if _TYPE_VARIABLE is not None and isinstance(parameter, _TYPE_VARIABLE):
            yield _TypeParameter(parameter.name, is_variable=True, bound=_read_bound(parameter))
        else:
            yield _TypeParameter(parameter.name, is_variable=False)


def _read_bound(parameter: Any) -> ast.expr | None:
    bound: ast.expr | None = parameter.bound
    if not isinstance(bound, ast.Tuple) or not bound.elts:
        return bound
    union, *others = bound.elts
    for constraint in others:
        union = ast.copy_location(ast.BinOp(union, ast.BitOr(), constraint), constraint)
    return union


@dataclass(frozen=True, slots=True)
class KnownName:
    """A known module or a name in one, by its canonical dotted name."""

    name: str


@dataclass(frozen=True, slots=True)
class ForeignName:
    """A name imported from an unknown module."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class SourceClass:
    """A class that the source defines, perhaps with type arguments."""

    node: ast.ClassDef
    #: The scope of its bases, which binds its type variables.
    scope: "Scope"
    #: Type arguments as text, or "".
    arguments: str = ""
    #: The classes that *arguments* names.
    argument_classes: tuple[ast.ClassDef, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """Key that is equal for the same class with the same arguments."""
        return self.node, self.arguments, self.argument_classes

    @property
    def name(self) -> str:
        """Its name, with its arguments in brackets."""
        return f"{self.node.name}[{self.arguments}]" if self.arguments else self.node.name

    @property
    def body_scope(self) -> "Scope":
        """The scope of its body."""
        return self.scope.child(self.node)


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for the value of an expression."""

    value: ast.expr
    scope: "Scope"


@dataclass(frozen=True, slots=True)
class ClassAttribute:
    """An attribute of a class, for example a member of an enumeration."""

    owner: SourceClass
    name: str


@dataclass(frozen=True, slots=True)
class _OpaqueBinding:
    """A binding that cannot be a type: a function, a parameter, a loop variable."""

    node: ast.AST


Binding: TypeAlias = KnownName | ForeignName | SourceClass | Alias | ClassAttribute | _OpaqueBinding

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# Expressions with a scope of their own, which bind no names outside of it.
_NESTED_EXPRESSIONS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BUILTINS = frozenset(
    {
        "bool", "bytes", "classmethod", "complex", "dict", "float", "frozenset", "int", "list",
        "object", "property", "set", "staticmethod", "str", "tuple", "type",
    }
)  # fmt: skip
_MAX_ATTRIBUTES = 20


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, a class or a function."""

    node: ast.Module | ast.ClassDef | _Definition
    outer: "Scope | None" = None
    _bindings: dict[str, list[Binding]] | None = None
    _children: dict[ast.AST, "Scope"] = field(default_factory=dict)
    #: Known modules whose names ``import *`` binds.
    _star_imports: list[str] = field(default_factory=list)

    def child(self, node: ast.ClassDef | _Definition) -> "Scope":
        """Return the scope of *node*, a class or function in this scope."""
        return self._children.setdefault(node, Scope(node, self))

    def with_type_parameters(self, node: ast.AST) -> "Scope":
        """Return the scope of *node*, a definition or alias, with its type parameters.

        Without type parameters it is this scope. Unlike the names of a class, they are visible
        in its methods (PEP 695, "Type Parameter Scopes").
        """
        parameters: dict[str, list[Binding]] = {}
        for parameter in _type_parameters(node):
            binding: Binding = _OpaqueBinding(node)
            if parameter.is_variable:
                bound = parameter.bound
                # pydantic reads a variable without an argument as its bound.
                binding = KnownName("typing.Any") if bound is None else Alias(bound, self)
            parameters[parameter.name] = [binding]
        return Scope(ast.Module([], []), self, parameters) if parameters else self

    def with_bindings(self, bindings: dict[str, Binding]) -> "Scope":
        """Return a scope in this one that has *bindings*."""
        lists = {name: [binding] for name, binding in bindings.items()}
        return Scope(ast.Module([], []), self, lists)

    def own_bindings(self, name: str) -> list[Binding]:
        """Return the bindings of *name* in this scope itself, at most two."""
        if self._bindings is None:
            self._bindings = {}
            self._bind_all()
        return self._bindings.get(name, [])

    def resolve(self, node: ast.expr) -> Binding:
        """Return the binding of a name, or of an attribute of a name.

        Raises:
            SourceError: the source does not determine it, or *node* is neither.
        """
        attributes: list[str] = []
        root = node
        while isinstance(root, ast.Attribute) and len(attributes) < _MAX_ATTRIBUTES:
            attributes.append(root.attr)
            root = root.value
        if not isinstance(root, ast.Name):
            raise SourceError(
                DiagnosticCode.UNSUPPORTED_SYNTAX,
                "expected a name or an attribute of a name",
                node,
            )
        binding = self.resolve_name(root.id, root)
        for attribute in reversed(attributes):
            binding = _resolve_attribute(binding, attribute, node)
        if isinstance(binding, KnownName) and binding.name in KNOWN_MODULES:
            raise SourceError(
                DiagnosticCode.UNRESOLVED_NAME, f"{ast.unparse(node)} is a module", node
            )
        return binding

    def resolve_name(self, name: str, node: ast.expr) -> Binding:
        """Return the binding of *name*.

        Raises:
            SourceError: the source does not determine it.
        """
        scope: Scope | None = self
        while scope is not None:
            # The names of a class are not visible in its functions.
            if scope is self or not isinstance(scope.node, ast.ClassDef):
                bindings = scope.own_bindings(name)
                if len(bindings) > 1:
                    raise SourceError(
                        DiagnosticCode.UNRESOLVED_NAME,
                        f"{name} is bound more than once, and the source does not determine "
                        "which binding holds here; bind it once",
                        node,
                    )
                if bindings:
                    return bindings[0]
                if (known := scope.find_star_import(name)) is not None:
                    return known
            scope = scope.outer
        if name in _BUILTINS:
            return KnownName(f"builtins.{name}")
        raise SourceError(
            DiagnosticCode.UNRESOLVED_NAME,
            f"{name} is neither defined in the source nor imported from a known module",
            node,
        )

    def find_star_import(self, name: str) -> KnownName | None:
        """Return what ``import *`` of a known module in this scope binds *name* to."""
        for module in reversed(self._star_imports):
            if name in STAR_EXPORTS[module]:
                return KnownName(canonical_name(f"{module}.{name}"))
        return None

    def _bind_all(self) -> None:
        if not isinstance(self.node, ast.Module | ast.ClassDef):
            arguments = self.node.args
            for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                self._add(parameter.arg, _OpaqueBinding(parameter))
        for node in _binding_nodes(self.node.body):
            self._bind(node)

    def _bind(self, node: ast.AST) -> None:
        """Add the names that *node* itself binds."""
        if isinstance(node, ast.ClassDef):
            self._add(node.name, SourceClass(node, self.with_type_parameters(node)))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._add(node.name, _OpaqueBinding(node))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._bind_import(node)
        elif (alias := _alias_of_statement(node)) is not None:
            self._add(alias[0], Alias(alias[1], self.with_type_parameters(node)))
        elif (name := _assigned_name(node)) is not None:
            value = node.value  # type: ignore[attr-defined]
            # In its class, the default of a field hides the outer binding of the name, but no
            # annotation refers to it as a type.
            is_field = isinstance(node, ast.AnnAssign) and isinstance(self.node, ast.ClassDef)
            if value is not None:
                self._add(name, _OpaqueBinding(node) if is_field else Alias(value, self))
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._add(node.id, _OpaqueBinding(node))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._add(node.name, _OpaqueBinding(node))

    def _add(self, name: str, binding: Binding) -> None:
        assert self._bindings is not None
        bindings = self._bindings.setdefault(name, [])
        # Two bindings suffice to show that the name is ambiguous.
        if len(bindings) < 2 and binding not in bindings:
            bindings.append(binding)

    def _bind_import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias_node in node.names:
                if alias_node.asname:
                    self._add(alias_node.asname, _imported_binding(alias_node.name))
                else:
                    package = alias_node.name.partition(".")[0]
                    self._add(package, _imported_binding(package))
            return
        module = "." * node.level + (node.module or "")
        for alias_node in node.names:
            if alias_node.name == "*" and module in STAR_EXPORTS:
                self._star_imports.append(module)
            elif alias_node.name != "*":
                binding = _imported_binding(f"{module}.{alias_node.name}")
                self._add(alias_node.asname or alias_node.name, binding)


def _imported_binding(dotted: str) -> Binding:
    if dotted in KNOWN_MODULES:
        return KnownName(dotted)
    if dotted.rpartition(".")[0] in KNOWN_MODULES:
        return KnownName(canonical_name(dotted))
    return ForeignName(dotted)


def _resolve_attribute(owner: Binding, name: str, node: ast.expr) -> Binding:
    if isinstance(owner, KnownName):
        return _imported_binding(f"{owner.name}.{name}")
    if isinstance(owner, ForeignName):
        return ForeignName(f"{owner.name}.{name}")
    if isinstance(owner, SourceClass):
        nested = [
            binding
            for binding in owner.body_scope.own_bindings(name)
            if isinstance(binding, SourceClass)
        ]
        return nested[0] if len(nested) == 1 else ClassAttribute(owner, name)
    raise SourceError(
        DiagnosticCode.UNRESOLVED_NAME,
        f"{ast.unparse(node)}: the source does not determine what {name} is",
        node,
    )


def _binding_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield the nodes of *body* that may bind names, without nested scopes."""
    pending: list[ast.AST] = list(reversed(body))
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, (*_SCOPES, *_NESTED_EXPRESSIONS)) or _alias_of_statement(node):
            continue
        if _assigned_name(node) is not None:
            value = node.value  # type: ignore[attr-defined]
            children = [] if value is None else [value]
        else:
            children = list(ast.iter_child_nodes(node))
        pending.extend(reversed(children))


def _assigned_name(node: ast.AST) -> str | None:
    """Return the name bound by an assignment to a single name; None for other nodes."""
    target: ast.expr | None = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AnnAssign):
        target = node.target
    return target.id if isinstance(target, ast.Name) else None
