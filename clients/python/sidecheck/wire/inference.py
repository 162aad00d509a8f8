"""Requests of InferenceService."""

from sidecheck.definitions import Source
from sidecheck.portability import Portability
from sidecheck.targets import Target, ToolJson
from sidecheck.tool_lists import Definition
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.wire.encoders.inference_options import ON_UNSUPPORTED
from sidecheck.wire.values import encode_tool_target, find_label

__all__ = ["encode_adaptation", "encode_inference"]


def encode_inference(source: Source) -> inference_pb.InferToolsRequest:
    """Return the request to infer the tools of *source*.

    Raises:
        ValueError: ``on_unsupported`` is invalid, or the text has a lone surrogate.
    """
    text = source.text
    return inference_pb.InferToolsRequest(
        source=text.encode() if isinstance(text, str) else text,
        functions=source.functions,
        on_unsupported=find_label("on_unsupported", source.on_unsupported, ON_UNSUPPORTED),
        injected_types=source.injected_types,
        injected_parameters=source.injected_parameters,
    )


def encode_adaptation(
    tool: Target | Definition | ToolJson,
    protocol_version: str,
    portable: Portability | None = None,
) -> inference_pb.AdaptToolRequest:
    """Return the request to adapt *tool*; bare JSON is a definition.

    Raises:
        TypeError: *tool* is a ``str``, or neither a definition nor a target; *portable* is no
            `Portability`.
    """
    if not isinstance(portable, Portability | None):
        raise TypeError(f"portable must be Portability, not {type(portable).__name__}")
    return inference_pb.AdaptToolRequest(
        tool=encode_tool_target(tool),
        protocol_version=protocol_version,
        portable=None
        if portable is None
        else inference_pb.Portability(targets=portable.targets, prove=portable.prove),
    )
