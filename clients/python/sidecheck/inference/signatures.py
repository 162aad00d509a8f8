"""Signatures of functions: arguments of a call with their types, and injections."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from sidecheck.inference.annotations import Scope, collected_type
from sidecheck.inference.diagnostics import FunctionDiagnostics
from sidecheck.inference.errors import Diagnostic
from sidecheck.inference.injection import Injection, InjectionRules

__all__ = ["MISSING", "Argument", "Signature", "read_signature", "unwrap_function"]

#: No default, or no annotation.
MISSING: Any = inspect.Parameter.empty


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter that is an argument of a call."""

    name: str
    #: Its name in JSON: an alias, or its own name.
    wire_name: str
    #: The type with all metadata.
    annotation: Any
    #: The default, or `MISSING`.
    default: Any = MISSING
    #: The field that produces the default, or None.
    default_field: FieldInfo | None = None
    #: The description in its annotation, or "".
    description: str = ""

    @property
    def required(self) -> bool:
        """Whether a call must pass the argument."""
        return self.default is MISSING and self.default_field is None


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters and result of a function."""

    arguments: tuple[Argument, ...]
    injections: tuple[Injection, ...]
    #: ``**kwargs`` with the type of each additional argument, or None.
    additional: Argument | None
    #: The type of the result, or `MISSING`.
    result_type: Any
    diagnostics: tuple[Diagnostic, ...]


def unwrap_function(target: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that *target* calls; *target* may be a partial or an object."""
    while isinstance(target, functools.partial):
        target = target.func
    if not inspect.isroutine(target) and not isinstance(target, type):
        target = type(target).__call__
    function: Callable[..., Any] = inspect.unwrap(getattr(target, "__func__", target))
    return function


def read_signature(
    target: Callable[..., Any],
    scope: Scope,
    rules: InjectionRules,
    diagnostics: FunctionDiagnostics,
    *,
    injections_only: bool = False,
    without_result: bool = False,
    admit_any: bool = False,
) -> Signature:
    """Return the signature of *target*.

    With *admit_any*, an unresolvable annotation admits any value, and ``*args`` is skipped, both
    with a warning; an annotation of the result always does. With *injections_only*, arguments
    are skipped, since the author provides the input schema. With *without_result*, the
    annotation of the result is skipped.

    Raises:
        InferenceError: *target* has ``*args`` or positional-only parameters, or an annotation
            cannot be resolved.
    """
    reader = _ArgumentReader(scope, diagnostics, admit_any=admit_any)
    arguments: list[Argument] = []
    injections: list[Injection] = []
    additional = None
    signature = inspect.signature(target)
    for index, parameter in enumerate(signature.parameters.values()):
        if index == 0 and parameter.name in {"self", "cls"} and parameter.annotation is MISSING:
            continue
        if (injection := rules.injection_of(parameter, scope)) is not None:
            injections.append(injection)
            continue
        if injections_only:
            continue
        match parameter.kind:
            case inspect.Parameter.VAR_POSITIONAL:
                reader.skip_variadic(parameter)
            case inspect.Parameter.POSITIONAL_ONLY:
                raise diagnostics.error(
                    "POSITIONAL_ONLY",
                    parameter.name,
                    "it is positional-only, but tool arguments are passed by name; remove the '/'",
                )
            case inspect.Parameter.VAR_KEYWORD:
                additional = reader.read(parameter)
            case _:
                arguments.append(reader.read(parameter))
    result_type = MISSING if without_result else reader.read_result(signature.return_annotation)
    return Signature(
        tuple(arguments), tuple(injections), additional, result_type, tuple(reader.warnings)
    )


class _ArgumentReader:
    def __init__(self, scope: Scope, diagnostics: FunctionDiagnostics, *, admit_any: bool) -> None:
        self._scope = scope
        self._diagnostics = diagnostics
        self._admit_any = admit_any
        self._wire_names: set[str] = set()
        self.warnings: list[Diagnostic] = []

    def read(self, parameter: inspect.Parameter) -> Argument:
        """Return the argument for *parameter*."""
        name, default = parameter.name, parameter.default
        if parameter.annotation is MISSING:
            annotation: Any = Any
            message = "it has no annotation and admits any value; annotate it"
            self.warnings.append(self._diagnostics.warning("MISSING_ANNOTATION", name, message))
        else:
            annotation = self._resolve(name, parameter.annotation, is_input=True)
        default_field = None
        if isinstance(default, FieldInfo):
            annotation, default_field, default = Annotated[annotation, default], default, MISSING
        fields = [item for item in _metadata(annotation) if isinstance(item, FieldInfo)]
        if default_field is None and default is MISSING:
            default_field = next((field for field in fields if not field.is_required()), None)
        if default_field is not None and default_field.is_required():
            default_field = None
        if default_field is not None and default_field.default_factory is None:
            default = default_field.get_default()
        wire_name = self._add_wire_name(name, fields)
        description = _description(annotation)
        return Argument(name, wire_name, annotation, default, default_field, description)

    def skip_variadic(self, parameter: inspect.Parameter) -> None:
        """Warn that the schema omits ``*args``, or raise an error without *admit_any*."""
        code, name = "VARIADIC_PARAMETER", parameter.name
        fault = f"'*{name}' takes positional arguments, but tool arguments are passed by name;"
        remedy = f"use a parameter '{name}: list[...]'"
        if not self._admit_any:
            raise self._diagnostics.error(code, name, f"{fault} {remedy}")
        message = f"{fault} it is left out of the schema; {remedy}"
        self.warnings.append(self._diagnostics.warning(code, name, message))

    def read_result(self, annotation: Any) -> Any:
        """Return the type of the result; for a generator, the type of all its items."""
        if annotation is MISSING:
            return MISSING
        return collected_type(self._resolve("return", annotation, admit_any=True))

    def _add_wire_name(self, name: str, fields: list[FieldInfo]) -> str:
        wire_name = _wire_name(name, fields)
        if not wire_name or wire_name in self._wire_names:
            reason = (
                f"{wire_name!r} is the name of another argument"
                if wire_name
                else "it is a path into another argument"
            )
            raise self._diagnostics.error(
                "UNSUPPORTED_TYPE", name, f"a call cannot pass it by its alias: {reason}"
            )
        self._wire_names.add(wire_name)
        return wire_name

    def _resolve(
        self, name: str, annotation: Any, *, is_input: bool = False, admit_any: bool = False
    ) -> Any:
        try:
            return self._scope.resolve(annotation, is_input=is_input)
        except NameError as error:
            code = "UNRESOLVED_NAME"
            unknown = getattr(error, "name", None) or str(error)
            message = (
                f"the name {unknown!r} is unknown where the function is made a tool; define or"
                " import it before, not only for type checkers"
            )
        except SyntaxError as error:
            code = "UNSUPPORTED_SYNTAX"
            message = f"its annotation is not an expression ({error.msg}); annotate it with a type"
        except (TypeError, AttributeError, ValueError, RecursionError) as error:
            code = "UNSUPPORTED_TYPE"
            message = f"its annotation is not a type ({error}); annotate it with a type"
        if not (self._admit_any or admit_any):
            raise self._diagnostics.error(code, name, message)
        self.warnings.append(self._diagnostics.warning(code, name, message))
        return Any


def _metadata(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()


def _wire_name(name: str, fields: list[FieldInfo]) -> str:
    """Return the name in JSON, or "" for a path; the last alias applies.

    Of several choices, the first is in the schema, and only that is accepted.
    """
    for field in reversed(fields):
        alias = field.validation_alias or field.alias
        if isinstance(alias, AliasChoices):
            alias = alias.choices[0]
        if alias is not None:
            return alias if isinstance(alias, str) else ""
    return name


def _description(annotation: Any) -> str:
    """Return the description in `Annotated`: a string, or ``documentation`` (PEP 727)."""
    for item in _metadata(annotation):
        description = item if isinstance(item, str) else getattr(item, "documentation", None)
        if isinstance(description, str):
            return description
    return ""
