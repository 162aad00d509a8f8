"""Arrays: items and tuples."""

from sidecheck_server.core.convert.fitting.bounds import bound
from sidecheck_server.core.convert.fitting.fitting import Fitting, Rule
from sidecheck_server.core.convert.fitting.telling import describe
from sidecheck_server.core.convert.fitting.types import types_of
from sidecheck_server.core.convert.part import Part
from sidecheck_server.core.convert.words import Action, Direction

__all__ = ["RULES"]


def _tuple(part: Part, fitting: Fitting) -> None:
    """Say a tuple as an array of any of its items where the subset has no tuples."""
    keywords = part.keywords
    if "prefixItems" not in keywords or fitting.takes("prefixItems"):
        return
    prefix: list[Part] = keywords["prefixItems"]
    rest: Part | None = keywords.get("items")
    if rest is not None and rest.never:
        # Items beyond the tuple are refused; that bound is the same without the tuple.
        keywords["maxItems"] = min(len(prefix), keywords.get("maxItems", len(prefix)))
    elif keywords.get("maxItems", len(prefix) + 1) > len(prefix):
        prefix = [*prefix, Part(part.at) if rest is None else rest]
    branches = [each for each in prefix if not each.never]
    keywords["items"] = _any_of(part, branches)
    describe(part, fitting.record, "prefixItems", _in_order(keywords["prefixItems"]))
    bound(part, fitting)


def _any_of(part: Part, branches: list[Part]) -> Part:
    free = next((each for each in branches if not each.keywords and not each.never), None)
    if free is not None or not branches:
        # What admits everything admits what the others do.
        return free or Part(part.at, never=True)
    alike: list[Part] = []
    for each in branches:
        if not any(each is other or _same(each, other) for other in alike):
            alike.append(each)
    return alike[0] if len(alike) == 1 else Part(part.at, {"anyOf": alike})


def _same(one: Part, two: Part) -> bool:
    return not one.parts() and one.keywords == two.keywords and one.notes == two.notes


def _in_order(prefix: list[Part]) -> str:
    return f"items in order: {', '.join(_called(each) for each in prefix[:20])}"


def _called(part: Part) -> str:
    for keyword in ("title", "description"):
        text = part.keywords.get(keyword)
        if isinstance(text, str) and len(text) <= 40:
            return text
    return " or ".join(types_of(part)) or "any value"


def _items(part: Part, fitting: Fitting) -> None:
    """Give every array items where the subset wants them."""
    keywords = part.keywords
    items = keywords.get("items")
    if items is not None and items.never and not fitting.subset.boolean_schemas:
        longest = len(keywords.get("prefixItems", ()))
        del keywords["items"]
        keywords["maxItems"] = min(longest, keywords.get("maxItems", longest))
        said = "items that are refused are said as a bound of their number"
        fitting.record.tell(part, "items", Action.REWRITTEN, Direction.SAME, said)
        bound(part, fitting)
    if "array" in types_of(part) and "items" not in keywords and fitting.subset.items:
        keywords["items"] = Part(part.at)
        said = "it is said that items may be anything"
        fitting.record.tell(part, "items", Action.REWRITTEN, Direction.SAME, said)


RULES: tuple[Rule, ...] = (_tuple, _items)
