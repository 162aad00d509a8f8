"""Reading what a server sends beside its messages."""

from typing import Any

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

__all__ = ["info_of", "refusal_of"]


def refusal_of(error: grpc.RpcError) -> Any:
    """Return the ErrorInfo that a refused call carries, after checking its frame."""
    assert isinstance(error, grpc.Call)
    trailers = dict(error.trailing_metadata() or ())
    status = Status.FromString(trailers["grpc-status-details-bin"])
    assert status.code == error.code().value[0]
    assert status.message == error.details()
    return info_of(status)


def info_of(status: Status) -> Any:
    """Return the one ErrorInfo of *status*."""
    assert len(status.details) == 1
    info = ErrorInfo()
    assert status.details[0].Unpack(info)
    assert info.domain == "sidecheck"
    return info
