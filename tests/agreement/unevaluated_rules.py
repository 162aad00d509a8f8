"""Generators of ``unevaluated*`` beside nested branches that evaluate locations.

Left to chance, they seldom meet.
"""

from typing import TYPE_CHECKING

from agreement.branch_rules import Keywords, Rule
from sidecheck_server.core.types import Draft

if TYPE_CHECKING:
    from agreement.writing import Writer

__all__ = ["unevaluated_items", "unevaluated_properties"]


def unevaluated_properties(write: "Writer", depth: int) -> Keywords:
    """Write an object closed by ``unevaluatedProperties``, declared by its siblings."""
    written = _around(write, depth, _members)
    return {**written, "unevaluatedProperties": _closing(write, depth)}


def unevaluated_items(write: "Writer", depth: int) -> Keywords:
    """Write an array closed by ``unevaluatedItems``, with items declared by its siblings."""
    written = _around(write, depth, _listed)
    return {**written, "unevaluatedItems": _closing(write, depth)}


def _closing(write: "Writer", depth: int) -> object:
    return False if write.chance(0.6) else write.subschema(depth)


def _around(write: "Writer", depth: int, describe: Rule) -> Keywords:
    """Return keywords that describe a value directly or in branches."""
    written = describe(write, depth) if write.chance(0.6) else {}
    form = write.choose(("allOf", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "not", ""))
    if form in ("allOf", "anyOf", "oneOf"):
        written[form] = [_branch(write, depth, describe) for _ in range(write.random.randint(1, 2))]
    elif form == "if":
        for name in ("if", *write.choose((("then",), ("else",), ("then", "else"), ()))):
            written[name] = _branch(write, depth, describe)
    elif form == "dependentSchemas":
        names = write.some_names(1, 2)
        written[form] = {name: _branch(write, depth, describe) for name in names}
    elif form == "not":
        written[form] = _branch(write, depth, describe)
    return written


def _branch(write: "Writer", depth: int, describe: Rule) -> Keywords:
    branch: Keywords = {}
    write.nodes.append(branch)
    if write.chance(0.15):
        write.holes.append(branch)
    if depth < 4 and write.chance(0.4):
        branch |= _around(write, depth + 1, describe)
    else:
        branch |= describe(write, depth + 1)
    return branch


def _members(write: "Writer", depth: int) -> Keywords:
    names = write.some_names(1, 2)
    written: Keywords = {"properties": {name: write.subschema(depth + 1) for name in names}}
    if write.chance(0.3):
        written["required"] = names[:1]
    if write.chance(0.1):
        written = {"patternProperties": {write.pattern(): write.subschema(depth + 1)}}
    if write.chance(0.1):
        written[write.choose(("additionalProperties", "unevaluatedProperties"))] = True
    return written


def _listed(write: "Writer", depth: int) -> Keywords:
    first, rest = "items", "additionalItems"
    if write.edition.draft is Draft.DRAFT_2020_12:
        first, rest = "prefixItems", "items"
        if write.chance(0.25):
            return {"contains": write.subschema(depth + 1)}
    written: Keywords = {first: write.subschemas(write.random.randint(1, 2), depth + 1)}
    if write.chance(0.3):
        written["minItems"] = write.random.randint(1, 2)
    if write.chance(0.1):
        written[write.choose((rest, "unevaluatedItems"))] = True
    return written
