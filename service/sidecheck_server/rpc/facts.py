"""What the log says of an answered call: outcomes and counts, never content."""

import logging
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from sidecheck.v1 import (
    conversion_service_pb2,
    protocol_service_pb2,
    registry_service_pb2,
    validation_service_pb2,
    verdict_pb2,
)

from sidecheck_server.core.judge import DISAGREEMENT

__all__ = ["Tally", "Told", "facts_of"]

_Outcome: TypeAlias = validation_service_pb2.ValidateOutcome | protocol_service_pb2.CheckOutcome
_CHECKS = (
    protocol_service_pb2.CheckElicitationResponse,
    protocol_service_pb2.CheckElicitationResultResponse,
    protocol_service_pb2.CheckSamplingResponse,
    protocol_service_pb2.CheckToolResultResponse,
    protocol_service_pb2.CheckMessageResponse,
)
_RESULTS = (
    conversion_service_pb2.ConvertToolResultResponse,
    protocol_service_pb2.NormalizeToolResultResponse,
)


def facts_of(response: Any) -> tuple[int, dict[str, Any]]:
    """Return the level at which an answer is logged, and its facts.

    Valid calls are at debug: there are many of them, and nothing to see.
    """
    if isinstance(response, validation_service_pb2.ValidateResponse):
        return _verdict(response.verdict)
    if isinstance(response, registry_service_pb2.RegisterToolsResponse):
        return _registration(response)
    if isinstance(response, registry_service_pb2.DeleteToolsResponse):
        return logging.INFO, {"deleted": len(response.deleted)}
    if isinstance(response, _CHECKS):
        return _check(response.answer.verdict)
    if isinstance(response, protocol_service_pb2.CheckToolNamesResponse):
        return _verdicts("names", [one.verdict for one in response.outcomes])
    if isinstance(response, protocol_service_pb2.CheckToolsResponse):
        return _verdicts("tools", [one.verdict for one in response.outcomes])
    if isinstance(response, conversion_service_pb2.ConvertToolsResponse):
        return _conversions(response)
    if isinstance(response, conversion_service_pb2.RestoreToolCallResponse):
        return _verdict(response.verdict)
    if isinstance(response, _RESULTS):
        return _check(response.verdict)
    return logging.DEBUG, {}


def _check(verdict: verdict_pb2.Verdict) -> tuple[int, dict[str, Any]]:
    """Tell of one verdict by rules: warnings and advice are of interest too."""
    codes = _codes([verdict])
    outcome = "valid" if verdict.valid else "invalid"
    if not codes:
        return logging.DEBUG, {"outcome": outcome}
    level = logging.DEBUG if verdict.valid else logging.INFO
    level = logging.ERROR if DISAGREEMENT in codes else level
    return level, {"outcome": outcome, "violations": len(verdict.violations), "codes": codes}


def _verdicts(noun: str, verdicts: Iterable[verdict_pb2.Verdict]) -> tuple[int, dict[str, Any]]:
    verdicts = list(verdicts)
    invalid = sum(not verdict.valid for verdict in verdicts)
    codes = _codes(verdicts)
    level = logging.INFO if invalid else logging.DEBUG
    level = logging.ERROR if DISAGREEMENT in codes else level
    return level, {noun: len(verdicts), "invalid": invalid, "codes": codes}


def _codes(verdicts: Iterable[verdict_pb2.Verdict]) -> list[str]:
    return sorted({found.code for verdict in verdicts for found in verdict.violations})


def _verdict(verdict: verdict_pb2.Verdict) -> tuple[int, dict[str, Any]]:
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
) -> tuple[int, dict[str, Any]]:
    refused = sum(one.HasField("refused") for one in response.conversions)
    strict = sum(one.converted.strict for one in response.conversions)
    codes = _codes([response.request])
    counts = {"tools": len(response.conversions), "refused": refused, "strict": strict}
    return logging.INFO if refused or codes else logging.DEBUG, {**counts, "codes": codes}


class Told(NamedTuple):
    """An answer, and the facts of it that its method knows already."""

    response: Any
    level: int
    facts: dict[str, Any]


class Tally:
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
            verdict = outcome.answer.verdict
        else:
            verdict = outcome.verdict
        if not verdict.valid:
            self._invalid += 1
            if any(found.code == DISAGREEMENT for found in verdict.violations):
                self._disagreeing.add(verdict.schema_digest)

    def told(self) -> tuple[int, dict[str, Any]]:
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
) -> tuple[int, dict[str, Any]]:
    refused = sum(
        one.action == registry_service_pb2.RegistrationOutcome.ACTION_REFUSED
        for one in response.outcomes
    )
    return logging.INFO, {
        "tools": len(response.outcomes),
        "refused": refused,
        "removed": len(response.removed),
        "revision": response.registry_revision,
    }
