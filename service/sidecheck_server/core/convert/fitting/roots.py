"""The root: what may not stand there is merged into it, or the whole is wrapped."""

from sidecheck_server.core.convert.apis.api import References, Subset
from sidecheck_server.core.convert.fitting.combinators import become
from sidecheck_server.core.convert.fitting.merging import merged, without
from sidecheck_server.core.convert.fitting.outlines import outline
from sidecheck_server.core.convert.fitting.telling import GROUPS, describe, free, note
from sidecheck_server.core.convert.part import Part, reachable
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.translation import ANNOTATIONS
from sidecheck_server.core.convert.words import Action, Direction
from sidecheck_server.core.errors import ErrorReason, RequestError

__all__ = ["WRAPPER", "at_root"]

WRAPPER = "input"
"""The member that has the arguments, where these are wrapped."""

_NAME = "root"
"""The name of what was the root, where references lead to it."""

_CONDITIONAL = frozenset(
    {"required", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties"}
)
"""What may be asserted of an object whose members are declared elsewhere."""

_GROUPED = frozenset(name for group in GROUPS.values() for name in group[1:])
"""Keywords that another one takes along."""

_NOT_HERE = "the API does not take it at the root"


def at_root(root: Part, subset: Subset, record: Record) -> Part:
    """Return a root that keeps to what *subset* says of roots.

    What may not stand there is merged if that can be done exactly, described if it only
    says which members go together, and else the arguments become the one member of an
    object.

    Raises:
        Refusal: NOT_CONVERTIBLE if the schema admits no object.
        Exhausted: the budget of *record* is spent.
    """
    root = _apart(root, subset)
    _merge(root, subset, record)
    wraps = False
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in root.keywords and _refuses(keyword, subset):
            wraps = not _settled(root, keyword, subset, record) or wraps
    result = _wrapped(root, subset, record) if wraps else root
    for keyword in [each for each in result.keywords if each in subset.not_at_root]:
        if keyword in result.keywords and keyword not in _GROUPED:
            _leave_out(result, keyword, record)
    _say_object(root, record)
    if subset.properties_at_root:
        result.keywords.setdefault("properties", {})
    return result


def _apart(root: Part, subset: Subset) -> Part:
    """Return a root that can be changed although references may lead to *root*."""
    stays = root.keywords.get("type") == "object" and subset.not_at_root.isdisjoint(root.keywords)
    if stays or not any(
        keyword == "$ref" and below is root
        for part in reachable(root)
        for keyword, below in part.below()
    ):
        return root
    root.name = root.name or _NAME
    return Part(root.at, dict(root.keywords), root.never, list(root.notes))


def _refuses(keyword: str, subset: Subset) -> bool:
    """Return whether *keyword* may stand below the root, but not there."""
    if keyword in subset.not_at_root:
        return True
    taken = subset.keywords is None or keyword in subset.keywords
    # oneOf becomes anyOf where that is not taken.
    return keyword == "oneOf" and not taken and "anyOf" in subset.not_at_root


def _merge(root: Part, subset: Subset, record: Record) -> None:
    """Merge what the root refers to, and ``allOf``, into it where they may not stand."""
    refers = "$ref" in root.keywords and (
        bool(subset.not_at_root)
        or subset.properties_at_root
        or subset.references is not References.ANYWHERE
    )
    gathers = "allOf" in root.keywords and _refuses("allOf", subset)
    if not refers and not gathers:
        return
    # What stands beside the branches sees what all of them evaluate, merged or not.
    last = {name: value for name, value in root.keywords.items() if name.startswith("unevaluated")}
    whole = merged([without(root, *last)], record.budget)
    if whole is not None:
        become(root, whole)
        root.keywords.update(last)
        said = "merged into the root"
        name = "$ref" if refers else "allOf"
        record.tell(root, name, Action.REWRITTEN, Direction.SAME, said)
    elif refers:
        # No reference may be left at the root; allOf is seen to next.
        target = root.keywords.pop("$ref")
        root.keywords["allOf"] = [target, *root.keywords.get("allOf", ())]
        said = "a branch of allOf, for it may not stand at the root"
        record.tell(root, "$ref", Action.REWRITTEN, Direction.SAME, said)


def _settled(root: Part, keyword: str, subset: Subset, record: Record) -> bool:
    """Take *keyword* from the root, or return False if only wrapping would do."""
    branches = root.keywords[keyword]
    if len(branches) == 1:
        whole = merged([without(root, keyword), *branches], record.budget)
        if whole is not None:
            become(root, whole)
            said = "its only branch is merged into the root"
            record.tell(root, keyword, Action.REWRITTEN, Direction.SAME, said)
            return True
    if keyword == "allOf":
        return _settled_all(root, branches, subset, record)
    return _without_union(root, keyword, subset, record)


def _without_union(root: Part, keyword: str, subset: Subset, record: Record) -> bool:
    taken = subset.keywords is None or "anyOf" in subset.keywords
    if taken and not all(map(_only_conditions, root.keywords[keyword])):
        return False
    describe(root, record, keyword, why=_NOT_HERE)
    return True


def _settled_all(root: Part, branches: list[Part], subset: Subset, record: Record) -> bool:
    """Merge the *branches* that can be merged, and describe mere conditions among the others."""
    left: list[Part] = []
    own = without(root, "allOf", "unevaluatedProperties", "unevaluatedItems")
    own.notes = list(root.notes)
    for branch in branches:
        whole = merged([own, branch], record.budget)
        if whole is None:
            left.append(branch)
        else:
            own = whole
    taken = subset.keywords is None or "allOf" in subset.keywords
    if taken and not all(map(_only_conditions, left)):
        return False
    if left:
        free(root, record)
    last = {name: value for name, value in root.keywords.items() if name.startswith("unevaluated")}
    become(root, own)
    root.keywords.update(last)
    for branch in left:
        said = f"also like {outline(branch)}"
        note(root, said)
        told = f"{_NOT_HERE}, and cannot be merged exactly; described: {said}"
        record.tell(branch, "allOf", Action.DESCRIBED, Direction.WIDER, told)
    return True


def _only_conditions(branch: Part) -> bool:
    """Return whether *branch* says no more than which members go together."""
    asserted = branch.keywords.keys() - ANNOTATIONS.keys()
    if branch.keywords.get("type") == "object":
        asserted -= {"type"}
    inside = [
        part
        for name, below in branch.keywords.items()
        if name in ("not", "if", "then", "else", "anyOf", "oneOf", "allOf")
        for part in (below if isinstance(below, list) else [below])
    ]
    asserted -= {"not", "if", "then", "else", "anyOf", "oneOf", "allOf"}
    return asserted <= _CONDITIONAL and all(map(_only_conditions, inside))


def _wrapped(root: Part, subset: Subset, record: Record) -> Part:
    root.name = root.name or _NAME
    wrapper = Part(root.at, {"type": "object"})
    wrapper.keywords["properties"] = {WRAPPER: root}
    wrapper.keywords["required"] = [WRAPPER]
    if subset.closed:
        # It is not the author's object: nothing is lost where it is closed.
        wrapper.keywords["additionalProperties"] = Part(root.at, never=True)
    wrapper.undo.wrapped = WRAPPER
    said = f"the API takes no union at the root: the arguments are the member {WRAPPER!r}"
    record.tell(wrapper, "", Action.ENCODED, Direction.SAME, said)
    return wrapper


def _leave_out(root: Part, keyword: str, record: Record) -> None:
    if keyword in ANNOTATIONS:
        del root.keywords[keyword]
        record.tell(root, keyword, Action.DROPPED, Direction.SAME, _NOT_HERE)
    else:
        describe(root, record, keyword, why=_NOT_HERE)


def _say_object(root: Part, record: Record) -> None:
    """State that arguments are an object, as they always are (MCP 2025-11-25, tools)."""
    stated = root.keywords.get("type", "object")
    if root.never or "object" not in ([stated] if isinstance(stated, str) else stated):
        said = "its input schema admits no object, so that the tool cannot be called"
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, said, {"pointer": root.pointer})
    if root.keywords.get("type") != "object":
        rest = {name: value for name, value in root.keywords.items() if name != "type"}
        root.keywords = {"type": "object", **rest}
        said = "arguments are always an object"
        record.tell(root, "type", Action.REWRITTEN, Direction.SAME, said)
