"""Maps: objects whose members are not declared, where an API takes only those that are."""

from typing import Any

from sidecheck_server.core.convert.fitting.bounds import bound
from sidecheck_server.core.convert.fitting.fitting import Fitting
from sidecheck_server.core.convert.fitting.free_forms import as_json_text, describe_rest, is_free
from sidecheck_server.core.convert.fitting.roots import WRAPPER
from sidecheck_server.core.convert.fitting.types import or_null, types_of
from sidecheck_server.core.convert.part import Entries, Part, reachable
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["encode_map"]

_BOUNDS = {"minProperties": "minItems", "maxProperties": "maxItems"}


def encode_map(part: Part, fitting: Fitting) -> None:
    """Give an object that declares no members a form that the API takes."""
    subset, keywords = fitting.subset, part.keywords
    needs_members = subset.closed or not subset.empty_objects
    if "object" not in types_of(part) or keywords.get("properties") or not needs_members:
        return
    others: Part | None = keywords.get("additionalProperties")
    if part is fitting.root:
        if others is not None and not others.never:
            _wrap(part, fitting)
    elif others is None or is_free(others):
        as_json_text(part, fitting, "any JSON object")
    elif not others.never:
        _as_entries(part, fitting, others)
    elif not subset.empty_objects:
        as_json_text(part, fitting, "an empty JSON object")


def _as_entries(part: Part, fitting: Fitting, values: Part) -> None:
    """Give the members of a map as a list of their names and values."""
    keywords, entries = part.keywords, Entries()
    form = {entries.name: Part(part.at, {"type": "string"}), entries.value: values}
    each = Part(part.at, {"type": "object", "properties": form, "required": list(form)})
    if fitting.takes("additionalProperties"):
        each.keywords["additionalProperties"] = Part(part.at, never=True)
    for name in ("additionalProperties", "properties"):
        keywords.pop(name, None)
    for name, bound_of_items in _BOUNDS.items():
        if name in keywords:
            keywords[bound_of_items] = keywords.pop(name)
    describe_rest(part, fitting, {"type", *_BOUNDS.values()})
    part.keywords = {**keywords, "type": or_null("array", types_of(part)), "items": each}
    part.undo.entries = entries
    part.notes.append("a list of members, each with its name and its value; no name twice")
    said = "a map is given as a list of names and values"
    fitting.record.tell(part, "additionalProperties", Action.ENCODED, Direction.SAME, said)
    bound(part, fitting)


def _wrap(root: Part, fitting: Fitting) -> None:
    """Make the arguments the one member of an object."""
    about: dict[str, Any] = {
        each: root.keywords.pop(each) for each in ("title", "description") if each in root.keywords
    }
    inner = Part(root.at, root.keywords, notes=root.notes)
    for each in reachable(inner):
        if each.keywords.get("$ref") is root:
            each.keywords["$ref"] = inner
    root.keywords = {
        "type": "object",
        **about,
        "properties": {WRAPPER: inner},
        "required": [WRAPPER],
    }
    if fitting.takes("additionalProperties"):
        # It is not the author's object: nothing is lost where it is closed.
        root.keywords["additionalProperties"] = Part(root.at, never=True)
    root.notes = []
    root.undo.wrapped = WRAPPER
    said = f"the arguments are given as the member {WRAPPER}: the API takes declared members only"
    fitting.record.tell(root, "", Action.ENCODED, Direction.SAME, said)
