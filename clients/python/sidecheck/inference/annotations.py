"""Annotations as types: names looked up where the function was written."""

import builtins
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import typing_extensions
from pydantic import BeforeValidator

__all__ = ["Scope", "contained", "underlying"]

# Called with names that are not known before.
_typed_dict: Any = typing_extensions.TypedDict


@dataclass(frozen=True, slots=True)
class Scope:
    """The names that a function's annotations may use.

    Those of its module, of the functions around it as far as it holds on to them, and
    of the frame in which it was made a tool.
    """

    globals: Mapping[str, Any]
    names: Mapping[str, Any]
    _rebuilt: dict[type, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, function: Callable[..., Any], frame: types.FrameType | None) -> "Scope":
        """Return the scope of *function*, made a tool in *frame*."""
        innermost = inspect.unwrap(function)
        module = getattr(innermost, "__globals__", {})
        names: dict[str, Any] = {}
        for one in reversed(list(_frames(frame))):
            names.update(one.f_locals)
        # A frame that did not define the function only adds to the names of its module.
        inside = "." in getattr(innermost, "__qualname__", "")
        if frame is not None and not (inside and frame.f_globals is module):
            names = {name: one for name, one in names.items() if name not in module}
            names = {name: one for name, one in names.items() if not hasattr(builtins, name)}
        names.update(_closure(innermost))
        return cls(module, names)

    def resolve(self, annotation: Any) -> Any:
        """Return the type that *annotation* means, with all its metadata.

        Raises:
            NameError: A name in it is not known.
            SyntaxError, TypeError, AttributeError: It is no annotation.
        """
        holder = types.SimpleNamespace(__annotations__={"it": annotation})
        hints = get_type_hints(holder, dict(self.globals), dict(self.names), include_extras=True)
        return self._modern(hints["it"])

    def _modern(self, annotation: Any) -> Any:
        """Return *annotation* as pydantic reads it.

        Each ``typing.TypedDict`` is one of typing_extensions: before Python 3.12, pydantic
        takes no others, for the standard library's do not keep what it needs of their
        bases. Literals read the values of the members that they name.
        """
        if _is_old_typed_dict(annotation):
            return self._rebuild(annotation)
        origin, given = get_origin(annotation), get_args(annotation)
        if origin is Literal:
            return _by_values(annotation)
        if origin is None or not given:
            return annotation
        if origin is Annotated:
            bare = self._modern(given[0])
            return annotation if bare is given[0] else Annotated[(bare, *given[1:])]
        inner = tuple(self._modern(one) if _is_type(one) else one for one in given)
        if all(one is other for one, other in zip(given, inner, strict=True)):
            return annotation
        if origin in {Union, types.UnionType}:
            return functools.reduce(lambda one, other: Union[one, other], inner)
        if isinstance(annotation, types.GenericAlias):
            return types.GenericAlias(origin, inner)
        return annotation.copy_with(inner)

    def _rebuild(self, old: Any) -> Any:
        if old not in self._rebuilt:
            new: Any = _typed_dict(old.__name__, {})
            self._rebuilt[old] = new
            hints = get_type_hints(old, localns=dict(self.names), include_extras=True)
            new.__annotations__ = {name: self._modern(one) for name, one in hints.items()}
            for told in ("__required_keys__", "__optional_keys__", "__total__"):
                setattr(new, told, getattr(old, told))
            for told in ("__module__", "__qualname__", "__doc__", "__pydantic_config__"):
                if told in vars(old):
                    setattr(new, told, vars(old)[told])
        return self._rebuilt[old]


def _is_type(value: Any) -> bool:
    return isinstance(value, type) or get_origin(value) is not None


def _by_values(literal: Any) -> Any:
    """Return *literal* so that the values of the members in it mean those members.

    pydantic writes the values into the schema, but takes the members alone.
    """
    given = get_args(literal)
    members = {(type(one.value), one.value): one for one in given if isinstance(one, Enum)}
    if not members:
        return literal

    def member(value: Any) -> Any:
        key = (type(value), value)
        return members.get(key, value) if isinstance(value, str | int) else value

    return Annotated[literal, BeforeValidator(member)]


def _is_old_typed_dict(annotation: Any) -> bool:
    if sys.version_info >= (3, 12):
        return False
    # A class statement makes it with the metaclass of the module that it comes from.
    return typing_extensions.is_typeddict(annotation) and type(annotation).__module__ == "typing"


def _frames(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    """Yield *frame* and, if it is the body of a class, those around it."""
    while frame is not None:
        yield frame
        if "__qualname__" not in frame.f_locals or "__module__" not in frame.f_locals:
            return
        frame = frame.f_back


def _closure(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    code = getattr(function, "__code__", None)
    for name, cell in zip(
        code.co_freevars if code else (), getattr(function, "__closure__", None) or (), strict=False
    ):
        try:
            yield name, cell.cell_contents
        except ValueError:  # what it holds has not been assigned yet
            continue


def underlying(annotation: Any) -> Any:
    """Return the class that *annotation* is about: without metadata, ``None``, parameters."""
    if get_origin(annotation) is Annotated:
        return underlying(get_args(annotation)[0])
    if get_origin(annotation) in {Union, types.UnionType}:
        given = [one for one in get_args(annotation) if one is not types.NoneType]
        return underlying(given[0]) if len(given) == 1 else annotation
    return get_origin(annotation) or annotation


def contained(annotation: Any) -> Iterator[Any]:
    """Yield *annotation* and what it is made of, but not the fields of classes."""
    yield annotation
    if get_origin(annotation) is not Literal:
        for one in get_args(annotation):
            yield from contained(one)
