"""Fields of the access log: outcomes and counts of responses, never their content."""

# Decision 0009: events have codes, counts and digests, and no text of a request.

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from sidecheck.v1 import (
    comparison_pb2,
    conversion_service_pb2,
    inference_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    validation_service_pb2,
    verdict_pb2,
)

from sidecheck_server.core.evaluate import DISAGREEMENT
from sidecheck_server.rpc.status import reason_of

__all__ = ["LoggedResponse", "OutcomeCounter", "gives_verdicts", "log_fields", "verdict_codes"]

_Outcome: TypeAlias = validation_service_pb2.ValidateOutcome | protocol_service_pb2.CheckOutcome
#: The level of an event, and its fields other than the method and the time.
_LogFields: TypeAlias = tuple[int, dict[str, Any]]


class LoggedResponse(NamedTuple):
    """A response with the log fields that its method has already determined."""

    response: Any
    level: int
    fields: dict[str, Any]
    #: Numbers of verdicts, by the codes of their violations.
    codes: Mapping[str, int] = MappingProxyType({})
    #: Numbers of items without a verdict, by reason.
    reasons: Mapping[str, int] = MappingProxyType({})


def log_fields(response: Any) -> _LogFields:
    """Return the level and the fields of the log event for *response*.

    Valid outcomes have the debug level, since they are the majority.
    """
    describe = _FIELDS.get(type(response))
    return (logging.DEBUG, {}) if describe is None else describe(response)


def gives_verdicts(response_type: type) -> bool:
    """Return whether responses of *response_type* have verdicts to count."""
    return response_type in _WITH_VERDICTS


def verdict_codes(response: Any, fields: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the numbers of verdicts of *response*, by the codes of their violations.

    *fields* are the log fields of the response.
    """
    if not (codes := fields.get("codes")):
        return {}
    match response:
        case inference_service_pb2.InferToolsResponse():
            # The codes are those of diagnostics, which are not violations.
            return {}
        case (
            protocol_service_pb2.CheckToolsResponse()
            | protocol_service_pb2.CheckToolNamesResponse()
        ):
            verdicts = [outcome.verdict for outcome in response.outcomes]
            return Counter(code for verdict in verdicts for code in _codes([verdict]))
    return dict.fromkeys(codes, 1)


class OutcomeCounter:
    """Counts the outcomes of a batch or a stream."""

    __slots__ = ("_disagreeing", "_errors", "_invalid", "_items", "codes", "reasons")

    def __init__(self, items: int = 0) -> None:
        self._items = items
        self._invalid = self._errors = 0
        self._disagreeing: set[str] = set()
        #: Numbers of verdicts, by the codes of their violations.
        self.codes: Counter[str] = Counter()
        #: Numbers of items without a verdict, by reason.
        self.reasons: Counter[str] = Counter()

    def add(self, outcome: _Outcome) -> None:
        """Count an item and its outcome."""
        self._items += 1
        self.classify(outcome)

    def classify(self, outcome: _Outcome) -> None:
        """Count the outcome of an already counted item; optional for a valid outcome."""
        if outcome.HasField("error"):
            self._errors += 1
            self.reasons[reason_of(outcome.error)] += 1
            return
        if isinstance(outcome, protocol_service_pb2.CheckOutcome):
            verdict = outcome.result.verdict
        else:
            verdict = outcome.verdict
        if not verdict.valid:
            self._invalid += 1
            codes = {violation.code for violation in verdict.violations}
            self.codes.update(codes)
            if DISAGREEMENT in codes:
                self._disagreeing.add(verdict.schema_digest)

    def log_fields(self) -> _LogFields:
        """Return the level and the fields of the log event for the outcomes."""
        counts: dict[str, Any] = {
            "items": self._items,
            "invalid": self._invalid,
            "errors": self._errors,
        }
        if self._disagreeing:
            return logging.ERROR, {**counts, "disagreeing": sorted(self._disagreeing)}
        return logging.INFO if self._invalid or self._errors else logging.DEBUG, counts


def _validation(response: Any) -> _LogFields:
    verdict: verdict_pb2.Verdict = response.verdict
    if verdict.valid:
        return logging.DEBUG, {"outcome": "valid"}
    codes = _codes([verdict])
    level = logging.ERROR if DISAGREEMENT in codes else logging.INFO
    return level, {
        "outcome": "invalid",
        "violations": len(verdict.violations),
        "codes": codes,
        "schema": verdict.schema_digest,
        **({} if verdict.enforced else {"enforced": False}),
    }


def _check(verdict: verdict_pb2.Verdict) -> _LogFields:
    """Return the fields of a verdict by rules; codes include warnings and advice."""
    codes = _codes([verdict])
    outcome = "valid" if verdict.valid else "invalid"
    if not codes:
        return logging.DEBUG, {"outcome": outcome}
    level = logging.DEBUG if verdict.valid else logging.INFO
    level = logging.ERROR if DISAGREEMENT in codes else level
    return level, {"outcome": outcome, "violations": len(verdict.violations), "codes": codes}


def _checks(noun: str, verdicts: Iterable[verdict_pb2.Verdict]) -> _LogFields:
    verdicts = list(verdicts)
    invalid = sum(not verdict.valid for verdict in verdicts)
    codes = _codes(verdicts)
    level = logging.INFO if invalid else logging.DEBUG
    level = logging.ERROR if DISAGREEMENT in codes else level
    return level, {noun: len(verdicts), "invalid": invalid, "codes": codes}


def _codes(verdicts: Iterable[verdict_pb2.Verdict]) -> list[str]:
    return sorted({violation.code for verdict in verdicts for violation in verdict.violations})


def _conversions(response: conversion_service_pb2.ConvertToolsResponse) -> _LogFields:
    errors = sum(conversion.HasField("error") for conversion in response.conversions)
    strict = sum(conversion.converted.strict for conversion in response.conversions)
    codes = _codes([response.request])
    counts = {"tools": len(response.conversions), "errors": errors, "strict": strict}
    return logging.INFO if errors or codes else logging.DEBUG, {**counts, "codes": codes}


def _inference(response: inference_service_pb2.InferToolsResponse) -> _LogFields:
    diagnostics = response.diagnostics
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    errors = sum(diagnostic.severity == verdict_pb2.SEVERITY_ERROR for diagnostic in diagnostics)
    counts = {"tools": len(response.tools), "errors": errors}
    return logging.INFO if errors else logging.DEBUG, {**counts, "codes": codes}


def _registration(response: registry_service_pb2.RegisterToolsResponse) -> _LogFields:
    rejected = sum(
        outcome.action == registry_service_pb2.RegistrationOutcome.ACTION_REJECTED
        for outcome in response.outcomes
    )
    return logging.INFO, {
        "tools": len(response.outcomes),
        "rejected": rejected,
        "removed": len(response.removed),
        "revision": response.registry_revision,
    }


def _deletion(response: registry_service_pb2.DeleteToolsResponse) -> _LogFields:
    return logging.INFO, {"deleted": len(response.deleted)}


def _comparison(response: registry_service_pb2.CompareToolsResponse) -> _LogFields:
    level = comparison_pb2.ChangeLevel.Name(response.level)
    level = level.removeprefix("CHANGE_LEVEL_").lower()
    return logging.DEBUG, {"tools": len(response.tools), "worst": level}


def _names(response: protocol_service_pb2.CheckToolNamesResponse) -> _LogFields:
    return _checks("names", [outcome.verdict for outcome in response.outcomes])


def _tools(response: protocol_service_pb2.CheckToolsResponse) -> _LogFields:
    return _checks("tools", [outcome.verdict for outcome in response.outcomes])


def _check_result(response: Any) -> _LogFields:
    return _check(response.result.verdict)


def _verdict_field(response: Any) -> _LogFields:
    return _check(response.verdict)


_FIELDS: Mapping[type, Callable[[Any], _LogFields]] = MappingProxyType(
    {
        validation_service_pb2.ValidateResponse: _validation,
        registry_service_pb2.RegisterToolsResponse: _registration,
        registry_service_pb2.DeleteToolsResponse: _deletion,
        registry_service_pb2.CompareToolsResponse: _comparison,
        protocol_service_pb2.CheckElicitationResponse: _check_result,
        protocol_service_pb2.CheckElicitationResultResponse: _check_result,
        protocol_service_pb2.CheckSamplingResponse: _check_result,
        protocol_service_pb2.CheckToolResultResponse: _check_result,
        protocol_service_pb2.CheckMessageResponse: _check_result,
        protocol_service_pb2.CheckToolNamesResponse: _names,
        protocol_service_pb2.CheckToolsResponse: _tools,
        protocol_service_pb2.NormalizeToolResultResponse: _verdict_field,
        conversion_service_pb2.ConvertToolsResponse: _conversions,
        conversion_service_pb2.ConvertToolCallResponse: _validation,
        conversion_service_pb2.ConvertToolResultResponse: _verdict_field,
        inference_service_pb2.InferToolsResponse: _inference,
    }
)

_WITH_VERDICTS = frozenset(
    {
        *(
            response_type
            for response_type, describe in _FIELDS.items()
            if describe in {_validation, _check_result, _verdict_field, _names, _tools}
        ),
        validation_service_pb2.ValidateBatchResponse,
        validation_service_pb2.ValidateStreamResponse,
        protocol_service_pb2.CheckBatchResponse,
        protocol_service_pb2.CheckSessionResponse,
    }
)
