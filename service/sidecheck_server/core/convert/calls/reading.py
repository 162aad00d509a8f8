"""Reading the call that a model made, strictly: what is wrong with it is never made good."""

from dataclasses import dataclass, replace

from sidecheck_server.core.convert.apis.api import Api
from sidecheck_server.core.convert.calls.forms import FORMS, Arguments
from sidecheck_server.core.explain.values import kind_of
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.types import JsonValue, Verdict, Violation, as_pointer

__all__ = ["ModelCall", "read_call"]

_AROUND_ARGUMENTS = 2
"""How many objects stand around the arguments in a call."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call as a model made it."""

    #: The name that the model knows the tool by; "" if it cannot be read.
    name: str
    #: The id that the API gave the call, or "".
    id: str
    #: None if they cannot be read.
    arguments: dict[str, JsonValue] | None
    #: What is wrong with the call; instance pointers lead into it.
    verdict: Verdict
    #: Where the arguments stand, as a JSON Pointer into the call.
    arguments_at: str

    @property
    def verdict_on_arguments(self) -> Verdict:
        """What is wrong with the call, its arguments as if they were judged by themselves."""
        told = [
            replace(each, instance_location=each.instance_location.removeprefix(self.arguments_at))
            for each in self.verdict.violations
        ]
        return Verdict.listing(told, truncated=self.verdict.truncated)


def read_call(text: bytes, api: Api, limits: Limits, *, most: int = 20) -> ModelCall:
    """Return the call whose JSON *text* is given, in the form of *api*.

    Members that are not looked for are passed over. At most *most* violations are told.

    Raises:
        Refusal: LIMIT_EXCEEDED if the call is larger than a payload may be, or it or its
            arguments nest deeper.
    """
    if len(text) > limits.payload_bytes:
        raise exceeded("payload_bytes", limits.payload_bytes, "the call", len(text))
    try:
        depth = limits.payload_depth + _AROUND_ARGUMENTS
        value = decode(text, max_depth=depth, most=most)
    except MalformedError as error:
        return ModelCall("", "", None, _as_verdict(error, ""), "")
    return _Call(value, api, limits, most).read()


class _Call:
    """A call that is JSON, while it is read."""

    def __init__(self, value: JsonValue, api: Api, limits: Limits, most: int) -> None:
        self._form = FORMS[api.key]
        self._api = api
        self._limits = limits
        self._most = most
        self._above: tuple[str, ...] = ()
        self._call = value
        if isinstance(value, dict):
            for wrapper in self._form.wrappers:
                if wrapper in value:
                    self._above, self._call = (wrapper,), value[wrapper]
        self._found: list[Violation] = []
        self._truncated = False

    def read(self) -> ModelCall:
        """Return the call as far as it can be read."""
        name = ""
        arguments: dict[str, JsonValue] | None = None
        # Whatever holds the name holds the arguments.
        holder = self._holder(self._form.name)
        if holder is not None:
            name = self._name(holder)
            arguments = self._arguments(holder)
        return ModelCall(
            name,
            self._text(self._form.id),
            arguments,
            Verdict.listing(self._found, truncated=self._truncated),
            as_pointer((*self._above, *self._form.arguments)),
        )

    def _holder(self, place: tuple[str, ...]) -> dict[str, JsonValue] | None:
        """Return the object that has the last member of *place*, or None and say why."""
        value, at = self._call, self._above
        for step in (*place[:-1], None):
            if not isinstance(value, dict):
                said = f"expected an object, found {kind_of(value)}{self._wanted(at)}"
                self._tell(at, "CALL_NOT_AN_OBJECT", said)
                return None
            if step is not None:
                if step not in value:
                    said = f'the member "{step}" is missing{self._wanted(at)}'
                    self._tell(at, "CALL_NAME_MISSING", said)
                    return None
                value, at = value[step], (*at, step)
        assert isinstance(value, dict), "it was looked at last"
        return value

    def _wanted(self, at: tuple[str, ...]) -> str:
        """Return what a call is, if what is wrong *at* a place is the whole.

        It is then another thing, or the call of another API.
        """
        if at:
            return ""
        return f"; the plan is for {self._api.in_words}, whose call is {self._form.in_words}"

    def _text(self, place: tuple[str, ...]) -> str:
        """Return the string at *place* of the call, or ""."""
        found: JsonValue = self._call
        for step in place:
            found = found.get(step) if isinstance(found, dict) else None
        return found if isinstance(found, str) else ""

    def _name(self, holder: dict[str, JsonValue]) -> str:
        key = self._form.name[-1]
        name = holder.get(key)
        if isinstance(name, str) and name:
            return name
        found = kind_of(name) if key in holder else "nothing"
        within = self._form.name if key in holder else self._form.name[:-1]
        at = (*self._above, *within)
        said = f"expected the name of the tool that is called, found {found}{self._wanted(at)}"
        self._tell(at, "CALL_NAME_MISSING", said)
        return ""

    def _arguments(self, holder: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
        form, key = self._form, self._form.arguments[-1]
        value = holder.get(key)
        if value is None and self._api.arguments_may_lack:
            return {}
        if key not in holder:
            said = f'the arguments are missing: "{key}" is {form.arguments_are.value}'
            at = (*self._above, *form.arguments[:-1])
            self._tell(at, "CALL_ARGUMENTS_MISSING", said)
            return None
        what = form.arguments_are
        if isinstance(value, str) and what is not Arguments.OBJECT:
            decoded, value = self._decoded(value)
            if not decoded:
                return None
            what = Arguments.OBJECT
        if isinstance(value, dict) and what is not Arguments.TEXT:
            return value
        said = f"expected {what.value}, found {kind_of(value)}"
        self._tell((*self._above, *form.arguments), "CALL_ARGUMENTS_NOT_AN_OBJECT", said)
        return None

    def _decoded(self, text: str) -> tuple[bool, JsonValue]:
        """Return whether *text* can be read, and what it holds."""
        at = as_pointer((*self._above, *self._form.arguments))
        try:
            encoded = text.encode()
            return True, decode(encoded, max_depth=self._limits.payload_depth, most=self._most)
        except MalformedError as error:
            verdict = _as_verdict(error, at)
            self._found += verdict.violations
            self._truncated = verdict.truncated
            return False, None

    def _tell(self, at: tuple[str, ...], code: str, said: str) -> None:
        self._found.append(Violation(as_pointer(at), "", "", code, said))


def _as_verdict(error: MalformedError, at: str) -> Verdict:
    """Return the verdict on a text that stands *at* a place of a call."""
    found = [
        replace(each, instance_location=at + each.instance_location) for each in error.violations
    ]
    return Verdict.listing(found, truncated=error.truncated)
