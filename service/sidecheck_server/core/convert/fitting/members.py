"""Members: which ones an object declares, under names and in forms that an API takes."""

from typing import Any

from sidecheck_server.core.budget import spend
from sidecheck_server.core.convert.fitting.fitting import Fitting
from sidecheck_server.core.convert.fitting.outlines import shown
from sidecheck_server.core.convert.fitting.patterns import is_taken
from sidecheck_server.core.convert.fitting.phrases import phrase_of
from sidecheck_server.core.convert.fitting.telling import describe, drop
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["declare_required", "drop_impossible", "drop_patterns", "rename"]

_VISIT = 80
"""Steps of looking at one part."""


def rename(part: Part, fitting: Fitting) -> None:
    """Give members the names that the API allows."""
    names, keywords = fitting.members, part.keywords
    if not names:
        return
    found = [name for name in _declared(part, fitting) if name in names]
    if not found:
        return
    part.undo.renamed.update((names[name], name) for name in found)
    for name in found:
        keyword = "properties" if name in keywords.get("properties", ()) else "required"
        said = f"the API refuses the name of {shown(name)}, which is called {shown(names[name])}"
        fitting.record.tell(part, keyword, Action.ENCODED, Direction.SAME, said)
    for keyword in ("properties", "dependentSchemas", "dependentRequired"):
        if keyword in keywords:
            each = keywords[keyword].items()
            keywords[keyword] = {names.get(name, name): value for name, value in each}
    if "required" in keywords:
        keywords["required"] = [names.get(name, name) for name in keywords["required"]]
    if "dependentRequired" in keywords:
        keywords["dependentRequired"] = {
            name: [names.get(each, each) for each in needed]
            for name, needed in keywords["dependentRequired"].items()
        }
    if "propertyNames" in keywords:
        # It judges names as they are in the original.
        describe(part, fitting.record, "propertyNames")


def _declared(part: Part, fitting: Fitting) -> dict[str, None]:
    """Return the names that *part* declares, or what judges the same object beside it.

    The way back does not lead through that, but where it is a union or a reference.
    """
    found: dict[str, None] = {}
    seen: set[int] = set()
    pending = [(part, True)]
    while pending:
        each, own = pending.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        spend(fitting.record.budget, _VISIT)
        keywords = each.keywords
        for keyword in ("properties", "required", "dependentRequired", "dependentSchemas"):
            found.update(dict.fromkeys(keywords.get(keyword, ())))
        for needed in keywords.get("dependentRequired", {}).values():
            found.update(dict.fromkeys(needed))
        pending += [(below, False) for below in _beside(keywords, own=own)]
    return found


def _beside(keywords: dict[str, Any], *, own: bool) -> list[Part]:
    """Return what judges the same value; of *own* unions and references, nothing."""
    listed = ["allOf"] if own else ["allOf", "anyOf", "oneOf"]
    single = ["not", "if", "then", "else"] if own else ["not", "if", "then", "else", "$ref"]
    found = [below for each in listed for below in keywords.get(each, ())]
    found += [keywords[each] for each in single if each in keywords]
    return [*found, *keywords.get("dependentSchemas", {}).values()]


def drop_patterns(part: Part, fitting: Fitting) -> None:
    """Say patterns of names as a schema of all other members, where they cannot stand."""
    keywords = part.keywords
    patterns: dict[str, Part] = keywords.get("patternProperties", {})
    if not patterns or _are_taken(patterns, part, fitting):
        return
    others: Part | None = keywords.get("additionalProperties")
    said = phrase_of("patternProperties", keywords)
    if others is not None and others.never:
        said += ", and others that are not declared are refused"
    describe(part, fitting.record, "patternProperties", said)
    if others is None and not fitting.subset.closed:
        return
    if others is None:
        fitting.record.tell_closed(part)
    forms = [each for each in patterns.values() if not each.never]
    if others is not None and not others.never:
        forms.append(others)
    if len(forms) > 1:
        keywords["additionalProperties"] = Part(part.at, {"anyOf": forms})
    else:
        keywords["additionalProperties"] = forms[0] if forms else Part(part.at, never=True)


def _are_taken(patterns: dict[str, Part], part: Part, fitting: Fitting) -> bool:
    subset, budget = fitting.subset, fitting.record.budget
    return (
        fitting.takes("patternProperties")
        and not subset.closed
        # A pattern judges names as they are in the original.
        and not part.undo.renamed
        and all(is_taken(each, subset.patterns, budget) for each in patterns)
    )


def drop_impossible(part: Part, fitting: Fitting) -> None:
    """Leave out members that admit nothing, where no schema says so."""
    keywords, subset = part.keywords, fitting.subset
    members: dict[str, Part] = keywords.get("properties", {})
    impossible = [name for name, member in members.items() if member.never]
    if subset.boolean_schemas or not impossible:
        return
    keywords["properties"] = {name: each for name, each in members.items() if not each.never}
    others = keywords.get("additionalProperties")
    shut = subset.closed or (others is not None and others.never)
    for name in impossible:
        if name in keywords.get("required", ()):
            _describe_contradiction(part, fitting, name)
        elif shut:
            said = f"the member {shown(name)}, which admits nothing, is not declared"
            fitting.record.tell(part, "properties", Action.REWRITTEN, Direction.SAME, said)
        else:
            part.notes.append(f"never has {shown(name)}")
            said = f"the description says instead that there is no member {shown(name)}"
            fitting.record.tell(part, "properties", Action.DESCRIBED, Direction.WIDER, said)


def _describe_contradiction(part: Part, fitting: Fitting, name: str) -> None:
    keywords = part.keywords
    keywords["required"] = [each for each in keywords["required"] if each != name]
    part.notes.append(f"never valid: {shown(name)} is required, and refused")
    said = f"{shown(name)} is required and refused, so that nothing is valid here"
    fitting.record.tell(part, "required", Action.DESCRIBED, Direction.WIDER, said)


def declare_required(part: Part, fitting: Fitting) -> None:
    """Declare what is required, where only what is declared can be given."""
    keywords, subset = part.keywords, fitting.subset
    declared = keywords.get("properties", {})
    missing = [name for name in keywords.get("required", ()) if name not in declared]
    wanted = subset.closed or subset.typed or not fitting.takes("additionalProperties")
    if not missing or not wanted:
        return
    others: Part | None = keywords.get("additionalProperties")
    patterned = "patternProperties" in keywords
    for name in missing:
        if others is not None and others.never and not patterned:
            _describe_contradiction(part, fitting, name)
            continue
        free = others is None or others.never
        form = Part(part.at) if free or others is None else others
        keywords["properties"] = {**keywords.get("properties", {}), name: form}
        said = f"{shown(name)}, which is required, is declared"
        fitting.record.tell(part, "required", Action.REWRITTEN, Direction.SAME, said)
    if not keywords["required"]:
        drop(part, fitting.record, "required", "what it names is refused", Direction.WIDER)
