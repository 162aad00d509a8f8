"""Error details of failed calls."""

from typing import Any

import grpc
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

__all__ = ["error_info_of", "error_violations_of", "info_of", "violations_of"]


def error_info_of(error: grpc.RpcError) -> Any:
    """Return the ErrorInfo of a failed call; check that status and trailers agree."""
    return info_of(_status_of(error))


def error_violations_of(error: grpc.RpcError) -> list[dict[str, str]]:
    """Return the violations in the error of a failed call."""
    return violations_of(_status_of(error))


def _status_of(error: grpc.RpcError) -> Status:
    assert isinstance(error, grpc.Call | grpc.aio.AioRpcError)
    trailers: dict[str, Any] = dict(error.trailing_metadata() or ())
    status = Status.FromString(trailers["grpc-status-details-bin"])
    assert status.code == error.code().value[0]
    assert status.message == error.details()
    return status


def info_of(status: Status) -> Any:
    """Return the ErrorInfo of *status*, its first detail; another type may follow."""
    kinds = [detail.TypeName() for detail in status.details]
    others = {BadRequest.DESCRIPTOR.full_name, RetryInfo.DESCRIPTOR.full_name}
    assert kinds[0] == ErrorInfo.DESCRIPTOR.full_name
    assert len(kinds) <= 2
    assert others.issuperset(kinds[1:])
    info = ErrorInfo()
    assert status.details[0].Unpack(info)
    assert info.domain == "sidecheck"
    return info


def violations_of(status: Status) -> list[dict[str, str]]:
    """Return the violations of a schema or a tool definition in *status*."""
    details = BadRequest()
    for detail in status.details[1:]:
        assert detail.Unpack(details)
    return [
        {
            "instance_location": violation.field,
            "code": violation.reason,
            "message": violation.description,
        }
        for violation in details.field_violations
    ]
