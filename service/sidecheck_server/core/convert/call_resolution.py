"""Resolution of a model's call: its mapping, its arguments, and its verdict."""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

from sidecheck_server.core.convert.argument_decoder import ArgumentDecoder
from sidecheck_server.core.convert.decode_arguments import decode_arguments
from sidecheck_server.core.convert.mapping import ToolMapping
from sidecheck_server.core.convert.model_call import ModelCall
from sidecheck_server.core.convert.types import ModelApi
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.explain.nearest import find_nearest
from sidecheck_server.core.explain.values import join_phrase, quote
from sidecheck_server.core.limits import Exhausted, Limits, limit_exceeded_error
from sidecheck_server.core.repair.repairs import encode_repaired
from sidecheck_server.core.repair.types import Coercion, Repairs
from sidecheck_server.core.types import Change, Verdict

__all__ = [
    "CallResolution",
    "PendingValidation",
    "ResolvedArguments",
    "check_definition",
    "common_api",
    "select_mapping",
    "with_model_names",
]

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

    If the name in *call* cannot be read, this is the only mapping, or None if there are more.

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
    """Check that *mapping* is for the definition with that digest.

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
class PendingValidation:
    """Interpretation of arguments that is to be validated against the original schema."""

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

    Of at most 16 interpretations it selects the first that is valid; or else the first that
    is valid after strings that contain an object or an array are decoded where the schema
    requires one; or else the first. The caller, who has the schema, validates what `advance`
    returns until it returns the result.
    """

    def __init__(
        self, call: ModelCall, mapping: ToolMapping, options: EvaluationOptions, limits: Limits
    ) -> None:
        self._steps = _resolve(call, mapping, options, limits)

    def advance(self, verdict: Verdict | None) -> PendingValidation | ResolvedArguments:
        """Return the next step, or the result.

        *verdict* is that on the last step, None at first.

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
) -> Generator[PendingValidation, Verdict, ResolvedArguments]:
    invalid: list[ResolvedArguments] = []
    for payload, changes in _payloads(call, mapping, limits):
        verdict = yield PendingValidation(payload, options)
        resolved = ResolvedArguments(payload, changes, verdict)
        if verdict.valid:
            return resolved
        invalid.append(resolved)
    coercing = _with_coercion(options)
    for resolved in invalid:
        verdict = yield PendingValidation(resolved.payload, coercing)
        repair = verdict.repair
        if repair is not None and repair.verdict.valid and not verdict.valid:
            changes = (*resolved.changes, *repair.changes)
            return ResolvedArguments(repair.payload, changes, repair.verdict)
    return invalid[0]


def _payloads(
    call: ModelCall, mapping: ToolMapping, limits: Limits
) -> Iterator[tuple[bytes, tuple[Change, ...]]]:
    """Yield the JSON texts of the interpretations, each with its changes."""
    budget = [limits.steps]
    depth = limits.payload_depth
    try:
        for interpretation in decode_arguments(
            call.arguments, mapping.decoder, budget, max_depth=depth
        ):
            yield encode_repaired(interpretation.value, limits, budget), interpretation.changes
    except Exhausted:
        message = "decoding the arguments takes too many steps"
        raise limit_exceeded_error("steps", limits.steps, message) from None


def _with_coercion(options: EvaluationOptions) -> EvaluationOptions:
    repairs = options.repairs or Repairs()
    if repairs.coercion is Coercion.NONE:
        repairs = replace(repairs, coercion=Coercion.JSON_STRINGS)
    return replace(options, repairs=repairs)


# A quoted text in a message, except a string that was found in the arguments.
_QUOTED = re.compile(r'(?<!the string )"(?:[^"\\]|\\.)*"')

_VALUE_KEYWORDS = ("const", "enum")
"""Keywords whose messages quote expected values."""


def with_model_names(verdict: Verdict, decoder: ArgumentDecoder | None) -> Verdict:
    """Return *verdict*, on decoded arguments, with the property names that the model knows.

    A property has the same name at the provider wherever it occurs in a tool, so that
    locations need not be followed through the decoder.
    """
    names = {} if decoder is None or verdict.valid else dict(_renamed(decoder))
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


def _renamed(top: ArgumentDecoder) -> Iterator[tuple[str, str]]:
    """Yield the original name and the new name of every property renamed in *top*."""
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
