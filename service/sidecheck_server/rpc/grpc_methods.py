"""Adapter that serves the methods of the table on a gRPC server.

It replaces the generated code, with which gRPC would answer an unreadable request with UNKNOWN
and the text of a Python exception.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import grpc

from sidecheck_server.access.authorizer import Authorizer
from sidecheck_server.rpc.admission import Admission
from sidecheck_server.rpc.call_metrics import CallMetrics, MethodMetrics
from sidecheck_server.rpc.method_calls import bidi_stream, exempt_unary, server_stream, unary
from sidecheck_server.rpc.method_table import Kind, Method

__all__ = ["add_methods"]


def add_methods(
    server: grpc.aio.Server,
    methods: Iterable[Method],
    admission: Admission,
    metrics: CallMetrics,
    authorizer: Authorizer,
    *,
    exempt: bool = False,
) -> None:
    """Serve *methods* on *server*, which searches services in their order.

    *authorizer* authorizes calls, *admission* limits unary calls unless they are *exempt*, and
    *metrics* count all calls.
    """
    services: dict[str, dict[str, Any]] = defaultdict(dict)
    for method in methods:
        services[method.service][method.name] = _handler(
            method, admission, metrics.of(method), authorizer, exempt=exempt
        )
    for service, handlers in services.items():
        generic = grpc.method_handlers_generic_handler(service, handlers)
        server.add_generic_rpc_handlers((generic,))


def _handler(
    method: Method,
    admission: Admission,
    metrics: MethodMetrics,
    authorizer: Authorizer,
    *,
    exempt: bool,
) -> Any:
    # Functions rather than methods of an object: gRPC inspects the handler at each call, and
    # inspecting a method takes twice as long.
    serialize = method.response_type.SerializeToString
    if method.kind is Kind.BIDI_STREAM:
        return grpc.stream_stream_rpc_method_handler(
            bidi_stream(method, metrics, authorizer),
            request_deserializer=method.deserialize,
            response_serializer=serialize,
        )
    # Decision 0053: gRPC waits without end for the request of a unary call before it calls the
    # handler. The handler of a stream is called at once, and can limit the wait. Both kinds of
    # calls are the same on the wire.
    if method.kind is Kind.SERVER_STREAM:
        return grpc.stream_stream_rpc_method_handler(
            server_stream(method, admission, metrics, authorizer), response_serializer=serialize
        )
    create = exempt_unary if exempt else unary
    return grpc.stream_unary_rpc_method_handler(create(method, admission, metrics, authorizer))
