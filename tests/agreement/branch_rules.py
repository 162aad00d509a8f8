"""Writers of the keywords that apply several subschemas to the same value."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agreement.writing import Writer

__all__ = [
    "Keywords",
    "Rule",
    "branches",
    "lone_then",
    "simple_branches",
    "write_if",
    "write_not",
]

Keywords = dict[str, Any]
Rule = Callable[["Writer", int], Keywords]


def branches(keyword: str) -> Rule:
    """Return a rule for *keyword*, whose value is an array of schemas."""

    def write_branches(write: "Writer", depth: int) -> Keywords:
        if keyword != "allOf" and write.chance(0.25):
            names = write.some_names(1, 3)
            return {keyword: [_tagged(write, name, depth) for name in names]}
        return {keyword: write.subschemas(write.random.randint(1, 3), depth)}

    return write_branches


def _tagged(write: "Writer", name: str, depth: int) -> Keywords:
    """Return a branch of a union with a discriminating property, as tools have them."""
    tag, body = write.names[0], write.subschema(depth)
    members = {tag: {"enum": [name]}, write.names[1]: body}
    branch = {"type": "object", "properties": members, "required": [tag]}
    write.nodes += [branch, members[tag]]
    return branch


def simple_branches(keyword: str) -> Rule:
    """Return a rule for a union of plain types and enumerations, such as `Optional`."""

    def write_simple_branches(write: "Writer", depth: int) -> Keywords:
        return {keyword: [_simple(write, depth) for _ in range(write.random.randint(2, 3))]}

    return write_simple_branches


def _simple(write: "Writer", depth: int) -> Keywords:
    kind = write.choose(("null", "boolean", "integer", "number", "number", "string", "string"))
    twofold = kind != "null" and write.chance(0.1)
    branch: Keywords = {"type": [kind, "null"] if twofold else kind}
    if kind == "string" and write.chance(0.6):
        branch = {"type": kind, "enum": list(dict.fromkeys((write.string(), write.string())))}
        if write.chance(0.5):
            del branch["type"]
    elif write.chance(0.5):
        for rule in write.rules_of(kind)[:2]:
            branch |= rule(write, depth)
    write.nodes.append(branch)
    return branch


def write_not(write: "Writer", depth: int) -> Keywords:
    """Write ``not``."""
    return {"not": write.subschema(depth)}


def write_if(write: "Writer", depth: int) -> Keywords:
    """Write ``if`` with two branches, one or none."""
    names = write.choose((("if", "then"), ("if", "else"), ("if", "then", "else"), ("if",)))
    return {name: write.subschema(depth) for name in names}


def lone_then(write: "Writer", depth: int) -> Keywords:
    """Write ``then`` or ``else`` without ``if``."""
    return {write.choose(("then", "else")): write.subschema(depth)}
