"""First members: by what an API that wants it can tell the objects of a union at once."""

from itertools import islice
from typing import TypeAlias

from sidecheck_server.core.budget import spend
from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.spelling import spelled
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction
from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["ARRANGING", "CHECKING"]

#: The name of a member, and its value, spelled, if it can have but one.
_Mark: TypeAlias = tuple[str, str]

_MOST = 30
"""How many references are followed from one branch."""

_MEMBER = 10


def _arranged(part: Part, fitting: Fitting) -> None:
    """Put first in each object of a union a member that is first in no other, if there is one."""
    objects = _objects(part, fitting)
    if not _clash(objects):
        return
    taken: set[_Mark] = set()
    for branch in objects:
        members: dict[str, Part] = branch.keywords["properties"]
        spend(fitting.record.budget, _MEMBER * len(members))
        # One that can have but one value tells most.
        marks = sorted((_mark(name, member) for name, member in members.items()), key=_tells)
        free = next((mark for mark in marks if mark not in taken), None)
        if free is None:
            continue
        taken.add(free)
        name = free[0]
        if next(iter(members)) != name:
            branch.keywords["properties"] = {name: members[name], **members}
            said = f"the member {name!r} stands first, by which the objects of a union are told"
            fitting.record.tell(branch, "properties", Action.REWRITTEN, Direction.SAME, said)


def _refused(part: Part, fitting: Fitting) -> None:
    """Refuse a union of objects that begin alike; another union may have arranged them anew."""
    if _clash(_objects(part, fitting)):
        said = (
            "the API takes no union of objects whose first members are the same, and these have "
            f"none to tell them apart (at {part.pointer})"
        )
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, said, {"pointer": part.pointer[:256]})


def _objects(part: Part, fitting: Fitting) -> list[Part]:
    """Return the branches of a union that are objects with members, if that matters."""
    if not fitting.subset.first_members_differ:
        return []
    followed = map(_followed, part.keywords.get("anyOf", ()))
    return list({id(each): each for each in followed if each.keywords.get("properties")}.values())


def _followed(part: Part) -> Part:
    for _ in range(_MOST):
        if "$ref" not in part.keywords:
            break
        part = part.keywords["$ref"]
    return part


def _clash(objects: list[Part]) -> bool:
    first = [_mark(*next(iter(each.keywords["properties"].items()))) for each in objects]
    return len(set(first)) < len(first)


def _mark(name: str, member: Part) -> _Mark:
    keywords = _followed(member).keywords
    values = [keywords["const"]] if "const" in keywords else keywords.get("enum", ())
    only = list(islice(values, 2))
    return (name, spelled(only[0]) if len(only) == 1 else "")


def _tells(mark: _Mark) -> bool:
    return not mark[1]


ARRANGING: tuple[Rule, ...] = (_arranged,)
CHECKING: tuple[Rule, ...] = (_refused,)
