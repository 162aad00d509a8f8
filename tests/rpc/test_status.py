"""Statuses of request errors."""

import grpc
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.rpc.status import STATUS_CODES, status_from_error
from support.wire import info_of


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
