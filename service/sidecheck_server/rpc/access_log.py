"""What the log says of an answered call: outcomes and counts, never content."""

import logging
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from sidecheck.v1 import (
    conversion_service_pb2,
    inference_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    validation_service_pb2,
    verdict_pb2,
)

from sidecheck_server.core.evaluate import DISAGREEMENT

__all__ = ["LoggedResponse", "OutcomeCounter", "log_fields"]

_Outcome: TypeAlias = validation_service_pb2.ValidateOutcome | protocol_service_pb2.CheckOutcome
_Facts: TypeAlias = tuple[int, dict[str, Any]]


def log_fields(response: Any) -> _Facts:
    """Return the level at which an answer is logged, and its facts.

    Valid calls are at debug: there are many of them, and nothing to see.
    """
    told = _FACTS.get(type(response))
    return (logging.DEBUG, {}) if told is None else told(response)


def _check(verdict: verdict_pb2.Verdict) -> _Facts:
    """Tell of one verdict by rules: warnings and advice are of interest too."""
    codes = _codes([verdict])
    outcome = "valid" if verdict.valid else "invalid"
    if not codes:
        return logging.DEBUG, {"outcome": outcome}
    level = logging.DEBUG if verdict.valid else logging.INFO
    level = logging.ERROR if DISAGREEMENT in codes else level
    return level, {"outcome": outcome, "violations": len(verdict.violations), "codes": codes}


def _verdicts(noun: str, verdicts: Iterable[verdict_pb2.Verdict]) -> _Facts:
    verdicts = list(verdicts)
    invalid = sum(not verdict.valid for verdict in verdicts)
    codes = _codes(verdicts)
    level = logging.INFO if invalid else logging.DEBUG
    level = logging.ERROR if DISAGREEMENT in codes else level
    return level, {noun: len(verdicts), "invalid": invalid, "codes": codes}


def _codes(verdicts: Iterable[verdict_pb2.Verdict]) -> list[str]:
    return sorted({found.code for verdict in verdicts for found in verdict.violations})


def _verdict(verdict: verdict_pb2.Verdict) -> _Facts:
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


def _conversions(
    response: conversion_service_pb2.ConvertToolsResponse,
) -> _Facts:
    refused = sum(one.HasField("refused") for one in response.conversions)
    strict = sum(one.converted.strict for one in response.conversions)
    codes = _codes([response.request])
    counts = {"tools": len(response.conversions), "refused": refused, "strict": strict}
    return logging.INFO if refused or codes else logging.DEBUG, {**counts, "codes": codes}


def _inferred(response: inference_service_pb2.InferToolsResponse) -> _Facts:
    codes = sorted({found.code for found in response.diagnostics})
    errors = sum(found.severity == verdict_pb2.SEVERITY_ERROR for found in response.diagnostics)
    counts = {"tools": len(response.tools), "errors": errors}
    return logging.INFO if errors else logging.DEBUG, {**counts, "codes": codes}


class LoggedResponse(NamedTuple):
    """An answer, and the facts of it that its method knows already."""

    response: Any
    level: int
    facts: dict[str, Any]


class OutcomeCounter:
    """Counts the outcomes of a batch or a stream."""

    __slots__ = ("_disagreeing", "_invalid", "_items", "_refused")

    def __init__(self, items: int = 0) -> None:
        self._items = items
        self._invalid = self._refused = 0
        self._disagreeing: set[str] = set()

    def add(self, outcome: _Outcome) -> None:
        """Count one outcome."""
        self._items += 1
        self.look(outcome)

    def look(self, outcome: _Outcome) -> None:
        """See what one outcome is that was counted already; a valid one need not be seen."""
        if outcome.HasField("refusal"):
            self._refused += 1
            return
        if isinstance(outcome, protocol_service_pb2.CheckOutcome):
            verdict = outcome.result.verdict
        else:
            verdict = outcome.verdict
        if not verdict.valid:
            self._invalid += 1
            if any(found.code == DISAGREEMENT for found in verdict.violations):
                self._disagreeing.add(verdict.schema_digest)

    def told(self) -> _Facts:
        """Return the level at which they are logged, and the counts."""
        counts: dict[str, Any] = {
            "items": self._items,
            "invalid": self._invalid,
            "refused": self._refused,
        }
        if self._disagreeing:
            return logging.ERROR, {**counts, "disagreeing": sorted(self._disagreeing)}
        return logging.INFO if self._invalid or self._refused else logging.DEBUG, counts


def _registration(
    response: registry_service_pb2.RegisterToolsResponse,
) -> _Facts:
    refused = sum(
        one.action == registry_service_pb2.RegistrationOutcome.ACTION_REJECTED
        for one in response.outcomes
    )
    return logging.INFO, {
        "tools": len(response.outcomes),
        "refused": refused,
        "removed": len(response.removed),
        "revision": response.registry_revision,
    }


def _deletion(response: registry_service_pb2.DeleteToolsResponse) -> _Facts:
    return logging.INFO, {"deleted": len(response.deleted)}


def _names(response: protocol_service_pb2.CheckToolNamesResponse) -> _Facts:
    return _verdicts("names", [one.verdict for one in response.outcomes])


def _tools(response: protocol_service_pb2.CheckToolsResponse) -> _Facts:
    return _verdicts("tools", [one.verdict for one in response.outcomes])


def _judged(response: Any) -> _Facts:
    return _verdict(response.verdict)


def _answered(response: Any) -> _Facts:
    return _check(response.answer.verdict)


def _checked(response: Any) -> _Facts:
    return _check(response.verdict)


_FACTS: Mapping[type, Callable[[Any], _Facts]] = MappingProxyType(
    {
        validation_service_pb2.ValidateResponse: _judged,
        registry_service_pb2.RegisterToolsResponse: _registration,
        registry_service_pb2.DeleteToolsResponse: _deletion,
        protocol_service_pb2.CheckElicitationResponse: _answered,
        protocol_service_pb2.CheckElicitationResultResponse: _answered,
        protocol_service_pb2.CheckSamplingResponse: _answered,
        protocol_service_pb2.CheckToolResultResponse: _answered,
        protocol_service_pb2.CheckMessageResponse: _answered,
        protocol_service_pb2.CheckToolNamesResponse: _names,
        protocol_service_pb2.CheckToolsResponse: _tools,
        protocol_service_pb2.NormalizeToolResultResponse: _checked,
        conversion_service_pb2.ConvertToolsResponse: _conversions,
        conversion_service_pb2.ConvertToolCallResponse: _judged,
        conversion_service_pb2.ConvertToolResultResponse: _checked,
        inference_service_pb2.InferToolsResponse: _inferred,
    }
)
