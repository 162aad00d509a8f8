"""Results of the Python client as JSON, in the form of `conformance.rendering`."""

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Final

from sidecheck import (
    InvalidPayload,
    InvalidResponse,
    SidecheckError,
    StreamClosed,
    StreamUnavailable,
    ToolsRejected,
    Unavailable,
    Verdict,
)
from sidecheck.conversion import ConvertedTool, ConvertedTools, ToolConversion
from sidecheck.protocol import CheckResult
from sidecheck.values.inference import InferredTool

__all__ = ["is_expected", "render", "render_result"]

_VARIABLE_FIELDS: Final = {"registry_revision", "revision"}

#: Fields of the client that the API names otherwise.
_RENAMED: Final = {
    (ConvertedTool, "text"): "json",
    (InferredTool, "digest"): "definition_digest",
}

_KINDS: Final = {
    SidecheckError: "error",
    Unavailable: "unavailable",
    InvalidResponse: "invalid_response",
    StreamClosed: "stream_closed",
    StreamUnavailable: "stream_unavailable",
    ToolsRejected: "tools_rejected",
}


def render_result(call: str, result: Any) -> dict[str, Any]:
    """Return the result of a *call* as the response of the API."""
    match call:
        case "Validate" | "RequireValid":
            return {"verdict": render(result)}
        case "ValidateBatch" | "CheckBatch":
            return {"outcomes": [render_outcome(outcome) for outcome in result]}
        case "GetTool":
            return {"tool": render(result)}
        case "ListTools":
            return {"tools": render(result)}
        case "ListRules":
            return {"rules": render(result)}
    rendered: dict[str, Any] = render(result)
    if isinstance(result, CheckResult):
        return {"result": rendered}
    if isinstance(result, ConvertedTools):
        # The request names the API, and not the response.
        del rendered["api"]
    return rendered


def render_outcome(outcome: Any) -> dict[str, Any]:
    """Return the outcome of one item."""
    if isinstance(outcome, Verdict):
        return {"verdict": render(outcome)}
    return render(outcome) if isinstance(outcome, SidecheckError) else {"result": render(outcome)}


def render(value: Any) -> Any:
    """Return any value of the client as JSON."""
    if isinstance(value, SidecheckError):
        return {"error": _error(value)}
    if isinstance(value, InvalidPayload):
        return {"error": {"kind": "invalid_payload", "text": str(value)}}
    if isinstance(value, ToolConversion):
        outcome = render(value.outcome)
        if isinstance(value.outcome, ConvertedTool):
            outcome = {"converted": outcome}
        return {"server": value.server, "name": value.name, **outcome}
    if is_dataclass(value):
        return {
            _RENAMED.get((type(value), field.name), field.name): render(getattr(value, field.name))
            for field in fields(value)
            if field.name not in _VARIABLE_FIELDS
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, tuple | list):
        return [render(element) for element in value]
    return value


def is_expected(want: Any, actual: Any) -> bool:
    """Return whether *actual* is *want*; of an error only the keys of *want* count."""
    if isinstance(want, dict) and isinstance(actual, dict):
        if want.keys() != actual.keys():
            return False
        return all(
            _is_expected_error(value, actual[key])
            if key == "error" and isinstance(value, dict)
            else is_expected(value, actual[key])
            for key, value in want.items()
        )
    if isinstance(want, list) and isinstance(actual, list):
        return len(want) == len(actual) and all(map(is_expected, want, actual))
    return type(want) is type(actual) and bool(want == actual)


def _is_expected_error(want: dict[str, Any], actual: Any) -> bool:
    return isinstance(actual, dict) and want == {
        key: value for key, value in actual.items() if key in want
    }


def _error(error: SidecheckError) -> dict[str, Any]:
    rendered: dict[str, Any] = {
        "kind": _KINDS[type(error)],
        "reason": error.reason,
        "status": error.status.name,
        "message": error.message,
        "text": str(error),
        "metadata": error.metadata,
        "retry_after": error.retry_after,
    }
    if isinstance(error, StreamClosed):
        rendered["unanswered"] = list(error.unanswered)
    return rendered
