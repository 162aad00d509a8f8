"""Statuses of request errors."""

from typing import Any

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.types import Violation
from sidecheck_server.rpc.status import STATUS_CODES, status_from_error
from support.wire import info_of, violations_of


def test_every_reason_has_a_status() -> None:
    """The table of status codes is complete."""
    assert set(ErrorReason) == set(STATUS_CODES)


def test_no_reason_is_ok_unknown_or_internal() -> None:
    """These codes are success and internal errors."""
    forbidden = {grpc.StatusCode.OK, grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL}

    assert set() == forbidden & set(STATUS_CODES.values())


def test_a_status_fits_into_trailers() -> None:
    """gRPC limits trailers to 8 KiB; texts of a request may be long and not UTF-8."""
    long = "\ud800" * 5000
    status = status_from_error(
        RequestError(ErrorReason.UNKNOWN_TOOL, long, {"tool": long, "server": long})
    )

    assert status.ByteSize() < 8000
    assert "UNKNOWN_TOOL" == info_of(status).reason


def test_only_overload_has_a_retry_delay() -> None:
    """RetryInfo tells clients that the same call may succeed later."""
    delayed = [
        reason
        for reason in ErrorReason
        if any(detail.Is(RetryInfo.DESCRIPTOR) for detail in _details(reason))
    ]

    assert [ErrorReason.OVERLOADED] == delayed


def _details(reason: ErrorReason) -> list[Any]:
    return list(status_from_error(RequestError(reason, "m")).details)


def test_a_status_lists_the_violations_of_a_definition() -> None:
    """Each with its location, code and message."""
    violations = (
        Violation("/properties/a/$ref", "", "", "UNRESOLVABLE_REFERENCE", "no target"),
        Violation("", "/type", "type", "TYPE", "expected an object"),
    )
    status = status_from_error(RequestError(ErrorReason.INVALID_SCHEMA, "bad", {}, violations))

    assert [
        {
            "instance_location": violation.instance_location,
            "code": violation.code,
            "message": violation.message,
        }
        for violation in violations
    ] == violations_of(status)


@pytest.mark.parametrize("character", ["x", "\ud800"])
@pytest.mark.parametrize("keys", [(), ("a", "b", "c")])
@pytest.mark.parametrize("times", [3, 5000])
def test_violations_fit_in_trailers(character: str, keys: tuple[str, ...], times: int) -> None:
    """The status lists as many violations as fit; the message has the first."""
    long = character * times
    violation = Violation(f"/{long}", "", "", "UNRESOLVABLE_REFERENCE", long)
    status = status_from_error(
        RequestError(
            ErrorReason.INVALID_SCHEMA,
            character * 5000,
            dict.fromkeys(keys, character * 5000),
            (violation,) * 100,
        )
    )

    # Percent-encoded (gRPC over HTTP2, Status-Message), and in base64 (Binary-Header).
    message = sum(1 if 0x20 <= byte <= 0x7E else 3 for byte in status.message.encode())
    assert message + status.ByteSize() * 4 // 3 < 8000
    assert (character == "x") <= len(violations_of(status)) < 50
