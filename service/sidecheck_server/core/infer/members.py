"""Members: the fields that a class of the text declares, or inherits from others in it."""

import ast
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from sidecheck_server.core.infer.bounds import Meter
from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.enumerations import ENUMERATIONS
from sidecheck_server.core.infer.fields import DECIDING, Info, called_name
from sidecheck_server.core.infer.scopes import Class, Foreign, Known, Scope

if TYPE_CHECKING:
    from sidecheck_server.core.infer.annotations import Types

__all__ = ["ClassKind", "Declared", "Reader", "bases_of", "kind_of"]


class ClassKind(StrEnum):
    """What a class is to pydantic."""

    MODEL = "a model"
    ROOT = "a root model"
    DATACLASS = "a dataclass"
    TYPED_DICT = "a typed dictionary"
    NAMED_TUPLE = "a named tuple"
    ENUMERATION = "an enumeration"


@dataclass(frozen=True, slots=True)
class Declared:
    """One field."""

    name: str
    annotation: ast.expr
    scope: Scope
    default: ast.expr | None = None
    keyword_only: bool = False
    #: Of a typed dictionary: whether the field must be there if its type does not say.
    total: bool | None = None
    docstring: str = ""


_KINDS = {
    "pydantic.BaseModel": ClassKind.MODEL,
    "pydantic.RootModel": ClassKind.ROOT,
    "typing.NamedTuple": ClassKind.NAMED_TUPLE,
    "typing.TypedDict": ClassKind.TYPED_DICT,
    **dict.fromkeys(ENUMERATIONS, ClassKind.ENUMERATION),
}
_DATACLASSES = frozenset({"dataclasses.dataclass", "pydantic.dataclasses.dataclass"})
# Bases that add nothing to the schema.
_SILENT = frozenset(
    {"abc.ABC", "builtins.float", "builtins.int", "builtins.object", "builtins.str"}
)
_LONGEST_LINE = 20


def decorated_as_dataclass(subject: Class) -> ast.expr | None:
    """Return the decorator that makes *subject* a dataclass."""
    for decorator in subject.node.decorator_list:
        if called_name(decorator, subject.scope) in _DATACLASSES:
            return decorator
    return None


def bases_of(subject: Class) -> list[Class]:
    """Return the bases of *subject* that the text defines."""
    found = []
    for base in subject.node.bases:
        if isinstance(base, ast.Name | ast.Attribute):
            meaning = subject.scope.meaning(base)
            if isinstance(meaning, Class):
                found.append(meaning)
    return found


def kind_of(subject: Class, meter: Meter, generation: int = 0) -> ClassKind:
    """Return what *subject* is.

    Raises:
        Complaint: it is nothing that has a schema, or has a base from elsewhere.
    """
    meter.node()
    if generation > _LONGEST_LINE:
        raise Complaint(
            Code.TOO_DEEP, f"more than {_LONGEST_LINE} classes inherit in a line", subject.node
        )
    kinds: list[ClassKind] = []
    for base in subject.node.bases:
        kinds += _kind_by(base, subject, meter, generation)
    if decorated_as_dataclass(subject) is not None:
        kinds.append(ClassKind.DATACLASS)
    if len(set(kinds)) == 1:
        return kinds[0]
    what = (
        f"{subject.node.name} is a plain class, which has no schema; a dataclass or a BaseModel "
        "has one"
        if not kinds
        else f"{subject.node.name} is {' and '.join(sorted(set(kinds)))} at once"
    )
    raise Complaint(Code.UNSUPPORTED_TYPE, what, subject.node)


def _kind_by(base: ast.expr, subject: Class, meter: Meter, generation: int) -> list[ClassKind]:
    named = base.value if isinstance(base, ast.Subscript) else base
    if not isinstance(named, ast.Name | ast.Attribute):
        raise Complaint(Code.UNSUPPORTED_SYNTAX, "a base must be a name", base)
    found = subject.scope.meaning(named)
    if isinstance(found, Class) and named is base:
        return [kind_of(found, meter, generation + 1)]
    if isinstance(found, Known):
        if found.name in _SILENT and named is base:
            return []
        kind_known = _KINDS.get(found.name)
        if kind_known and (named is base or kind_known is ClassKind.ROOT):
            return [kind_known]
    if isinstance(found, Foreign):
        raise Complaint(
            Code.UNRESOLVED_NAME,
            f"the base {found.name} is defined elsewhere, and its fields are not known here",
            base,
        )
    raise Complaint(
        Code.UNSUPPORTED_TYPE, f"classes with the base {ast.unparse(named)} are not read", base
    )


class Reader:
    """Reads the fields of classes of one kind."""

    def __init__(self, types: "Types", kind: ClassKind) -> None:
        self._types = types
        self._kind = kind

    def fields(self, subject: Class) -> dict[str, Declared]:
        """Return the fields of *subject*, those of its bases first.

        Raises:
            Complaint: the text alone does not tell.
        """
        self._types.meter.node()
        found: dict[str, Declared] = {}
        for base in reversed(bases_of(subject)):
            for name, inherited in self.fields(base).items():
                if name in found and found[name] != inherited:
                    raise Complaint(
                        Code.UNSUPPORTED_TYPE,
                        f"two bases declare {name}; declare it in the class itself",
                        subject.node,
                    )
                found[name] = inherited
        # A class below a dataclass, but without the decorator, has the fields of that alone.
        if self._kind is not ClassKind.DATACLASS or decorated_as_dataclass(subject) is not None:
            self._add_own(subject, found)
        bound = self._types.meter.bounds.fields
        if len(found) > bound:
            raise Complaint(Code.TOO_LARGE, f"a class of more than {bound} fields", subject.node)
        return found

    def _add_own(self, subject: Class, found: dict[str, Declared]) -> None:
        keyword_only = self._says(subject, "kw_only", default=False)
        total: bool | None = None
        if self._kind is ClassKind.TYPED_DICT:
            total = self._says(subject, "total", default=True)
        body = subject.node.body
        for statement, following in zip(body, [*body[1:], None], strict=True):
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._check_method(statement, subject)
            elif isinstance(statement, ast.Assign):
                self._check_assignment(statement)
            elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                annotation = self._annotation(statement, subject)
                if annotation is None:
                    continue
                if self._types.known(annotation, subject.inside) == "dataclasses.KW_ONLY":
                    keyword_only = True
                    continue
                name = statement.target.id
                found[name] = Declared(
                    name,
                    annotation,
                    subject.inside,
                    statement.value,
                    self._keyword_only(statement.value, subject.inside, keyword_only),
                    total,
                    _docstring(following),
                )

    def _annotation(self, statement: ast.AnnAssign, subject: Class) -> ast.expr | None:
        """Return the type of a field; None for what is none."""
        assert isinstance(statement.target, ast.Name)
        name = statement.target.id
        models = (ClassKind.MODEL, ClassKind.ROOT)
        if name == "model_config" or (self._kind in models and name.startswith("_")):
            return None
        if self._kind is ClassKind.TYPED_DICT:
            return statement.annotation
        node, scope, _ = self._types.peel(statement.annotation, subject.inside, 0, Info())
        head = node.value if isinstance(node, ast.Subscript) else node
        known = self._types.known(head, scope)
        if known == "typing.ClassVar":
            return None
        if known in ("typing.Final", "dataclasses.InitVar") and isinstance(node, ast.Subscript):
            return node.slice
        return statement.annotation

    def _keyword_only(self, default: ast.expr | None, scope: Scope, otherwise: bool) -> bool:  # noqa: FBT001
        if self._kind is not ClassKind.DATACLASS or not isinstance(default, ast.Call):
            return otherwise and self._kind is ClassKind.DATACLASS
        for keyword in default.keywords:
            if keyword.arg == "kw_only":
                return self._types.literals.read(keyword.value, scope) is True
        return otherwise

    def _says(self, subject: Class, name: str, *, default: bool) -> bool:
        decorator = decorated_as_dataclass(subject)
        given = [*subject.node.keywords]
        if isinstance(decorator, ast.Call):
            given += decorator.keywords
        for keyword in given:
            if keyword.arg == name:
                return self._types.literals.read(keyword.value, subject.scope) is True
        return default

    def _check_assignment(self, statement: ast.Assign) -> None:
        if self._kind not in (ClassKind.MODEL, ClassKind.ROOT):
            return
        for target in statement.targets:
            name = target.id if isinstance(target, ast.Name) else "_"
            if not name.startswith("_") and name != "model_config":
                raise Complaint(
                    Code.UNSUPPORTED_SYNTAX, f"{name} of a model needs a type, or ClassVar", target
                )

    def _check_method(self, method: ast.FunctionDef | ast.AsyncFunctionDef, subject: Class) -> None:
        """Complain of a method that decides the schema."""
        if method.name in DECIDING:
            raise Complaint(
                Code.UNSUPPORTED_TYPE, f"{method.name} decides the schema, and is not run", method
            )
        for decorator in method.decorator_list:
            name = called_name(decorator, subject.scope)
            modes = [
                keyword.value.value
                for keyword in getattr(decorator, "keywords", ())
                if keyword.arg == "mode" and isinstance(keyword.value, ast.Constant)
            ]
            writes = name in _WRITERS and self._types.written
            reads = name in _VALIDATORS and not self._types.written and modes == ["plain"]
            if writes or reads:
                raise Complaint(
                    Code.UNSUPPORTED_TYPE,
                    f"{name.rpartition('.')[2]} decides the schema, and is not run",
                    decorator,
                )


_WRITERS = frozenset(
    {"pydantic.computed_field", "pydantic.field_serializer", "pydantic.model_serializer"}
)
_VALIDATORS = frozenset({"pydantic.field_validator", "pydantic.model_validator"})


def _docstring(statement: ast.stmt | None) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        value = statement.value.value
        if isinstance(value, str):
            return value.strip()
    return ""
