"""Proof that a portable definition accepts what the original accepts."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from sidecheck_server.core.compat.changes import (
    Level,
    Part,
    Reading,
    Relation,
    SchemaVerdict,
    ToolComparison,
    Witness,
)
from sidecheck_server.core.convert.types import Effect, Loss
from sidecheck_server.core.payload import encode_json, read_json
from sidecheck_server.core.portability.decoded_schema import CannotDecodeError, decode_schema

__all__ = ["Outcome", "PortabilityProof", "decode_definition", "read_proof", "undecided_proof"]


class Outcome(StrEnum):
    """Relation of the calls that a portable definition accepts to those of the original."""

    EQUIVALENT = "equivalent"
    WIDER = "wider"
    """All calls of the original, and it is not proved that there are no others."""
    UNDECIDED = "undecided"
    """Neither a proof nor a counterexample was found."""
    NARROWER = "narrower"
    """A counterexample was found."""


@dataclass(frozen=True, slots=True)
class PortabilityProof:
    """Outcome of the search for a proof."""

    outcome: Outcome
    #: Reason of an undecided or narrower outcome, or "".
    message: str = ""
    #: Arguments that only the original accepts.
    witness: Witness | None = None


def decode_definition(portable: bytes, mapping: bytes, name: str) -> bytes:
    """Return the definition *portable* in terms of the original arguments, with *name*.

    *mapping* is the one that converts calls back.

    Raises:
        CannotDecodeError: there is no such definition.
    """
    definition = msgspec.json.decode(portable, type=dict[str, msgspec.Raw])
    decoder = read_json(mapping).get("decoder")
    decoded: dict[str, Any] = {**definition, "name": name}
    if decoder is not None:
        try:
            schema = decode_schema(read_json(bytes(definition["inputSchema"])), decoder)
        except RecursionError:
            raise CannotDecodeError("the schema nests too deeply") from None
        # The root of an input schema is an object (MCP, Tool).
        schema = schema if isinstance(schema, dict) else {"allOf": [schema]}
        decoded["inputSchema"] = {"type": "object", **schema}
    return encode_json(decoded)


def undecided_proof(reason: str) -> PortabilityProof:
    """Return the outcome of a search that *reason* prevented."""
    return PortabilityProof(Outcome.UNDECIDED, reason)


def read_proof(comparison: ToolComparison, losses: Iterable[Loss]) -> PortabilityProof:
    """Return the proof in *comparison*, of the original with the decoded definition.

    *losses* are those of the portable definition.
    """
    verdicts = {
        schema.part: schema.verdicts.of(Reading.AS_WRITTEN) for schema in comparison.schemas
    }
    for part, verdict in verdicts.items():
        if verdict.level is Level.BREAKING:
            return _narrower(part, verdict, losses)
    undecided = [
        *(verdict.reason for verdict in verdicts.values() if verdict.level is Level.UNDECIDED),
        *(
            change.message
            for change in comparison.changes
            # Of a definition that cannot be read, there is no comparison of schemas.
            if not verdicts and change.effects.as_written.level is Level.UNDECIDED
        ),
    ]
    if undecided:
        return undecided_proof(undecided[0])
    arguments = verdicts.get(Part.INPUT)
    is_equal = arguments is None or arguments.relation is Relation.EQUAL
    return PortabilityProof(Outcome.EQUIVALENT if is_equal else Outcome.WIDER)


def _narrower(part: Part, verdict: SchemaVerdict, losses: Iterable[Loss]) -> PortabilityProof:
    witness = verdict.witness
    subject = (
        "arguments were valid, and are not"
        if part is Part.INPUT
        else "a result is allowed now, and was not"
    )
    message = f"{subject}: {witness.message}" if witness else subject
    if part is Part.OUTPUT or not any(loss.effect is Effect.NARROWED for loss in losses):
        message += "; no loss reports this, so it is a defect of Sidecheck: please report it"
    return PortabilityProof(Outcome.NARROWER, message, witness if part is Part.INPUT else None)
