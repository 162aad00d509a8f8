"""Annotations of functions, resolved to types in the scope of their definition."""

import builtins
import functools
import inspect
import sys
import types
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
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

__all__ = ["Scope", "collected_type", "nested_types", "underlying_class"]

_ITERATORS = frozenset({AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterator})

# Typed as Any, since type checkers reject names that are not literals.
_typed_dict: Any = typing_extensions.TypedDict


@dataclass(frozen=True, slots=True)
class Scope:
    """Names that a function's annotations may use.

    These are the names of its module, the closure variables of enclosing functions, and the
    names of the frame that makes the function a tool.
    """

    globals: Mapping[str, Any]
    names: Mapping[str, Any]
    _converted: dict[type, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, function: Callable[..., Any], frame: types.FrameType | None) -> "Scope":
        """Return the scope of *function*, which the code in *frame* makes a tool."""
        innermost = inspect.unwrap(function)
        module = getattr(innermost, "__globals__", {})
        names: dict[str, Any] = {}
        for enclosing in reversed(list(_frames(frame))):
            names.update(enclosing.f_locals)
        # Names of a frame that did not define the function do not replace those of its module.
        is_nested = "." in getattr(innermost, "__qualname__", "")
        if frame is not None and not (is_nested and frame.f_globals is module):
            names = {
                name: value
                for name, value in names.items()
                if name not in module and not hasattr(builtins, name)
            }
        names.update(_closure(innermost))
        return cls(module, names)

    def resolve(self, annotation: Any, *, is_input: bool = False) -> Any:
        """Return the type of *annotation*, with all its metadata.

        For an input, an ``Iterable`` becomes a ``Sequence``, since pydantic would validate its
        items lazily and only once.

        Raises:
            NameError: *annotation* has an unknown name.
            SyntaxError, TypeError, AttributeError: *annotation* is not an annotation.
        """
        holder = types.SimpleNamespace(__annotations__={"annotation": annotation})
        hints = get_type_hints(holder, dict(self.globals), dict(self.names), include_extras=True)
        return self._adapt_for_pydantic(hints["annotation"], is_input=is_input)

    def _adapt_for_pydantic(self, annotation: Any, *, is_input: bool = False) -> Any:
        """Return *annotation* in a form that pydantic accepts.

        ``typing.TypedDict`` becomes that of typing_extensions, since before Python 3.12 the
        class of the standard library lacks information that pydantic needs about its bases.
        Literals of enumeration members accept the members' values.
        """
        if _is_old_typed_dict(annotation):
            return self._convert_typed_dict(annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if is_input and (origin or annotation) is Iterable:
            items = [self._adapt_for_pydantic(argument, is_input=True) for argument in arguments]
            return types.GenericAlias(Sequence, tuple(items)) if items else Sequence
        if origin is Literal:
            return _accept_member_values(annotation)
        if origin is None or not arguments:
            return annotation
        if origin is Annotated:
            bare = self._adapt_for_pydantic(arguments[0], is_input=is_input)
            return annotation if bare is arguments[0] else Annotated[(bare, *arguments[1:])]
        converted = tuple(
            self._adapt_for_pydantic(argument, is_input=is_input)
            if _is_type(argument)
            else argument
            for argument in arguments
        )
        if all(new is old for new, old in zip(converted, arguments, strict=True)):
            return annotation
        if origin in {Union, types.UnionType}:
            return functools.reduce(lambda left, right: Union[left, right], converted)
        if isinstance(annotation, types.GenericAlias):
            return types.GenericAlias(origin, converted)
        return annotation.copy_with(converted)

    def _convert_typed_dict(self, old: Any) -> Any:
        if old not in self._converted:
            new: Any = _typed_dict(old.__name__, {})
            self._converted[old] = new
            hints = get_type_hints(old, localns=dict(self.names), include_extras=True)
            new.__annotations__ = {
                name: self._adapt_for_pydantic(hint) for name, hint in hints.items()
            }
            for attribute in ("__required_keys__", "__optional_keys__", "__total__"):
                setattr(new, attribute, getattr(old, attribute))
            for attribute in ("__module__", "__qualname__", "__doc__", "__pydantic_config__"):
                if attribute in vars(old):
                    setattr(new, attribute, vars(old)[attribute])
        return self._converted[old]


def _is_type(value: Any) -> bool:
    return isinstance(value, type) or get_origin(value) is not None


def _accept_member_values(literal: Any) -> Any:
    """Return *literal* so that it accepts the values of its enumeration members.

    Pydantic writes the values into the schema, but accepts only the members.
    """
    arguments = get_args(literal)
    members = {
        (type(argument.value), argument.value): argument
        for argument in arguments
        if isinstance(argument, Enum)
    }
    if not members:
        return literal

    def to_member(value: Any) -> Any:
        key = (type(value), value)
        return members.get(key, value) if isinstance(value, str | int) else value

    return Annotated[literal, BeforeValidator(to_member)]


def _is_old_typed_dict(annotation: Any) -> bool:
    if sys.version_info >= (3, 12):
        return False
    # The module of the metaclass is that of the TypedDict in the class statement.
    return typing_extensions.is_typeddict(annotation) and type(annotation).__module__ == "typing"


def _frames(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    """Yield *frame* and, if it is a class body, the enclosing frames."""
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
        except ValueError:  # The variable has no value yet.
            continue


def collected_type(annotation: Any) -> Any:
    """Return an ``Iterable`` for an iterator; others unchanged."""
    if get_origin(annotation) in _ITERATORS:
        return types.GenericAlias(Iterable, get_args(annotation)[:1])
    return annotation


def underlying_class(annotation: Any) -> Any:
    """Return the class of *annotation* without metadata, ``None`` and type parameters."""
    if get_origin(annotation) is Annotated:
        return underlying_class(get_args(annotation)[0])
    if get_origin(annotation) in {Union, types.UnionType}:
        branches = [branch for branch in get_args(annotation) if branch is not types.NoneType]
        return underlying_class(branches[0]) if len(branches) == 1 else annotation
    return get_origin(annotation) or annotation


def nested_types(annotation: Any) -> Iterator[Any]:
    """Yield *annotation* and the types within it, except for fields of classes."""
    yield annotation
    if get_origin(annotation) is not Literal:
        for argument in get_args(annotation):
            yield from nested_types(argument)
