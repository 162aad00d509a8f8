"""Signatures: which parameters are arguments of a call, and of what types."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from sidecheck.inference.annotations import Scope
from sidecheck.inference.errors import Diagnostic
from sidecheck.inference.injection import Injection, Injections
from sidecheck.inference.places import Placed

__all__ = ["MISSING", "Argument", "Signature", "function_of", "signature_of"]

#: No default.
MISSING: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter that is an argument of a call."""

    name: str
    #: The name of it in JSON: an alias, or its own.
    wire: str
    #: The type, with all metadata.
    annotation: Any
    #: The value that stands in, or `MISSING`.
    default: Any = MISSING
    #: A field that makes its default, or None.
    maker: FieldInfo | None = None
    #: The text that it is annotated with, or "".
    text: str = ""

    @property
    def required(self) -> bool:
        """Whether a call must give it."""
        return self.default is MISSING and self.maker is None


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes and returns."""

    arguments: tuple[Argument, ...]
    injections: tuple[Injection, ...]
    #: The name of ``**kwargs`` and the type of each further argument, or None.
    further: Argument | None
    #: The type of the result, or `MISSING`.
    returned: Any
    diagnostics: tuple[Diagnostic, ...]


def function_of(target: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that *target*, perhaps a partial or an object, comes down to."""
    while isinstance(target, functools.partial):
        target = target.func
    if not inspect.isroutine(target) and not isinstance(target, type):
        target = type(target).__call__
    function: Callable[..., Any] = inspect.unwrap(getattr(target, "__func__", target))
    return function


def signature_of(
    target: Callable[..., Any],
    scope: Scope,
    injections: Injections,
    placed: Placed,
    *,
    lenient: bool = False,
    admit_anything: bool = False,
) -> Signature:
    """Read the signature of *target*.

    With *admit_anything*, an annotation that cannot be resolved admits anything, with a
    warning. A *lenient* reading takes no arguments: their schema was given.

    Raises:
        InferenceError: It has ``*args`` or positional-only parameters, or an annotation
            cannot be resolved.
    """
    reader = _Reader(scope, placed, admit_anything)
    arguments: list[Argument] = []
    injected: list[Injection] = []
    further = None
    signature = inspect.signature(target)
    for index, one in enumerate(signature.parameters.values()):
        if index == 0 and one.name in {"self", "cls"} and one.annotation is MISSING:
            continue
        if (injection := injections.of(one, scope)) is not None:
            injected.append(injection)
            continue
        if lenient:
            continue
        match one.kind:
            case inspect.Parameter.VAR_POSITIONAL:
                raise placed.error(
                    "VARIADIC_PARAMETER",
                    one.name,
                    f"a call names its arguments, so '*{one.name}' can be given none: take a"
                    f" list, as '{one.name}: list[...]'",
                )
            case inspect.Parameter.POSITIONAL_ONLY:
                raise placed.error(
                    "POSITIONAL_ONLY",
                    one.name,
                    "a call names its arguments, and this one has no name to give: leave out"
                    " the '/' after it",
                )
            case inspect.Parameter.VAR_KEYWORD:
                further = reader.argument(one)
            case _:
                arguments.append(reader.argument(one))
    returned = reader.returned(signature.return_annotation)
    return Signature(
        tuple(arguments), tuple(injected), further, returned, tuple(reader.diagnostics)
    )


class _Reader:
    def __init__(self, scope: Scope, placed: Placed, admit_anything: bool) -> None:  # noqa: FBT001
        self._scope = scope
        self._placed = placed
        self._admit_anything = admit_anything
        self._wires: set[str] = set()
        self.diagnostics: list[Diagnostic] = []

    def argument(self, parameter: inspect.Parameter) -> Argument:
        """Return the argument that *parameter* is."""
        name, default = parameter.name, parameter.default
        if parameter.annotation is MISSING:
            annotation: Any = Any
            self.diagnostics.append(
                self._placed.warning(
                    "MISSING_ANNOTATION",
                    name,
                    "it has no annotation, so anything is admitted: annotate it with its type",
                )
            )
        else:
            annotation = self._resolved(name, parameter.annotation)
        maker = None
        if isinstance(default, FieldInfo):
            annotation, maker, default = Annotated[annotation, default], default, MISSING
        fields = [one for one in _metadata(annotation) if isinstance(one, FieldInfo)]
        if maker is None and default is MISSING:
            maker = next((one for one in fields if not one.is_required()), None)
        if maker is not None and maker.is_required():
            maker = None
        if maker is not None and maker.default_factory is None:
            default = maker.get_default()
        wire = _wire(name, fields)
        if not wire or wire in self._wires:
            why = f"{wire!r} is the name of another" if wire else "it is a path into another"
            raise self._placed.error(
                "UNSUPPORTED_TYPE", name, f"a call cannot give it by its alias: {why}"
            )
        self._wires.add(wire)
        return Argument(name, wire, annotation, default, maker, _text(annotation))

    def returned(self, annotation: Any) -> Any:
        """Return the type of the result."""
        if annotation is MISSING:
            return MISSING
        return self._resolved("return", annotation)

    def _resolved(self, name: str, annotation: Any) -> Any:
        try:
            return self._scope.resolve(annotation)
        except NameError as error:
            code = "UNRESOLVED_NAME"
            why = (
                f"the name {getattr(error, 'name', None) or str(error)!r} is not known where the"
                " function is made a tool: define or import it before, not for type checkers alone"
            )
        except SyntaxError as error:
            code = "UNSUPPORTED_SYNTAX"
            why = f"its annotation is no expression ({error.msg}): annotate it with a type"
        except (TypeError, AttributeError, ValueError, RecursionError) as error:
            code = "UNSUPPORTED_TYPE"
            why = f"its annotation is no type ({error}): annotate it with one"
        if not self._admit_anything:
            raise self._placed.error(code, name, why)
        self.diagnostics.append(self._placed.warning(code, name, why))
        return Any


def _metadata(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


def _wire(name: str, fields: list[FieldInfo]) -> str:
    """Return the name in JSON, or "" if it is a path: the last alias wins, as with pydantic.

    Of several, the first is the one in the schema, and so the one that is taken.
    """
    for one in reversed(fields):
        alias = one.validation_alias or one.alias
        if isinstance(alias, AliasChoices):
            alias = alias.choices[0]
        if alias is not None:
            return alias if isinstance(alias, str) else ""
    return name


def _text(annotation: Any) -> str:
    """Return what `Annotated` says of it: a text, or a documentation (PEP 727)."""
    for one in _metadata(annotation):
        told = one if isinstance(one, str) else getattr(one, "documentation", None)
        if isinstance(told, str):
            return told
    return ""
