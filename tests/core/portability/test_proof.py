"""Proofs that portable definitions accept what the originals accept."""

import json
from typing import Any

import pytest
from core.portability.test_portable import TOOLS
from sidecheck_server.core.compat.changes import (
    Level,
    Part,
    PerReading,
    Relation,
    SchemaComparison,
    SchemaVerdict,
    ToolComparison,
    ToolStatus,
    Witness,
)
from sidecheck_server.core.convert.providers.mcp import DEFAULT_TARGETS
from sidecheck_server.core.convert.types import Action, Effect, Loss
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.functions import compare_tools, make_portable
from sidecheck_server.core.portability.proof import (
    Outcome,
    PortabilityProof,
    decode_definition,
    read_proof,
)

DEFECT = "; no loss reports this, so it is a defect of Sidecheck: please report it"
REJECTED = Witness(b'{"a":1}', 'unknown property "a"', "/a", "/additionalProperties")
UNDECIDED = SchemaVerdict(Relation.UNDECIDED, Level.UNDECIDED, "the schema uses $ref")
BREAKING = SchemaVerdict(Relation.NARROWED, Level.BREAKING, witness=REJECTED)
EQUAL = SchemaVerdict(Relation.EQUAL, Level.COSMETIC)
WIDER = SchemaVerdict(Relation.WIDENED, Level.COMPATIBLE)
NARROWING = Loss("/inputSchema", "", Action.REWRITTEN, Effect.NARROWED, "")

OUTCOMES: dict[str, Outcome] = {
    "union at the root": Outcome.WIDER,
    "references, tuples and definitions of draft 7": Outcome.WIDER,
    "recursion": Outcome.WIDER,
    "look-around": Outcome.WIDER,
    "list of types with a description": Outcome.EQUIVALENT,
    # JSON text may contain any value.
    "open object": Outcome.WIDER,
    "true": Outcome.EQUIVALENT,
    "names": Outcome.EQUIVALENT,
    "output schema of draft 7": Outcome.EQUIVALENT,
    "output schema of an array": Outcome.EQUIVALENT,
}


def prove(definition: Any, targets: Any = DEFAULT_TARGETS) -> PortabilityProof:
    """Return the proof for the portable form of *definition*."""
    text = json.dumps(definition).encode()
    (converted,) = make_portable([text], targets, "2026-07-28")
    assert not isinstance(converted, RequestError), converted
    decoded = decode_definition(converted.json, converted.mapping, definition["name"])
    (comparison,) = compare_tools([text], [decoded]).tools
    return read_proof(comparison, converted.losses)


@pytest.mark.parametrize("case", OUTCOMES)
def test_a_form_for_all_targets(case: str) -> None:
    assert PortabilityProof(OUTCOMES[case]) == prove(TOOLS[case])


def test_each_definition_has_an_outcome() -> None:
    assert TOOLS.keys() == OUTCOMES.keys()


def test_undeclared_properties_of_one_branch() -> None:
    """Values of the other branch may have any."""
    branches = [{"type": "object"}, {"type": "object", "additionalProperties": {"type": "null"}}]
    schema = {"type": "object", "anyOf": branches, "required": ["$ref"]}

    assert PortabilityProof(Outcome.EQUIVALENT) == prove({"name": "find", "inputSchema": schema})


@pytest.mark.parametrize("target", sorted(DEFAULT_TARGETS))
@pytest.mark.parametrize("case", TOOLS)
def test_no_target_narrows(case: str, target: str) -> None:
    """References that remain may prevent a proof."""
    outcome = prove(TOOLS[case], [target]).outcome

    assert outcome in (Outcome.EQUIVALENT, Outcome.WIDER) or (
        outcome is Outcome.UNDECIDED and case == "recursion"
    )


def closed(properties: Any, **keywords: Any) -> Any:
    """Return a definition whose arguments are a closed object."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {"name": "t", "inputSchema": {**schema, **keywords}}


STRICT: dict[str, tuple[Any, Outcome]] = {
    "closed object": (closed({"a": {"type": "integer"}}, required=["a"]), Outcome.EQUIVALENT),
    "optional property": (closed({"a": {"type": "integer"}}), Outcome.EQUIVALENT),
    "optional nested object": (
        closed({"a": closed({"b": {"enum": ["x", "y"]}})["inputSchema"]}),
        Outcome.EQUIVALENT,
    ),
    "optional property that may be null": (
        closed({"a": {"type": ["integer", "null"]}}),
        Outcome.NARROWER,
    ),
    "open object": (
        {"name": "t", "inputSchema": {"type": "object", "properties": {}}},
        Outcome.NARROWER,
    ),
}


@pytest.mark.parametrize("case", STRICT)
def test_the_form_for_strict_mode(case: str) -> None:
    """A loss reports what it narrows."""
    definition, outcome = STRICT[case]
    proof = prove(definition, ["openai-strict"])

    assert (outcome, False) == (proof.outcome, proof.message.endswith(DEFECT))


def compared(**verdicts: SchemaVerdict) -> ToolComparison:
    """Return a comparison with *verdicts* on the schemas, in both readings."""
    parts = {"arguments": Part.INPUT, "results": Part.OUTPUT}
    schemas = tuple(
        SchemaComparison(parts[name], PerReading(verdict, verdict))
        for name, verdict in verdicts.items()
    )
    return ToolComparison(ToolStatus.CHANGED, "t", schemas=schemas)


READ: dict[str, tuple[ToolComparison, tuple[Loss, ...], PortabilityProof]] = {
    "equal schemas": (compared(), (), PortabilityProof(Outcome.EQUIVALENT)),
    "equal arguments": (compared(arguments=EQUAL), (), PortabilityProof(Outcome.EQUIVALENT)),
    "more arguments": (compared(arguments=WIDER), (), PortabilityProof(Outcome.WIDER)),
    "fewer results": (compared(results=WIDER), (), PortabilityProof(Outcome.EQUIVALENT)),
    "undecided arguments": (
        compared(arguments=UNDECIDED),
        (),
        PortabilityProof(Outcome.UNDECIDED, "the schema uses $ref"),
    ),
    "undecided results": (
        compared(arguments=EQUAL, results=UNDECIDED),
        (),
        PortabilityProof(Outcome.UNDECIDED, "the schema uses $ref"),
    ),
    "fewer arguments, as a loss says": (
        compared(arguments=BREAKING),
        (NARROWING,),
        PortabilityProof(
            Outcome.NARROWER,
            'arguments were valid, and are not: unknown property "a"',
            REJECTED,
        ),
    ),
    "fewer arguments without a loss": (
        compared(arguments=BREAKING, results=UNDECIDED),
        (),
        PortabilityProof(
            Outcome.NARROWER,
            f'arguments were valid, and are not: unknown property "a"{DEFECT}',
            REJECTED,
        ),
    ),
    "more results": (
        compared(arguments=UNDECIDED, results=BREAKING),
        (NARROWING,),
        PortabilityProof(
            Outcome.NARROWER,
            f'a result is allowed now, and was not: unknown property "a"{DEFECT}',
        ),
    ),
}


@pytest.mark.parametrize("case", READ)
def test_the_proof_of_a_comparison(case: str) -> None:
    """Whatever contradicts it comes first."""
    comparison, losses, proof = READ[case]

    assert proof == read_proof(comparison, losses)
