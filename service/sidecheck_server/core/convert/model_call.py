"""Calls of models: strict reading, choice of the mapping, and resolved arguments.

Faults in the form of a call are reported and never corrected.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from sidecheck_server.core.convert.argument_decoder import ArgumentDecoder
from sidecheck_server.core.convert.decode_arguments import (
    Interpretation,
    combine_choices,
    decode_arguments,
)
from sidecheck_server.core.convert.mapping import ToolMapping
from sidecheck_server.core.convert.providers.provider import Arguments, Provider
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import describe_kind, join_phrase, quote
from sidecheck_server.core.limits import Exhausted, Limits, limit_exceeded_error
from sidecheck_server.core.payload import MalformedError, decode
from sidecheck_server.core.repair.repairs import encode_repaired
from sidecheck_server.core.repair.types import Coercion, Repairs
from sidecheck_server.core.types import Change, JsonValue, Verdict, Violation, as_pointer

__all__ = [
    "CallResolution",
    "ModelCall",
    "ResolvedArguments",
    "check_definition",
    "common_api",
    "read_model_call",
    "select_mapping",
    "with_model_names",
]

_DEPTH_AROUND_ARGUMENTS = 2
"""Number of objects around the arguments of a call."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """Call in the form in which a model made it."""

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
    text: bytes, provider: Provider, limits: Limits, *, max_violations: int = 20
) -> ModelCall:
    """Return the call with the JSON *text*, in the shape of *provider*.

    Unknown properties are ignored. At most *max_violations* violations are reported.

    Raises:
        RequestError: LIMIT_EXCEEDED if the call is larger than a payload may be, or if the
            call or its arguments nest too deeply.
    """
    if len(text) > limits.payload_bytes:
        raise limit_exceeded_error("payload_bytes", limits.payload_bytes, "the call", len(text))
    try:
        depth = limits.payload_depth + _DEPTH_AROUND_ARGUMENTS
        value = decode(text, max_depth=depth, max_violations=max_violations)
    except MalformedError as error:
        return ModelCall("", "", None, _verdict_of(error, ""), "")
    return _CallReader(value, provider, limits, max_violations).read()


class _CallReader:
    """Reader of a call that is well-formed JSON."""

    def __init__(
        self, value: JsonValue, provider: Provider, limits: Limits, max_violations: int
    ) -> None:
        self._shape = provider.call
        self._provider = provider
        self._limits = limits
        self._max_violations = max_violations
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
        # The object with the name also has the arguments.
        container = self._find_container(self._shape.name)
        if container is not None:
            name = self._read_name(container)
            arguments = self._read_arguments(container)
        return ModelCall(
            name,
            self._read_text(self._shape.id),
            arguments,
            Verdict.listing(self._violations, truncated=self._truncated),
            as_pointer((*self._prefix, *self._shape.arguments)),
        )

    def _find_container(self, path: tuple[str, ...]) -> dict[str, JsonValue] | None:
        """Return the object that contains the last step of *path*, or None."""
        value: JsonValue = self._call
        location = self._prefix
        for step in (*path[:-1], None):
            if not isinstance(value, dict):
                hint = self._hint_at_form(location)
                message = f"expected an object, found {describe_kind(value)}{hint}"
                self._report(location, "CALL_NOT_AN_OBJECT", message)
                return None
            if step is not None:
                if step not in value:
                    message = f'the property "{step}" is missing{self._hint_at_form(location)}'
                    self._report(location, "CALL_NAME_MISSING", message)
                    return None
                value, location = value[step], (*location, step)
        assert isinstance(value, dict), "its type was checked last"
        return value

    def _hint_at_form(self, location: tuple[str, ...]) -> str:
        """Return a hint about the form of the provider's calls, for a fault at the top.

        The text may be another kind of object, or a call of another provider.
        """
        if location:
            return ""
        display_name = self._provider.display_name
        return f"; the mapping is for {display_name}, whose call is {self._shape.display_name}"

    def _read_text(self, path: tuple[str, ...]) -> str:
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
        kind = describe_kind(name) if key in container else "nothing"
        path = self._shape.name if key in container else self._shape.name[:-1]
        location = (*self._prefix, *path)
        message = (
            f"expected the name of the called tool, found {kind}{self._hint_at_form(location)}"
        )
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
        message = f"expected {encoding.value}, found {describe_kind(value)}"
        location = (*self._prefix, *shape.arguments)
        self._report(location, "CALL_ARGUMENTS_NOT_AN_OBJECT", message)
        return None

    def _decode(self, text: str) -> tuple[bool, JsonValue]:
        """Return whether *text* is well-formed, and its value."""
        try:
            encoded = text.encode()
            return True, decode(
                encoded, max_depth=self._limits.payload_depth, max_violations=self._max_violations
            )
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


_MAX_NAME = 128
"""Characters of a name in an error."""


def common_api(mappings: Sequence[ToolMapping]) -> ModelApi:
    """Return the API of all *mappings*.

    Raises:
        RequestError: INVALID_REQUEST if there are no mappings, or if they are for several
            APIs.
    """
    apis = list(dict.fromkeys(mapping.api for mapping in mappings))
    if not apis:
        message = "no mapping was sent; send the mapping of the called tool"
        raise RequestError(ErrorReason.INVALID_REQUEST, message, {"field": "mappings"})
    if len(apis) > 1:
        message = (
            f"the mappings are for several APIs: {join_phrase(apis, 'and')}; send those of one API"
        )
        raise RequestError(ErrorReason.INVALID_REQUEST, message, {"field": "mappings"})
    return apis[0]


def select_mapping(mappings: Sequence[ToolMapping], call: ModelCall) -> ToolMapping | None:
    """Return the mapping of the called tool.

    If the name in *call* cannot be read, the result is the only mapping, or None if there are
    several.

    Raises:
        RequestError: INVALID_REQUEST if there are no mappings; INVALID_MAPPING if two are for
            tools of the same name; MAPPING_MISMATCH if none is for the called tool.
    """
    common_api(mappings)
    by_name: dict[str, ToolMapping] = {}
    for mapping in mappings:
        if mapping.name in by_name:
            message = f"two mappings are for tools with the name {quote(mapping.name)}"
            raise RequestError(
                ErrorReason.INVALID_MAPPING, message, {"name": mapping.name[:_MAX_NAME]}
            )
        by_name[mapping.name] = mapping
    if not call.name:
        return mappings[0] if len(mappings) == 1 else None
    selected = by_name.get(call.name)
    if selected is None:
        name = call.name[:_MAX_NAME]
        suggestion = find_nearest(call.name, list(by_name))
        message = f"no mapping is for a tool with the name {quote(name)}"
        message += f"; did you mean {quote(suggestion)}?" if suggestion else ""
        raise RequestError(ErrorReason.MAPPING_MISMATCH, message, {"name": name})
    return selected


def check_definition(mapping: ToolMapping, definition_digest: str) -> None:
    """Check that *mapping* is for the definition with *definition_digest*.

    Raises:
        RequestError: MAPPING_MISMATCH.
    """
    if mapping.definition_digest != definition_digest:
        raise RequestError(
            ErrorReason.MAPPING_MISMATCH,
            f"the mapping of {quote(mapping.tool)} is for another definition; send the "
            "definition that was converted, or convert this one",
            {"expected": mapping.definition_digest, "found": definition_digest},
        )


@dataclass(frozen=True, slots=True)
class _PendingValidation:
    """Interpretation of arguments, for validation against the original schema."""

    #: As JSON text.
    payload: bytes
    options: EvaluationOptions


@dataclass(frozen=True, slots=True)
class ResolvedArguments:
    """Arguments for the original schema."""

    #: As JSON text.
    payload: bytes
    #: Changes to the arguments of the model.
    changes: tuple[Change, ...]
    verdict: Verdict


class CallResolution:
    """Resolution of the arguments of one call, in steps.

    Of at most 16 interpretations it selects the first that is valid; or else their combination
    that takes each argument from an interpretation without a violation in it, if there is one.
    If no interpretation is valid, it selects the first that is valid after strings that contain
    an object or an array are decoded where the schema requires one; or else the one with the
    fewest arguments that have violations. The caller, which has the schema, validates each
    payload that `advance` returns, until `advance` returns the result.
    """

    def __init__(
        self, call: ModelCall, mapping: ToolMapping, options: EvaluationOptions, limits: Limits
    ) -> None:
        self._steps = _resolve(call, mapping, options, limits)

    def advance(self, verdict: Verdict | None) -> _PendingValidation | ResolvedArguments:
        """Return the next payload to validate, or the result.

        *verdict* is the verdict on the previous payload; None in the first call.

        Raises:
            RequestError: LIMIT_EXCEEDED if decoding takes too many steps.
        """
        try:
            return next(self._steps) if verdict is None else self._steps.send(verdict)
        except StopIteration as stop:
            resolved: ResolvedArguments = stop.value
            return resolved


def _resolve(
    call: ModelCall, mapping: ToolMapping, options: EvaluationOptions, limits: Limits
) -> Generator[_PendingValidation, Verdict, ResolvedArguments]:
    # Decision 0034: the first interpretation that the original schema admits counts.
    decoding = _CallDecoding(call, mapping, limits)
    invalid: list[ResolvedArguments] = []
    interpretations: list[Interpretation] = []
    for payload, interpretation in decoding.interpretations():
        verdict = yield _PendingValidation(payload, options)
        resolved = ResolvedArguments(payload, interpretation.changes, verdict)
        if verdict.valid:
            return resolved
        invalid.append(resolved)
        interpretations.append(interpretation)
    choices = _choose_by_argument(interpretations, invalid)
    if choices is not None:
        for payload, interpretation in decoding.interpretations(choices):
            verdict = yield _PendingValidation(payload, options)
            resolved = ResolvedArguments(payload, interpretation.changes, verdict)
            if verdict.valid:
                return resolved
            invalid.append(resolved)
    coercing = _enable_coercion(options)
    for resolved in invalid:
        verdict = yield _PendingValidation(resolved.payload, coercing)
        repair = verdict.repair
        if repair is not None and repair.verdict.valid and not verdict.valid:
            changes = (*resolved.changes, *repair.changes)
            return ResolvedArguments(repair.payload, changes, repair.verdict)
    if choices is not None:
        # The combination is preferred: truncated verdicts can hide that it is better.
        invalid.insert(0, invalid.pop())
    return min(invalid, key=_count_faults)


class _CallDecoding:
    """Decoding of the arguments of one call, within the steps of a request."""

    def __init__(self, call: ModelCall, mapping: ToolMapping, limits: Limits) -> None:
        self._arguments = call.arguments
        self._decoder = mapping.decoder
        self._limits = limits
        self._budget = [limits.steps]

    def interpretations(
        self, choices: tuple[int, ...] | None = None
    ) -> Iterator[tuple[bytes, Interpretation]]:
        """Yield the JSON text of each interpretation; with *choices*, of the one with these."""
        limits, budget, depth = self._limits, self._budget, self._limits.payload_depth
        try:
            for interpretation in decode_arguments(
                self._arguments, self._decoder, budget, max_depth=depth, choices=choices
            ):
                yield encode_repaired(interpretation.value, limits, budget), interpretation
        except Exhausted:
            message = "decoding the arguments takes too many steps"
            raise limit_exceeded_error("steps", limits.steps, message) from None


def _choose_by_argument(
    interpretations: list[Interpretation], invalid: list[ResolvedArguments]
) -> tuple[int, ...] | None:
    """Return choices that leave no violation in an argument that is valid in some reading.

    *invalid* are the verdicts on *interpretations*. Returns None if no choices are better than
    those of the first interpretation.
    """
    base, *others = interpretations
    blamed = [_blamed_arguments(resolved.verdict) for resolved in invalid]
    replacements = {}
    for name in blamed[0] & base.spans.keys():
        better = [
            other for other, names in zip(others, blamed[1:], strict=True) if name not in names
        ]
        if better:
            replacements[name] = better[0]
    return combine_choices(base, replacements) if replacements else None


def _blamed_arguments(verdict: Verdict) -> set[str]:
    """Return the names of the arguments in which *verdict* has violations."""
    steps = (violation.instance_location.split("/")[1:2] for violation in verdict.violations)
    return {step[0].replace("~1", "/").replace("~0", "~") for step in steps if step}


def _count_faults(resolved: ResolvedArguments) -> tuple[int, int]:
    violations = resolved.verdict.violations
    return len(_blamed_arguments(resolved.verdict)), len(violations)


def _enable_coercion(options: EvaluationOptions) -> EvaluationOptions:
    repairs = options.repairs or Repairs()
    if repairs.coercion is Coercion.NONE:
        repairs = replace(repairs, coercion=Coercion.JSON_STRINGS)
    return replace(options, repairs=repairs)


# A quoted text in a message, except a string of the arguments.
_QUOTED = re.compile(r'(?<!the string )"(?:[^"\\]|\\.)*"')

_VALUE_KEYWORDS = ("const", "enum")
"""Keywords whose messages quote expected values."""


def with_model_names(verdict: Verdict, decoder: ArgumentDecoder | None) -> Verdict:
    """Return *verdict*, on decoded arguments, with the provider's property names.

    A property has the same name at the provider wherever it occurs in a tool, so the decoder
    need not be followed to translate locations.
    """
    names = {} if decoder is None or verdict.valid else dict(_iterate_renamings(decoder))
    if not names:
        return verdict
    quoted_names = {quote(original): quote(name) for original, name in names.items()}

    def replace_quoted(match: re.Match[str]) -> str:
        return quoted_names.get(match[0], match[0])

    steps = {_escape(original): _escape(name) for original, name in names.items()}
    violations = [
        replace(
            violation,
            instance_location="/".join(
                steps.get(step, step) for step in violation.instance_location.split("/")
            ),
            message=violation.message
            if violation.keyword in _VALUE_KEYWORDS
            else _QUOTED.sub(replace_quoted, violation.message),
        )
        for violation in verdict.violations
    ]
    return replace(verdict, violations=tuple(violations))


def _escape(step: str) -> str:
    return step.replace("~", "~0").replace("/", "~1")


def _iterate_renamings(top: ArgumentDecoder) -> Iterator[tuple[str, str]]:
    """Yield the original name and the provider's name of each renamed property."""
    pending: list[ArgumentDecoder | None] = [top]
    while pending:
        decoder = pending.pop()
        if decoder is None:
            continue
        yield from ((original, name) for name, original in decoder.get("renamed", {}).items())
        pending += [decoder.get(key) for key in ("values", "items", "inner")]
        pending += [*decoder.get("properties", {}).values(), *decoder.get("defs", {}).values()]
        pending += [*decoder.get("prefix", ()), *decoder.get("also", ())]
        pending += [branch.get("as") for branch in decoder.get("any_of", ())]
        pending.append(decoder.get("entries", {}).get("each"))
