"""From arguments under the original schema to what a model would send for them.

The other direction of a guide, written from what a guide says and not from what reads it.
Where the guide leaves open in which of several forms a value is sent, all are given.
"""

import json
from collections.abc import Iterator
from itertools import islice, product
from typing import Any

__all__ = ["as_told", "encodings"]

_MOST = 64
"""The most forms of one value that are looked at."""

_Guides = list[dict[str, Any]]


def encodings(value: Any, guide: dict[str, Any] | None) -> Iterator[Any]:
    """Yield the forms that *value* may have for a model, at most 64."""
    if guide is None:
        return iter((value,))
    return _Encoder(guide.get("defs", {})).forms(value, [guide])


def as_told(value: Any, guide: dict[str, Any] | None, text: str) -> Any:
    """Return *value*, which a model sent, as one would that does what it is told.

    No schema can hold a model to it that a string has JSON *text* in it, that each entry of
    a list has a name of its own, or, everywhere, that nothing stands beside what is wrapped.
    """
    if guide is None:
        return value
    return _Encoder(guide.get("defs", {})).told(value, [guide], text)


class _Encoder:
    def __init__(self, nodes: dict[str, Any]) -> None:
        self._nodes = nodes

    def forms(self, value: Any, guides: _Guides) -> Iterator[Any]:
        """Yield the forms of *value* by all of *guides* together."""
        return islice(self._forms(value, guides), _MOST)

    def _forms(self, value: Any, guides: _Guides) -> Iterator[Any]:
        for gathered, tests in islice(self._gathered(guides), _MOST):
            for form in self._encoded(value, gathered):
                if all(_passes(form, test) for test in tests):
                    yield form

    def _gathered(self, guides: _Guides) -> Iterator[tuple[_Guides, _Guides]]:
        """Yield all guides of a value, by one choice of alternatives, and their tests."""
        found: _Guides = []
        unions: list[_Guides] = []
        pending = list(guides)
        while pending:
            guide = pending.pop(0)
            if any(guide is each for each in found):
                continue
            found.append(guide)
            pending += [self._nodes[guide["ref"]]] if "ref" in guide else []
            pending += guide.get("also", [])
            unions += [guide["any_of"]] if "any_of" in guide else []
        if not unions:
            yield found, []
            return
        # Each alternative may have unions of its own.
        ways = [[(each, self._inside(each)) for each in union] for union in unions]
        for chosen in islice(product(*ways), _MOST):
            tests = [alternative["when"] for alternative, _ in chosen]
            for inside in islice(product(*(more for _, more in chosen)), _MOST):
                below = [guide for guides, _ in inside for guide in guides]
                further = [test for _, more in inside for test in more]
                yield [*found, *below], [*tests, *further]

    def _inside(self, alternative: dict[str, Any]) -> list[tuple[_Guides, _Guides]]:
        if "as" not in alternative:
            return [([], [])]
        return list(islice(self._gathered([alternative["as"]]), _MOST))

    def _encoded(self, value: Any, guides: _Guides) -> Iterator[Any]:
        for guide in guides:
            if "wrapped" in guide:
                inner = [each["inner"] for each in guides if "inner" in each]
                for form in self.forms(value, inner):
                    yield {guide["wrapped"]: form}
                return
            if guide.get("json_text"):
                yield json.dumps(value)
                return
            if "entries" in guide and isinstance(value, dict):
                yield from self._entries(value, guide["entries"])
                return
        if isinstance(value, dict):
            yield from self._members(value, guides)
        elif isinstance(value, list):
            yield from self._items(value, guides)
        else:
            yield value

    def told(self, value: Any, guides: _Guides, text: str) -> Any:
        """Return *value*, the form that it was sent in, as it was to be."""
        fitting = [
            gathered
            for gathered, tests in islice(self._gathered(guides), _MOST)
            if all(_passes(value, test) for test in tests)
        ]
        guides = [guide for gathered in fitting for guide in gathered]
        if isinstance(value, str) and any(each.get("json_text") for each in guides):
            return text
        for guide in guides:
            if isinstance(value, dict) and guide.get("wrapped") in value:
                inner = [each["inner"] for each in guides if "inner" in each]
                return {guide["wrapped"]: self.told(value[guide["wrapped"]], inner, text)}
            if isinstance(value, list) and "entries" in guide:
                return self._told_entries(value, guide["entries"], text)
        if isinstance(value, dict):
            return {
                name: self.told(each, [m for guide in guides for m in _member(guide, name)], text)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [
                self.told(each, [m for guide in guides for m in _item(guide, index)], text)
                for index, each in enumerate(value)
            ]
        return value

    def _told_entries(self, value: list[Any], entries: dict[str, Any], text: str) -> list[Any]:
        guides = [entries["each"]] if "each" in entries else []
        by_name = {
            entry[entries["name"]]: {
                entries["name"]: entry[entries["name"]],
                entries["value"]: told,
            }
            for entry in value
            if isinstance(entry, dict) and entries["value"] in entry
            for told in [self.told(entry[entries["value"]], guides, text)]
        }
        return list(by_name.values()) if by_name else value

    def _members(self, value: dict[str, Any], guides: _Guides) -> Iterator[Any]:
        names = {
            original: name for each in guides for name, original in each.get("renamed", {}).items()
        }
        sent = {names.get(name, name): each for name, each in value.items()}
        lacking = {name: None for each in guides for name in each.get("nulls", [])}
        forms = [
            [
                form
                for form in self.forms(
                    each, [found for guide in guides for found in _member(guide, name)]
                )
                # It would be taken for one that lacks.
                if not (name in lacking and form is None)
            ]
            for name, each in sent.items()
        ]
        for chosen in islice(product(*forms), _MOST):
            yield {**lacking, **dict(zip(sent, chosen, strict=True))}

    def _entries(self, value: dict[str, Any], entries: dict[str, Any]) -> Iterator[Any]:
        guides = [entries["each"]] if "each" in entries else []
        forms = [list(self.forms(each, guides)) for each in value.values()]
        for chosen in islice(product(*forms), _MOST):
            yield [
                {entries["name"]: name, entries["value"]: each}
                for name, each in zip(value, chosen, strict=True)
            ]

    def _items(self, value: list[Any], guides: _Guides) -> Iterator[Any]:
        forms = [
            list(self.forms(each, [found for guide in guides for found in _item(guide, index)]))
            for index, each in enumerate(value)
        ]
        for chosen in islice(product(*forms), _MOST):
            yield list(chosen)


def _member(guide: dict[str, Any], name: str) -> _Guides:
    members = guide.get("members", {})
    if name in members:
        return [members[name]]
    return [guide["values"]] if "values" in guide else []


def _item(guide: dict[str, Any], index: int) -> _Guides:
    first = guide.get("prefix", [])
    if index < len(first):
        return [] if first[index] is None else [first[index]]
    return [guide["items"]] if "items" in guide else []


_TYPES: dict[str, Any] = {
    "null": type(None),
    "boolean": bool,
    "string": str,
    "array": list,
    "object": dict,
}


def _passes(value: Any, test: dict[str, Any]) -> bool:
    """Return whether *value* can be of the alternative that has *test*."""
    if "types" in test and not any(_is(value, name) for name in test["types"]):
        return False
    if not isinstance(value, dict):
        return True
    if set(test.get("required", ())) - value.keys():
        return False
    if "only" in test and value.keys() - set(test["only"]):
        return False
    constants = test.get("constants", {})
    return all(name not in value or value[name] in constants[name] for name in constants)


def _is(value: Any, name: str) -> bool:
    if name in {"integer", "number"}:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and (name == "number" or float(value).is_integer())
    return isinstance(value, _TYPES[name])
