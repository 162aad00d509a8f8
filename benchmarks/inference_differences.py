"""How Sidecheck's inference from functions differs from FastMCP's and the MCP SDK's, and why.

python benchmarks/inference_differences.py [--quick] [--report FOLDER]
"""

import logging
from collections.abc import Mapping
from types import MappingProxyType

from definition_kinds import differences
from inference_functions import HARD, ORDINARY
from inference_peers import FASTMCP, SDK, SIDECHECK, inferred
from report import Claim, Effort, Section, Table, run

__all__ = ["JUDGED", "found", "measure"]

REJECTED_BY_PEER = "rejected by the peer alone"
REJECTED_BY_SIDECHECK = "rejected by Sidecheck alone"

_TEXT = (
    "The functions of `benchmarks/inference_functions.py`, ordinary ones and those on which "
    "inferences are known to differ, are made tools by each, and the definitions are compared "
    "without titles, which count as one difference of their own. Right is what the protocol "
    "asks for: schemas that can be resolved, results that conform to the output schema, "
    "arguments by the name that the function takes, and no promise that a call breaks."
)

_WRAPPED = (
    "each in its way",
    (
        "Revisions before 2026-07-28 want an object at the root, later ones take any schema. "
        "Sidecheck keeps the natural schema, and projects it to a box for the revisions that "
        "want one; the peer boxes for all of them."
    ),
)
_NO_DATA = (
    "Sidecheck",
    (
        "What has no schema that says something is content, not data: None, and bytes, whose "
        "base64 would be sent twice."
    ),
)
_NULL_DEFAULT = (
    "Sidecheck",
    (
        "The default null does not conform to the type integer, which stands beside it; it is "
        "left out, with a warning."
    ),
)

#: Who is right on a kind of difference, by peer and kind, and why.
JUDGED: Mapping[tuple[str, str], tuple[str, str]] = MappingProxyType(
    {
        (FASTMCP, "wrapped output"): _WRAPPED,
        (SDK, "wrapped output"): _WRAPPED,
        (FASTMCP, "defaults"): _NULL_DEFAULT,
        (SDK, "defaults"): _NULL_DEFAULT,
        (FASTMCP, "output"): (
            "each in its way",
            (
                "Fields with an alias: FastMCP names them by the field, as it sends them, and "
                "Sidecheck by the alias, as it sends them; the author asked for the alias."
            ),
        ),
        (FASTMCP, "output of one alone"): (
            "Sidecheck",
            "The type object says nothing of a result: a box around anything is no promise.",
        ),
        (FASTMCP, REJECTED_BY_PEER): (
            "Sidecheck",
            (
                "`**values: T` is `additionalProperties: T`; and a default that is no JSON, such "
                "as `...`, is left out with a warning, for the argument is optional all the same."
            ),
        ),
        (FASTMCP, "titles"): (
            "Sidecheck",
            (
                "Names of parameters are no titles; the one that an author gave with Field(title=) "
                "stays."
            ),
        ),
        (SDK, "titles"): (
            "Sidecheck",
            "A title that is made of a name tells a model nothing that the name does not.",
        ),
        (SDK, "closed root"): (
            "Sidecheck",
            (
                "An open root admits arguments that the SDK then drops, misspelt ones among them; "
                "closed, the model is told of them."
            ),
        ),
        (SDK, "description of the tool"): (
            "Sidecheck",
            "The sections of a docstring are told at their parameters, not twice.",
        ),
        (SDK, "descriptions of parameters"): (
            "Sidecheck",
            "The SDK does not read docstrings, nor a text in Annotated.",
        ),
        (SDK, "output"): (
            "Sidecheck",
            (
                "The SDK writes output schemas as results are read, and not as they are written: "
                "an alias for writing and a computed field are not in them, a Decimal may be a "
                "number, and what has a factory is required at the root and not below it."
            ),
        ),
        (SDK, "output of one alone"): (
            "Sidecheck",
            "The SDK tells no schema of dates, UUIDs, decimals, enumerations and dictionaries, "
            "which have one. " + _NO_DATA[1],
        ),
        (SDK, "parameters"): (
            "Sidecheck",
            (
                "`**values` becomes a required argument called values, which the function then "
                "gets under that name."
            ),
        ),
        (SDK, REJECTED_BY_PEER): (
            "Sidecheck",
            "A name such as model_config or _x is one that a function may have for a parameter.",
        ),
        (SDK, REJECTED_BY_SIDECHECK): (
            "Sidecheck",
            (
                "`*values` and parameters before `/` cannot be given by name: the tool would be "
                "listed, and every call of it fail."
            ),
        ),
        (SDK, "required"): (
            "Sidecheck",
            "A parameter with the default `...` may be left out of a call of the function.",
        ),
        (SDK, "types"): (
            "Sidecheck",
            "Without an annotation anything is admitted, with a warning; the SDK makes it a text.",
        ),
    }
)


def found(quick: int | None = None) -> dict[str, dict[str, list[str]]]:
    """Return the kinds of differences by function and peer; those without any are left out."""
    every = list({**ORDINARY, **HARD}.items())[:quick]
    found_kinds: dict[str, dict[str, list[str]]] = {}
    logging.disable(logging.WARNING)
    try:
        for name, function in every:
            ours = inferred(SIDECHECK, function)
            for peer in (FASTMCP, SDK):
                kinds = _kinds(inferred(peer, function), ours)
                if kinds:
                    found_kinds.setdefault(name, {})[peer] = sorted(kinds)
    finally:
        logging.disable(logging.NOTSET)
    return found_kinds


def _kinds(theirs: object, ours: object) -> set[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return differences(theirs, ours)
    if isinstance(theirs, dict):
        return {REJECTED_BY_SIDECHECK}
    return {REJECTED_BY_PEER} if isinstance(ours, dict) else set()


def measure(effort: Effort) -> Section:
    """Compare and return the section."""
    by_function = found(effort.choose(None, 12))
    kinds: dict[tuple[str, str], list[str]] = {}
    for name, peers in by_function.items():
        for peer, each in peers.items():
            for kind in each:
                kinds.setdefault((peer, kind), []).append(name)
    rows = [
        [f"{peer}: {kind}", _named(names), *JUDGED.get((peer, kind), ("nobody yet", ""))]
        for (peer, kind), names in sorted(kinds.items())
    ]
    unjudged = [f"{peer}: {kind}" for peer, kind in kinds if (peer, kind) not in JUDGED]
    return Section(
        "inference_differences",
        "What others infer of the same functions",
        _TEXT,
        [
            Table(
                f"Differences ({len(ORDINARY)} ordinary functions, {len(HARD)} hard ones)",
                ["peer and difference", "functions", "right", "why"],
                rows,
            )
        ],
        [
            Claim(
                "every difference from other inferences has been judged",
                "none left",
                ", ".join(unjudged) or "none left",
                not unjudged,
            )
        ],
    )


def _named(names: list[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if len(names) <= 10 else f"{len(names)} functions"


if __name__ == "__main__":
    run(measure, __doc__)
