"""From source text to the message of a request to infer its tools."""

from collections.abc import Mapping
from typing import Final

from sidecheck.inferred import Source
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.wire.protocol_requests import label

__all__ = ["inference_request"]

ON_UNSUPPORTED: Final[Mapping[str, str]] = {
    "error": "ON_UNSUPPORTED_ERROR",
    "any": "ON_UNSUPPORTED_ANY",
}


def inference_request(source: Source) -> inference_pb.InferToolsRequest:
    """Return the request to infer the tools of *source*.

    Raises:
        ValueError: A word or a text has no form on the wire.
    """
    text = source.text
    return inference_pb.InferToolsRequest(
        source=text.encode() if isinstance(text, str) else text,
        functions=source.functions,
        on_unsupported=label("on_unsupported", source.on_unsupported, ON_UNSUPPORTED),
        injected_types=source.injected_types,
        injected_parameters=source.injected_parameters,
    )
