"""Combinators: allOf, anyOf, oneOf, not, if and what depends."""

from sidecheck_server.core.convert.fitting.exactness import OF_OBJECTS, may_encode, stays_exact
from sidecheck_server.core.convert.fitting.exclusion import exclusive
from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.merging import merged, without
from sidecheck_server.core.convert.fitting.outlines import outline
from sidecheck_server.core.convert.fitting.telling import describe, free, note
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.translation import ANNOTATIONS
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["RULES", "become"]

_NOT_TAKEN = "the API does not take it"
_NOT_EXACT = "what it holds cannot be kept exactly, and then it would mean something else"
_UNEVALUATED = {"unevaluatedProperties": "additionalProperties", "unevaluatedItems": "items"}
_IN_PLACE = ("allOf", "anyOf", "oneOf", "if", "dependentSchemas", "$ref", "contains")


def become(part: Part, other: Part) -> None:
    """Make *part* say what *other* says, at its own place."""
    part.keywords = dict(other.keywords)
    part.never = other.never
    part.notes = list(dict.fromkeys([*part.notes, *other.notes]))


def _merge(part: Part, fitting: Fitting) -> None:
    """Merge ``allOf`` into *part* where it cannot stay, if that can be done exactly."""
    keywords = part.keywords
    open_ended = [name for name in _UNEVALUATED if name in keywords and not fitting.takes(name)]
    refers = "$ref" in keywords and bool(open_ended)
    if not refers and ("allOf" not in keywords or _all_of_stays(part, fitting)):
        return
    # What stands beside the branches sees what all of them evaluate, merged or not.
    last = {name: keywords[name] for name in _UNEVALUATED if name in keywords}
    whole = merged([without(part, *last)], fitting.record.budget)
    if whole is None:
        return
    become(part, whole)
    part.keywords.update(last if not part.never else {})
    name = "allOf" if "allOf" in keywords else "$ref"
    said = "its branches are merged into what is around"
    fitting.record.tell(part, name, Action.REWRITTEN, Direction.SAME, said)


def _all_of_stays(part: Part, fitting: Fitting) -> bool:
    return fitting.takes("allOf") and not any(
        may_encode(branch, fitting) and not stays_exact(branch, fitting)
        for branch in part.keywords["allOf"]
    )


def _unevaluated(part: Part, fitting: Fitting) -> None:
    for keyword, plain in _UNEVALUATED.items():
        if keyword not in part.keywords:
            continue
        record = fitting.record
        if plain in part.keywords:
            del part.keywords[keyword]
            said = f"has no effect beside {plain}"
            record.tell(part, keyword, Action.DROPPED, Direction.SAME, said)
        elif fitting.takes(keyword) and stays_exact(part, fitting):
            continue
        elif any(name in part.keywords for name in _IN_PLACE):
            why = _NOT_EXACT if fitting.takes(keyword) else _NOT_TAKEN
            describe(part, record, keyword, why=why)
        else:
            part.keywords[plain] = part.keywords.pop(keyword)
            record.tell(part, keyword, Action.REWRITTEN, Direction.SAME, f"said by {plain}")


def _one_of(part: Part, fitting: Fitting) -> None:
    branches = part.keywords.get("oneOf")
    if branches is None:
        return
    if fitting.takes("oneOf") and all(stays_exact(each, fitting) for each in branches):
        return
    if "anyOf" in part.keywords or not fitting.takes("anyOf"):
        describe(part, fitting.record, "oneOf", why=_NOT_TAKEN)
        return
    same = len(branches) == 1 or exclusive(branches, part)
    part.keywords = {
        "anyOf" if keyword == "oneOf" else keyword: value
        for keyword, value in part.keywords.items()
    }
    if same:
        said = "no value is admitted by two of its branches, so that anyOf means the same"
        fitting.record.tell(part, "oneOf", Action.REWRITTEN, Direction.SAME, said)
    else:
        note(part, "only one of the alternatives")
        said = "anyOf in its place also admits what two of its branches admit"
        fitting.record.tell(part, "oneOf", Action.REWRITTEN, Direction.WIDER, said)


def _any_of(part: Part, fitting: Fitting) -> None:
    branches = part.keywords.get("anyOf")
    if branches is None:
        return
    if not fitting.takes("anyOf"):
        only = merged([without(part, "anyOf"), *branches], fitting.record.budget)
        if len(branches) == 1 and only is not None:
            become(part, only)
            said = "its only branch is merged into what is around"
            fitting.record.tell(part, "anyOf", Action.REWRITTEN, Direction.SAME, said)
        else:
            describe(part, fitting.record, "anyOf", why=_NOT_TAKEN)
    elif fitting.subset.closed or fitting.subset.all_required or fitting.subset.any_of_alone:
        _spread(part, branches, fitting)


def _spread(part: Part, branches: list[Part], fitting: Fitting) -> None:
    """Say in each branch what is said beside them.

    Objects will be closed each on its own, or the union may have no neighbours.
    """
    asserted = part.keywords.keys() - ANNOTATIONS.keys() - {"anyOf", "contentSchema"}
    of_objects = not asserted.isdisjoint(OF_OBJECTS) or any(
        not OF_OBJECTS.isdisjoint(each.keywords) for each in branches
    )
    if not asserted or not of_objects:
        return
    declares = any("properties" in each.keywords or "$ref" in each.keywords for each in branches)
    around = without(part, "anyOf", *ANNOTATIONS)
    whole = [merged([around, each], fitting.record.budget) for each in branches] if declares else []
    found = [each for each in whole if each is not None]
    if not found or len(found) < len(branches):
        if fitting.subset.any_of_alone:
            return  # What stands there is seen to where one of them is left alone.
        why = "it cannot be held apart from what is said beside it"
        describe(part, fitting.record, "anyOf", why=why)
        return
    for branch, both in zip(branches, found, strict=True):
        both.at = branch.at
    beside = {name: value for name, value in part.keywords.items() if name in ANNOTATIONS}
    part.keywords = {**beside, "anyOf": found}
    said = "what is said beside its branches is said in each of them"
    fitting.record.tell(part, "anyOf", Action.REWRITTEN, Direction.SAME, said)


def _all_of(part: Part, fitting: Fitting) -> None:
    """Merge those branches of an ``allOf`` that cannot stay which can be; describe the others."""
    if "allOf" not in part.keywords or _all_of_stays(part, fitting):
        return
    branches = part.keywords.pop("allOf")
    free(part, fitting.record)
    kept = []
    for branch in branches:
        both = merged([part, branch], fitting.record.budget)
        if both is not None:
            become(part, both)
        elif fitting.takes("allOf") and stays_exact(branch, fitting):
            kept.append(branch)
        else:
            said = f"also like {outline(branch)}"
            note(part, said)
            told = f"a branch that cannot be merged exactly is left out; described: {said}"
            fitting.record.tell(branch, "allOf", Action.DESCRIBED, Direction.WIDER, told)
    if kept:
        part.keywords["allOf"] = kept


def _conditions(part: Part, fitting: Fitting) -> None:
    """Leave out what a part that is widened, or encoded, would turn into something else."""
    for keyword in ("not", "if", "contains", "propertyNames", "dependentSchemas"):
        if keyword not in part.keywords:
            continue
        if not fitting.takes(keyword):
            describe(part, fitting.record, keyword, why=_NOT_TAKEN)
        elif not _stays(part, keyword, fitting):
            describe(part, fitting.record, keyword, why=_NOT_EXACT)


def _stays(part: Part, keyword: str, fitting: Fitting) -> bool:
    value = part.keywords[keyword]
    if keyword == "if":
        cases = [name for name in ("if", "then", "else") if name in part.keywords]
        return all(
            fitting.takes(name) and stays_exact(part.keywords[name], fitting) for name in cases
        )
    if keyword == "contains":
        bounds = [name for name in ("minContains", "maxContains") if name in part.keywords]
        return all(map(fitting.takes, bounds)) and stays_exact(value, fitting)
    if keyword == "propertyNames":
        return not fitting.members and stays_exact(value, fitting)
    if keyword == "dependentSchemas":
        return _names_stay(value, fitting) and all(
            stays_exact(each, fitting) for each in value.values()
        )
    return stays_exact(value, fitting)


def _names_stay(names: dict[str, object], fitting: Fitting) -> bool:
    """Return whether members of *names* are there where they are in the original."""
    return not fitting.subset.all_required and not names.keys() & fitting.members.keys()


def _dependent_required(part: Part, fitting: Fitting) -> None:
    needs = part.keywords.get("dependentRequired")
    if needs is None:
        return
    names = {**needs, **dict.fromkeys(name for listed in needs.values() for name in listed)}
    if not any(needs.values()):
        del part.keywords["dependentRequired"]
    elif not fitting.takes("dependentRequired"):
        describe(part, fitting.record, "dependentRequired", why=_NOT_TAKEN)
    elif not _names_stay(names, fitting):
        describe(part, fitting.record, "dependentRequired", why=_NOT_EXACT)


RULES: tuple[Rule, ...] = (
    _merge,
    _unevaluated,
    _all_of,
    _one_of,
    _any_of,
    _conditions,
    _dependent_required,
)
