"""What to say of the items of an array."""

from sidecheck_server.core.engines.fault import Fault
from sidecheck_server.core.explain.saying import Rule, Saying, aside
from sidecheck_server.core.explain.values import Values, counted

__all__ = ["ITEM_RULES"]


def _unique(fault: Fault, values: Values) -> Saying:
    one, two = fault.about
    found = "" if values.hidden else f" (both are {values.found(fault.instance[one])})"
    return Saying(f"expected items that all differ, found item {two} equal to item {one}{found}")


def _beyond(fault: Fault, _values: Values) -> Saying:
    if not fault.about:
        return Saying(f"expected an empty array, found {counted(len(fault.instance), 'item')}")
    return Saying(f"expected at most {counted(fault.about, 'item')}, found {len(fault.instance)}")


def _unevaluated_items(fault: Fault, values: Values) -> Saying:
    found = values.found(fault.instance[fault.about])
    return Saying(f"expected no item here, found {found}")


def _contains(fault: Fault, values: Values) -> Saying:
    found = f"none of {len(fault.instance)}" if fault.instance else values.found(fault.instance)
    return Saying(f"expected at least one matching item{_item(fault)}, found {found}")


def _min_contains(fault: Fault, _values: Values) -> Saying:
    least = counted(fault.validator_value, "matching item")
    found = f"{fault.about or 'none'} of {len(fault.instance)}"
    return Saying(f"expected at least {least}{_item(fault)}, found {found}")


def _max_contains(fault: Fault, _values: Values) -> Saying:
    most = counted(fault.validator_value, "matching item")
    return Saying(f"expected at most {most}{_item(fault)}, found more")


def _item(fault: Fault) -> str:
    return aside(fault.schema["contains"], fault)


ITEM_RULES: dict[str, Rule] = {
    "additionalItems": _beyond,
    "contains": _contains,
    "items": _beyond,
    "maxContains": _max_contains,
    "minContains": _min_contains,
    "unevaluatedItems": _unevaluated_items,
    "uniqueItems": _unique,
}
"""The rules by keyword."""
