"""What is said beside a type: `Field(...)`, and the metadata of `Annotated`."""

import ast
from dataclasses import dataclass, field
from typing import Any

from sidecheck_server.core.infer.complaints import Code, Complaint
from sidecheck_server.core.infer.constraints import CONSTRAINTS, Constraint
from sidecheck_server.core.infer.literals import Literals
from sidecheck_server.core.infer.scopes import Alias, Class, Foreign, Known, Meaning, Scope

__all__ = [
    "DECIDING",
    "INJECTING",
    "Info",
    "called_name",
    "read_default",
    "read_metadata",
]


@dataclass(slots=True)
class Info:
    """Everything that is said beside one type."""

    constraints: list[Constraint] = field(default_factory=list)
    #: What stands in the schema as it is: title, description, examples, and more.
    members: dict[str, Any] = field(default_factory=dict)
    #: What describes it and cannot be told.
    left_out: list[Complaint] = field(default_factory=list)
    #: A text that is all by itself in the metadata.
    text: str = ""
    #: The expression of the default, and where its names are looked up.
    default: tuple[ast.expr, Scope] | None = None
    #: Whether a function makes the default, so that it is not known.
    has_factory: bool = False
    alias: str | None = None
    validation_alias: str | None = None
    serialization_alias: str | None = None
    exclude: bool = False
    kw_only: bool = False
    discriminator: str = ""
    #: What Required and NotRequired say.
    required: bool | None = None
    #: Whether the value is injected, which is what `Depends(...)` means.
    injected: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said that matters for the schema."""
        return not (self.constraints or self.members or self.discriminator)

    def name(self, plain: str, *, written: bool) -> str:
        """Return the name under which a field called *plain* is read, or is *written*."""
        chosen = self.serialization_alias if written else self.validation_alias
        return chosen or self.alias or plain


_MEMBERS = frozenset({"deprecated", "description", "examples", "title"})
# What pydantic checks, or does, without telling it in a schema.
_UNTOLD = frozenset(
    {
        "allow_inf_nan", "alias_priority", "ascii_only", "coerce_numbers_to_str",
        "decimal_places", "fail_fast", "frozen", "hash", "init", "max_digits", "metadata",
        "repr", "strict", "strip_whitespace", "to_lower", "to_upper", "union_mode",
        "validate_default", "compare",
    }
)  # fmt: skip
_TEXTS = frozenset({"alias", "discriminator", "serialization_alias", "validation_alias"})
_SWITCHES = frozenset({"exclude", "kw_only"})
_FIELDS = frozenset({"pydantic.Field", "dataclasses.field"})
# The classes of annotated_types, and what their arguments are.
_BOUNDS = {
    "Ge": ("ge",),
    "Gt": ("gt",),
    "Interval": ("gt", "ge", "lt", "le"),
    "Le": ("le",),
    "Len": ("min_length", "max_length"),
    "Lt": ("lt",),
    "MaxLen": ("max_length",),
    "MinLen": ("min_length",),
    "MultipleOf": ("multiple_of",),
}
#: Methods by which a class tells pydantic its schema.
DECIDING = frozenset({"__get_pydantic_core_schema__", "__get_pydantic_json_schema__"})
INJECTING = frozenset({"CurrentContext", "Depends", "Injected", "InjectedToolArg", "Resolve"})


def read_default(node: ast.expr, scope: Scope, info: Info, literals: Literals) -> None:
    """Add to *info* what stands after the ``=`` of a field or a parameter."""
    if isinstance(node, ast.Call):
        name = called_name(node, scope)
        if name in _FIELDS or name.rpartition(".")[2] in ("Field", "field"):
            _look_up(node, scope)
            _read_field(node, scope, info, literals)
            return
        if name.rpartition(".")[2] in INJECTING:
            info.injected = True
            return
    info.default = (node, scope)


def read_metadata(node: ast.expr, scope: Scope, info: Info, literals: Literals) -> None:
    """Add to *info* one of the metadata of `Annotated`; what nobody knows means nothing."""
    if (text := _text(node, scope)) is not None:
        info.text = info.text or literals.text(text, scope)
        return
    name = called_name(node, scope)
    module, _, last = name.rpartition(".")
    if last in INJECTING:
        info.injected = True
    elif name == "pydantic.Field" and isinstance(node, ast.Call):
        _read_field(node, scope, info, literals)
    elif module == "annotated_types" and last in _BOUNDS and isinstance(node, ast.Call):
        for bound, value in _arguments(node, _BOUNDS[last]):
            _constrain(bound, value, scope, info, literals)
    elif name == "pydantic.StringConstraints" and isinstance(node, ast.Call):
        for keyword in node.keywords:
            _keyword(keyword, scope, info, literals)
    elif (module == "pydantic" and last in _CHANGING) or _decides(node, scope):
        raise Complaint(
            Code.UNSUPPORTED_TYPE, f"{last} may change the schema, and is not run", node
        )


def _text(node: ast.expr, scope: Scope) -> ast.expr | None:
    """Return the text that *node* is, or is a name for."""
    if isinstance(node, ast.Name):
        try:
            found = scope.meaning(node)
        except Complaint:
            return None
        node = found.value if isinstance(found, Alias) else node
    return node if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


# Metadata of pydantic that decides the schema, by what it calls or in a way of its own.
_CHANGING = frozenset(
    {
        "Discriminator", "EncodedBytes", "EncodedStr", "GetPydanticSchema", "PlainSerializer",
        "PlainValidator", "Tag", "WithJsonSchema", "WrapSerializer", "WrapValidator",
    }
)  # fmt: skip


def _look_up(node: ast.expr, scope: Scope) -> Meaning | None:
    """Return what *node* calls, or is; None if it is no name.

    Raises:
        Complaint: what it does to the schema is not known here.
    """
    called = node.func if isinstance(node, ast.Call) else node
    if not isinstance(called, ast.Name | ast.Attribute):
        return None
    found = scope.meaning(called)
    if isinstance(found, Foreign):
        raise Complaint(
            Code.UNRESOLVED_NAME,
            f"{found.name} is defined elsewhere, and what it does to the schema is not known here",
            node,
        )
    return found


def _decides(node: ast.expr, scope: Scope) -> bool:
    """Whether *node* is of a class that tells pydantic the schema by code of its own."""
    found = _look_up(node, scope)
    return isinstance(found, Class) and any(
        isinstance(each, ast.FunctionDef) and each.name in DECIDING for each in found.node.body
    )


def called_name(node: ast.expr, scope: Scope) -> str:
    """Return the dotted name of what *node* calls, or is; "" if that is none that is known.

    Of a name that the text does not explain, it is the name as it is written.
    """
    called = node.func if isinstance(node, ast.Call) else node
    if not isinstance(called, ast.Name | ast.Attribute):
        return ""
    try:
        found = scope.meaning(called)
    except Complaint:
        return called.id if isinstance(called, ast.Name) else called.attr
    if isinstance(found, Known):
        return found.name
    return getattr(found, "name", "")


def _arguments(node: ast.Call, names: tuple[str, ...]) -> list[tuple[str, ast.expr]]:
    given = list(zip(names, node.args, strict=False))
    return given + [(each.arg, each.value) for each in node.keywords if each.arg in names]


def _read_field(node: ast.Call, scope: Scope, info: Info, literals: Literals) -> None:
    if len(node.args) > 1 or any(isinstance(each, ast.Starred) for each in node.args):
        raise Complaint(Code.UNSUPPORTED_SYNTAX, "only the default may stand by position", node)
    for given in node.args:
        info.default = (given, scope)
        info.has_factory = False
    for keyword in node.keywords:
        _keyword(keyword, scope, info, literals)


def _keyword(keyword: ast.keyword, scope: Scope, info: Info, literals: Literals) -> None:
    name, node = keyword.arg, keyword.value
    literals.meter.node()
    if name == "default":
        info.default, info.has_factory = (node, scope), False
    elif name == "default_factory":
        info.default, info.has_factory = None, True
    elif name in _UNTOLD or (isinstance(node, ast.Constant) and node.value is None):
        pass
    elif name in CONSTRAINTS:
        _constrain(name, node, scope, info, literals)
    elif name in _TEXTS:
        setattr(info, name, literals.text(node, scope))
    elif name in _SWITCHES:
        setattr(info, name, literals.read(node, scope) is True)
    elif name in _MEMBERS:
        _describe(name, node, scope, info, literals)
    else:
        info.members |= _extra(name, node, scope, literals)


def _describe(name: str, node: ast.expr, scope: Scope, info: Info, literals: Literals) -> None:
    """Add what describes a field, and is no part of what it admits; so it can be left out."""
    try:
        info.members[name] = literals.read(node, scope)
    except Complaint as complaint:
        if complaint.code not in (Code.UNRESOLVED_NAME, Code.UNSUPPORTED_SYNTAX):
            raise
        message = f"the {name} is left out of the schema: {complaint.message}"
        info.left_out.append(Complaint(Code.UNSUPPORTED_SYNTAX, message, node))


def _extra(name: str | None, node: ast.expr, scope: Scope, literals: Literals) -> dict[str, Any]:
    """Return what the argument *name* of a field adds to the schema, a dictionary."""
    extra = literals.read(node, scope) if name == "json_schema_extra" else None
    if not isinstance(extra, dict):
        raise Complaint(
            Code.UNSUPPORTED_SYNTAX,
            f"what {name or 'a dictionary of keywords'} does to the schema is not known here",
            node,
        )
    return extra


def _constrain(name: str, node: ast.expr, scope: Scope, info: Info, literals: Literals) -> None:
    try:
        value = literals.read(node, scope)
    except Complaint:
        # Bounds of dates and times are values that only code makes; no schema tells them.
        value = None
    if value is not None or not isinstance(node, ast.Constant):
        info.constraints.append(Constraint(name, value, node))
