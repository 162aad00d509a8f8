"""Strict reading of the call that a model made; faults are reported and never corrected."""

from dataclasses import dataclass, replace

from sidecheck_server.core.convert.providers.provider import Arguments, Provider
from sidecheck_server.core.explain.values import kind_of
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import JsonValue, Verdict, Violation, as_pointer

__all__ = ["ModelCall", "read_model_call"]

_DEPTH_AROUND_ARGUMENTS = 2
"""Number of objects around the arguments of a call."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """Call as a model made it."""

    #: Name of the tool at the provider; "" if it cannot be read.
    name: str
    #: Id of the call at the provider, or "".
    id: str
    #: None if they cannot be read.
    arguments: dict[str, JsonValue] | None
    #: Verdict on the call; locations are in the call.
    verdict: Verdict
    #: Location of the arguments in the call, as a JSON Pointer.
    arguments_pointer: str

    @property
    def arguments_verdict(self) -> Verdict:
        """Verdict on the call, with locations as if the arguments were the instance."""
        violations = [
            replace(
                violation,
                instance_location=violation.instance_location.removeprefix(self.arguments_pointer),
            )
            for violation in self.verdict.violations
        ]
        return Verdict.listing(violations, truncated=self.verdict.truncated)


def read_model_call(
    text: bytes, provider: Provider, limits: Limits, *, most: int = 20
) -> ModelCall:
    """Return the call with the JSON *text*, in the shape of *provider*.

    Unknown properties are ignored. At most *most* violations are reported.

    Raises:
        RequestError: LIMIT_EXCEEDED if the call is larger than a payload may be, or if the
            call or its arguments nest too deeply.
    """
    if len(text) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, "the call", len(text))
    try:
        depth = limits.payload_depth + _DEPTH_AROUND_ARGUMENTS
        value = decode(text, max_depth=depth, most=most)
    except MalformedError as error:
        return ModelCall("", "", None, _verdict_of(error, ""), "")
    return _CallReader(value, provider, limits, most).read()


class _CallReader:
    """Reader of a call that is well-formed JSON."""

    def __init__(self, value: JsonValue, provider: Provider, limits: Limits, most: int) -> None:
        self._shape = provider.call
        self._provider = provider
        self._limits = limits
        self._most = most
        self._prefix: tuple[str, ...] = ()
        self._call = value
        if isinstance(value, dict):
            for wrapper in self._shape.wrappers:
                if wrapper in value:
                    self._prefix, self._call = (wrapper,), value[wrapper]
        self._violations: list[Violation] = []
        self._truncated = False

    def read(self) -> ModelCall:
        """Return the call as far as it can be read."""
        name = ""
        arguments: dict[str, JsonValue] | None = None
        # The object that has the name has the arguments too.
        container = self._container(self._shape.name)
        if container is not None:
            name = self._read_name(container)
            arguments = self._read_arguments(container)
        return ModelCall(
            name,
            self._text_at(self._shape.id),
            arguments,
            Verdict.listing(self._violations, truncated=self._truncated),
            as_pointer((*self._prefix, *self._shape.arguments)),
        )

    def _container(self, path: tuple[str, ...]) -> dict[str, JsonValue] | None:
        """Return the object that has the last property of *path*, or None if it is missing."""
        value: JsonValue = self._call
        location = self._prefix
        for step in (*path[:-1], None):
            if not isinstance(value, dict):
                message = f"expected an object, found {kind_of(value)}{self._expected(location)}"
                self._report(location, "CALL_NOT_AN_OBJECT", message)
                return None
            if step is not None:
                if step not in value:
                    message = f'the property "{step}" is missing{self._expected(location)}'
                    self._report(location, "CALL_NAME_MISSING", message)
                    return None
                value, location = value[step], (*location, step)
        assert isinstance(value, dict), "its type was checked last"
        return value

    def _expected(self, location: tuple[str, ...]) -> str:
        """Return what the provider's calls are, if the fault is that of the whole.

        It may then be another kind of object, or the call of another provider.
        """
        if location:
            return ""
        display_name = self._provider.display_name
        return f"; the mapping is for {display_name}, whose call is {self._shape.display_name}"

    def _text_at(self, path: tuple[str, ...]) -> str:
        """Return the string at *path* of the call, or ""."""
        value: JsonValue = self._call
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        return value if isinstance(value, str) else ""

    def _read_name(self, container: dict[str, JsonValue]) -> str:
        key = self._shape.name[-1]
        name = container.get(key)
        if isinstance(name, str) and name:
            return name
        found = kind_of(name) if key in container else "nothing"
        path = self._shape.name if key in container else self._shape.name[:-1]
        location = (*self._prefix, *path)
        message = f"expected the name of the called tool, found {found}{self._expected(location)}"
        self._report(location, "CALL_NAME_MISSING", message)
        return ""

    def _read_arguments(self, container: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
        shape, key = self._shape, self._shape.arguments[-1]
        value = container.get(key)
        if value is None and shape.arguments_optional:
            return {}
        if key not in container:
            message = f'the arguments are missing; expected "{key}", {shape.encoding.value}'
            location = (*self._prefix, *shape.arguments[:-1])
            self._report(location, "CALL_ARGUMENTS_MISSING", message)
            return None
        encoding = shape.encoding
        if isinstance(value, str) and encoding is not Arguments.OBJECT:
            decoded, value = self._decode(value)
            if not decoded:
                return None
            encoding = Arguments.OBJECT
        if isinstance(value, dict) and encoding is not Arguments.TEXT:
            return value
        message = f"expected {encoding.value}, found {kind_of(value)}"
        location = (*self._prefix, *shape.arguments)
        self._report(location, "CALL_ARGUMENTS_NOT_AN_OBJECT", message)
        return None

    def _decode(self, text: str) -> tuple[bool, JsonValue]:
        """Return whether *text* is well-formed, and its value."""
        try:
            encoded = text.encode()
            return True, decode(encoded, max_depth=self._limits.payload_depth, most=self._most)
        except MalformedError as error:
            pointer = as_pointer((*self._prefix, *self._shape.arguments))
            verdict = _verdict_of(error, pointer)
            self._violations += verdict.violations
            self._truncated = verdict.truncated
            return False, None

    def _report(self, path: tuple[str, ...], code: str, message: str) -> None:
        self._violations.append(Violation(as_pointer(path), "", "", code, message))


def _verdict_of(error: MalformedError, pointer: str) -> Verdict:
    """Return the verdict on a malformed text at *pointer* of a call."""
    violations = [
        replace(violation, instance_location=pointer + violation.instance_location)
        for violation in error.violations
    ]
    return Verdict.listing(violations, truncated=error.truncated)
