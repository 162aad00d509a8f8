"""Reads the requests of Envoy's external processor, and builds its responses.

https://www.envoyproxy.io/docs/envoy/latest/api-v3/service/ext_proc/v3/external_processor.proto
"""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.json_format import MessageToDict

from sidecheck_server.gateways.generated.external_processor_pb2 import (
    BodyMutation,
    BodyResponse,
    CommonResponse,
    HeaderMap,
    HeaderMutation,
    HeadersResponse,
    HeaderValue,
    HeaderValueOption,
    HttpStatus,
    ImmediateResponse,
    ProcessingMode,
    ProcessingRequest,
    ProcessingResponse,
    TrailersResponse,
)

__all__ = [
    "BUFFERED",
    "NOT_SENT",
    "STREAMED",
    "UNCHANGED",
    "body_response",
    "headers_response",
    "immediate_response",
    "read_headers",
    "read_metadata",
    "set_metadata",
    "trailers_response",
    "unread_response",
]

BUFFERED: Final = ProcessingMode.BUFFERED
STREAMED: Final = ProcessingMode.STREAMED
NOT_SENT: Final = ProcessingMode.NONE

UNCHANGED: Final = None
"""Body to pass on unchanged."""

_NAMESPACE = "sidecheck"
_DETAILS = "sidecheck_rejected"
"""``%RESPONSE_CODE_DETAILS%`` of a response that replaces the server's."""


def read_headers(headers: HeaderMap) -> dict[str, str]:
    """Return *headers* keyed by lower-case name; values of a repeated name are joined."""
    values: dict[str, list[str]] = {}
    for header in headers.headers:
        value = header.value or header.raw_value.decode("latin-1")
        values.setdefault(header.key.lower(), []).append(value)
    return {name: ", ".join(texts) for name, texts in values.items()}


def read_metadata(request: ProcessingRequest) -> dict[str, str]:
    """Return the strings of Envoy's dynamic metadata in the namespace of Sidecheck."""
    namespaces = request.metadata_context.filter_metadata
    if _NAMESPACE not in namespaces:
        return {}
    values = MessageToDict(namespaces[_NAMESPACE])
    return {name: value for name, value in values.items() if isinstance(value, str)}


def headers_response(
    name: str,
    remove: tuple[str, ...] = (),
    response_body: ProcessingMode.BodySendMode | None = None,
) -> ProcessingResponse:
    """Return the response that passes headers on, except those to *remove*.

    *response_body* overrides the mode in which Envoy sends the body of the response.
    """
    common = CommonResponse(header_mutation=HeaderMutation(remove_headers=remove))
    response = _response(name, HeadersResponse(response=common))
    if response_body is not None:
        response.mode_override.CopyFrom(
            ProcessingMode(
                response_header_mode=ProcessingMode.SEND, response_body_mode=response_body
            )
        )
    return response


def body_response(name: str, text: bytes | None, *, is_whole: bool) -> ProcessingResponse:
    """Return the response that replaces a body, or a chunk of one, with *text*."""
    common = CommonResponse()
    if text is not UNCHANGED:
        mutation = BodyMutation(body=text) if text else BodyMutation(clear_body=True)
        common.body_mutation.CopyFrom(mutation)
        if is_whole:
            common.header_mutation.CopyFrom(_set_headers({"content-length": str(len(text))}))
    return _response(name, BodyResponse(response=common))


def trailers_response(name: str) -> ProcessingResponse:
    """Return the response that passes trailers on."""
    return _response(name, TrailersResponse())


def unread_response(name: str) -> ProcessingResponse:
    """Return the response that passes the part *name*, headers or a body, on unread."""
    match name:
        case "request_headers":
            return headers_response(name)
        case "response_headers":
            return headers_response(name, (), NOT_SENT)
    return body_response(name, UNCHANGED, is_whole=True)


def immediate_response(status: int, body: bytes) -> ProcessingResponse:
    """Return the response that ends the exchange with *status* and JSON text *body*."""
    immediate = ImmediateResponse(
        status=HttpStatus(code=status),
        body=body,
        details=_DETAILS,
    )
    if body:
        immediate.headers.CopyFrom(_set_headers({"content-type": "application/json"}))
    return ProcessingResponse(immediate_response=immediate)


def set_metadata(response: ProcessingResponse, metadata: Mapping[str, str]) -> None:
    """Make *response* set the dynamic metadata of the exchange to *metadata*."""
    response.dynamic_metadata.update({_NAMESPACE: dict(metadata)})


def _response(name: str, value: Any) -> ProcessingResponse:
    """Return the response with *value* in the field *name*."""
    fields: dict[str, Any] = {name: value}
    return ProcessingResponse(**fields)


def _set_headers(headers: Mapping[str, str]) -> HeaderMutation:
    options: list[Any] = [
        HeaderValueOption(
            header=HeaderValue(key=name, raw_value=value.encode()),
            append_action=HeaderValueOption.OVERWRITE_IF_EXISTS_OR_ADD,
        )
        for name, value in headers.items()
    ]
    return HeaderMutation(set_headers=options)
