"""Nothing: schemas that admit nothing, where an API has no way to say that."""

from typing import Any

from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.telling import note
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["RULES"]


def _nothing(part: Part, fitting: Fitting) -> None:
    """Take parts that admit nothing from below *part*, if they cannot be written."""
    if fitting.subset.boolean_schemas or fitting.takes("not"):
        return
    _without_members(part, fitting)
    _without_branches(part, fitting)
    for keyword, below in list(part.below()):
        # `additionalProperties: false` is taken everywhere.
        if below.never and keyword != "additionalProperties":
            _widen(part, keyword, below, fitting)


def _without_members(part: Part, fitting: Fitting) -> None:
    """Take members that must not be there from what is closed anyway."""
    rest = part.keywords.get("additionalProperties")
    if rest is None or not rest.never or "patternProperties" in part.keywords:
        return
    members = part.keywords.get("properties", {})
    left = {name: member for name, member in members.items() if not member.never}
    if len(left) < len(members):
        part.keywords["properties"] = left
        said = "members that must not be given are not declared"
        fitting.record.tell(part, "properties", Action.REWRITTEN, Direction.SAME, said)


def _without_branches(part: Part, fitting: Fitting) -> None:
    branches = part.keywords.get("anyOf", [])
    left = [each for each in branches if not each.never]
    if left and len(left) < len(branches):
        part.keywords["anyOf"] = left
        said = "branches that admit nothing are left out"
        fitting.record.tell(part, "anyOf", Action.REWRITTEN, Direction.SAME, said)


def _widen(part: Part, keyword: str, below: Part, fitting: Fitting) -> None:
    # It may stand elsewhere too.
    open_ended = Part(below.at)
    note(open_ended, "no value is valid here")
    value: Any = part.keywords[keyword]
    if isinstance(value, list):
        part.keywords[keyword] = [open_ended if each is below else each for each in value]
    elif isinstance(value, dict):
        part.keywords[keyword] = {
            name: open_ended if each is below else each for name, each in value.items()
        }
    else:
        part.keywords[keyword] = open_ended
    said = "the API has no schema that admits nothing; described: no value is valid here"
    fitting.record.tell(open_ended, "", Action.DESCRIBED, Direction.WIDER, said)


RULES: tuple[Rule, ...] = (_nothing,)
