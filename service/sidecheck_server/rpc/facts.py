"""What the log says of an answered call: outcomes and counts, never content."""

import logging
from typing import Any

from sidecheck.v1 import registry_service_pb2, validation_service_pb2, verdict_pb2

from sidecheck_server.core.judge import DISAGREEMENT

__all__ = ["facts_of"]


def facts_of(response: Any) -> tuple[int, dict[str, Any]]:
    """Return the level at which an answer is logged, and its facts.

    Valid calls are at debug: there are many of them, and nothing to see.
    """
    if isinstance(response, validation_service_pb2.ValidateResponse):
        return _verdict(response.verdict)
    if isinstance(response, validation_service_pb2.ValidateBatchResponse):
        return _batch(response)
    if isinstance(response, registry_service_pb2.RegisterToolsResponse):
        return _registration(response)
    if isinstance(response, registry_service_pb2.DeleteToolsResponse):
        return logging.INFO, {"deleted": len(response.deleted)}
    return logging.DEBUG, {}


def _verdict(verdict: verdict_pb2.Verdict) -> tuple[int, dict[str, Any]]:
    if verdict.valid:
        return logging.DEBUG, {"outcome": "valid"}
    codes = sorted({found.code for found in verdict.violations})
    level = logging.ERROR if DISAGREEMENT in codes else logging.INFO
    return level, {
        "outcome": "invalid",
        "violations": len(verdict.violations),
        "codes": codes,
        "schema": verdict.schema_digest,
    }


def _batch(response: validation_service_pb2.ValidateBatchResponse) -> tuple[int, dict[str, Any]]:
    invalid = refused = 0
    disagreeing = set()
    for item in response.outcomes:
        if item.HasField("refusal"):
            refused += 1
        elif not item.verdict.valid:
            invalid += 1
            # It stands alone in its verdict.
            if item.verdict.violations[0].code == DISAGREEMENT:
                disagreeing.add(item.verdict.schema_digest)
    facts: dict[str, Any] = {
        "items": len(response.outcomes),
        "invalid": invalid,
        "refused": refused,
    }
    if disagreeing:
        return logging.ERROR, {**facts, "disagreeing": sorted(disagreeing)}
    return logging.INFO if invalid or refused else logging.DEBUG, facts


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
