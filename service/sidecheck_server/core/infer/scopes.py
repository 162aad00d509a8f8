"""Scopes: what a name of the text means, by what the text binds it to.

A name that is bound once can be known; of one that is bound in several ways, nobody can
tell without running the text.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.known import KNOWN_MODULES, canonical

__all__ = ["Alias", "Class", "Foreign", "Function", "Known", "Meaning", "Member", "Scope"]


@dataclass(frozen=True, slots=True)
class Known:
    """A name of a known module, by its one dotted name; or such a module."""

    name: str


@dataclass(frozen=True, slots=True)
class Foreign:
    """A name that is imported from a module that is not known."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Class:
    """A class of the text."""

    node: ast.ClassDef
    scope: "Scope"

    @property
    def inside(self) -> "Scope":
        """The scope of its body."""
        return self.scope.within(self.node)


@dataclass(frozen=True, slots=True)
class Alias:
    """A name for the value of an expression."""

    value: ast.expr
    scope: "Scope"


@dataclass(frozen=True, slots=True)
class Member:
    """A name of a class, for example a member of an enumeration."""

    owner: Class
    name: str


@dataclass(frozen=True, slots=True)
class Function:
    """A name that is bound, but to nothing that could be a type: a function, a loop's name."""

    node: ast.AST


Meaning: TypeAlias = Known | Foreign | Class | Alias | Member | Function

_Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# What has names of its own, and binds none outside.
_CLOSED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BUILTINS = frozenset(
    {
        "bool", "bytes", "classmethod", "complex", "dict", "float", "frozenset", "int", "list",
        "object", "property", "set", "staticmethod", "str", "tuple", "type",
    }
)  # fmt: skip
_LONGEST_CHAIN = 20


@dataclass(slots=True, eq=False)
class Scope:
    """The names of a module, a class or a function."""

    node: ast.Module | ast.ClassDef | _Definition
    outer: "Scope | None" = None
    _bound: dict[str, list[Meaning]] | None = None
    _within: dict[ast.AST, "Scope"] = field(default_factory=dict)

    def within(self, node: ast.ClassDef | _Definition) -> "Scope":
        """Return the scope of *node*, which stands in this one."""
        return self._within.setdefault(node, Scope(node, self))

    def own(self, name: str) -> list[Meaning]:
        """Return what this scope itself binds *name* to."""
        if self._bound is None:
            self._bound = {}
            self._bind()
        return self._bound.get(name, [])

    def meaning(self, node: ast.expr) -> Meaning:
        """Return what a name, or an attribute of one, means here.

        Raises:
            Complaint: the text alone does not tell, or *node* is neither.
        """
        names: list[str] = []
        at = node
        while isinstance(at, ast.Attribute) and len(names) < _LONGEST_CHAIN:
            names.append(at.attr)
            at = at.value
        if not isinstance(at, ast.Name):
            raise Complaint(
                Code.UNSUPPORTED_SYNTAX,
                "only a name, or an attribute of a name, can be looked up here",
                node,
            )
        found = self.look_up(at.id, at)
        for name in reversed(names):
            found = _attribute(found, name, node)
        if isinstance(found, Known) and found.name in KNOWN_MODULES:
            raise Complaint(Code.UNRESOLVED_NAME, f"{ast.unparse(node)} is a module", node)
        return found

    def look_up(self, name: str, node: ast.expr) -> Meaning:
        """Return what *name* means here.

        Raises:
            Complaint: the text alone does not tell.
        """
        scope: Scope | None = self
        while scope is not None:
            # Functions do not see the names of the class that they stand in.
            if scope is self or not isinstance(scope.node, ast.ClassDef):
                found = scope.own(name)
                if len(found) > 1:
                    raise Complaint(
                        Code.UNRESOLVED_NAME,
                        f"{name} is bound more than once, and the text alone does not tell "
                        "which of them holds here; bind it once",
                        node,
                    )
                if found:
                    return found[0]
            scope = scope.outer
        if name in _BUILTINS:
            return Known(f"builtins.{name}")
        raise Complaint(
            Code.UNRESOLVED_NAME,
            f"{name} is neither defined in the text nor imported from a module that is known",
            node,
        )

    def _bind(self) -> None:
        assert self._bound is not None
        if not isinstance(self.node, ast.Module | ast.ClassDef):
            arguments = self.node.args
            for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                self._add(each.arg, Function(each))
        for node in _statements(self.node.body):
            self._bind_by(node)

    def _bind_by(self, node: ast.AST) -> None:
        """Add the names that *node* itself binds."""
        if isinstance(node, ast.ClassDef):
            self._add(node.name, Class(node, self))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            self._add(node.name, Function(node))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node)
        elif (name := _assigned(node)) is not None:
            value = node.value  # type: ignore[attr-defined]
            # The default of a field hides, in its class, what the name means outside; no
            # type is meant by it.
            is_field = isinstance(node, ast.AnnAssign) and isinstance(self.node, ast.ClassDef)
            if value is not None:
                self._add(name, Function(node) if is_field else Alias(value, self))
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            self._add(node.id, Function(node))
        elif isinstance(node, ast.ExceptHandler) and node.name:
            self._add(node.name, Function(node))

    def _add(self, name: str, meaning: Meaning) -> None:
        assert self._bound is not None
        found = self._bound.setdefault(name, [])
        # Two are enough to tell that it is not known which.
        if len(found) < 2 and meaning not in found:
            found.append(meaning)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for each in node.names:
                if each.asname:
                    self._add(each.asname, _imported(each.name))
                else:
                    self._add(each.name.partition(".")[0], _imported(each.name.partition(".")[0]))
            return
        module = "." * node.level + (node.module or "")
        for each in node.names:
            if each.name != "*":
                self._add(each.asname or each.name, _imported(f"{module}.{each.name}"))


def _imported(dotted: str) -> Meaning:
    if dotted in KNOWN_MODULES:
        return Known(dotted)
    if dotted.rpartition(".")[0] in KNOWN_MODULES:
        return Known(canonical(dotted))
    return Foreign(dotted)


def _attribute(of: Meaning, name: str, node: ast.expr) -> Meaning:
    if isinstance(of, Known):
        return _imported(f"{of.name}.{name}")
    if isinstance(of, Foreign):
        return Foreign(f"{of.name}.{name}")
    if isinstance(of, Class):
        nested = [found for found in of.inside.own(name) if isinstance(found, Class)]
        return nested[0] if len(nested) == 1 else Member(of, name)
    raise Complaint(
        Code.UNRESOLVED_NAME,
        f"{ast.unparse(node)}: the text alone does not tell what {name} is",
        node,
    )


def _statements(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield what binds names in *body*, but nothing of scopes inside of it."""
    waiting: list[ast.AST] = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (*_SCOPES, *_CLOSED)):
            continue
        if _assigned(node) is not None:
            value = node.value  # type: ignore[attr-defined]
            inner = [] if value is None else [value]
        else:
            inner = list(ast.iter_child_nodes(node))
        waiting.extend(reversed(inner))


def _assigned(node: ast.AST) -> str | None:
    """Return the one name that an assignment binds; None for whatever else."""
    target: ast.expr | None = None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AnnAssign):
        target = node.target
    return target.id if isinstance(target, ast.Name) else None
