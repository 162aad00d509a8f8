"""The proof of `sidecheck diff` on definitions that were made portable: none is narrower."""

import json

from conversions.subjects import sample
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.functions import compare_tools, make_portable
from sidecheck_server.core.portability.decoded_schema import CannotDecodeError
from sidecheck_server.core.portability.proof import Outcome, decode_definition, read_proof

SAMPLE = 300


def test_a_portable_definition_accepts_what_the_original_accepts() -> None:
    """By a proof, after the mapping is applied; and the same if arguments keep their form."""
    undecided: list[str] = []
    refuted: dict[str, Outcome] = {}
    for subject in sample(SAMPLE):
        text = json.dumps({**subject.tool, "outputSchema": {"type": "object"}}).encode()
        (converted,) = make_portable([text])
        if isinstance(converted, RequestError):
            continue
        try:
            decoded = decode_definition(converted.json, converted.mapping, subject.tool["name"])
        except CannotDecodeError:
            undecided.append(subject.name)
            continue
        (comparison,) = compare_tools([text], [decoded]).tools
        proof = read_proof(comparison, converted.losses)
        is_exact = all(loss.effect.value == "equivalent" for loss in converted.losses)
        # JSON text may contain more than the form that its loss describes.
        expects_same = is_exact and b'"decoder"' not in converted.mapping
        if proof.outcome is Outcome.UNDECIDED:
            undecided.append(subject.name)
        elif proof.outcome is Outcome.NARROWER or (expects_same and proof.outcome is Outcome.WIDER):
            refuted[subject.name] = proof.outcome

    assert {} == refuted
    assert len(undecided) < SAMPLE // 50
