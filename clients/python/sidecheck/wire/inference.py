"""Messages of InferenceService."""

from collections.abc import Mapping
from typing import Final

from sidecheck.definitions import AdaptedTool, Diagnostic, InferredTool, InferredTools, Source
from sidecheck.json_types import JsonText
from sidecheck.portability import Portability, PortabilityProof, PortableForm, ProofOutcome
from sidecheck.targets import Target, ToolJson
from sidecheck.tool_lists import Definition
from sidecheck.v1 import inference_service_pb2 as inference_pb
from sidecheck.wire.conversion import decode_effect, decode_losses
from sidecheck.wire.decoders.comparison import decode_witness
from sidecheck.wire.decoders.verdict import decode_severity
from sidecheck.wire.errors import require_json
from sidecheck.wire.values import copy_fields, encode_tool_target, find_label

__all__ = ["decode_adaptation", "decode_inference", "encode_adaptation", "encode_inference"]

ON_UNSUPPORTED: Final[Mapping[str, str]] = {
    "error": "ON_UNSUPPORTED_ERROR",
    "any": "ON_UNSUPPORTED_ANY",
}
OUTCOMES: Final = {
    value.number: ProofOutcome[value.name.removeprefix("OUTCOME_")]
    for value in inference_pb.PortabilityProof.Outcome.DESCRIPTOR.values
    if value.number
}


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


def decode_inference(response: inference_pb.InferToolsResponse) -> InferredTools:
    """Return the result of an inference."""
    return InferredTools(
        tools=tuple(
            copy_fields(
                tool,
                InferredTool,
                json=JsonText(require_json(tool, "json")),
                digest=tool.definition_digest,
            )
            for tool in response.tools
        ),
        diagnostics=tuple(
            copy_fields(diagnostic, Diagnostic, severity=decode_severity(diagnostic.severity))
            for diagnostic in response.diagnostics
        ),
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


def decode_adaptation(response: inference_pb.AdaptToolResponse) -> AdaptedTool:
    """Return the adapted tool of a response."""
    return copy_fields(
        response,
        AdaptedTool,
        json=JsonText(require_json(response, "json")),
        dropped_properties=tuple(response.dropped_properties),
        portable=decode_portable(response.portable) if response.HasField("portable") else None,
    )


def decode_portable(message: inference_pb.PortableForm) -> PortableForm:
    """Return the portable form in *message*."""
    return PortableForm(
        mapping=JsonText(require_json(message, "mapping")),
        losses=decode_losses(message.losses),
        effect=decode_effect(message.effect),
        proof=decode_proof(message.proof) if message.HasField("proof") else None,
    )


def decode_proof(message: inference_pb.PortabilityProof) -> PortabilityProof:
    """Return the proof in *message*."""
    return PortabilityProof(
        outcome=OUTCOMES.get(message.outcome, ProofOutcome.UNSPECIFIED),
        message=message.message,
        witness=decode_witness(message.witness) if message.HasField("witness") else None,
    )
