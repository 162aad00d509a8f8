"""Encoding of original arguments as the arguments that a model would send.

The inverse of a decoder, written from its specification and independent of the implementation.
If a value can be sent in several forms, all are returned.
"""

import json
from collections.abc import Iterator
from itertools import islice, product
from typing import Any

__all__ = ["as_instructed", "encodings"]

_MAXIMUM = 64
"""Maximum number of forms of one value."""

_Decoders = list[dict[str, Any]]


def encodings(value: Any, decoder: dict[str, Any] | None) -> Iterator[Any]:
    """Yield the forms in which a model may send *value*, at most 64."""
    if decoder is None:
        return iter((value,))
    return _Encoder(decoder.get("defs", {})).forms(value, [decoder])


def as_instructed(value: Any, decoder: dict[str, Any] | None, text: str) -> Any:
    """Return *value*, sent by a model, as a model that follows instructions would send it.

    No schema can require that a string contains JSON *text*, that the entries of a list have
    distinct names, or, everywhere, that a wrapper has no other properties.
    """
    if decoder is None:
        return value
    return _Encoder(decoder.get("defs", {})).instruct(value, [decoder], text)


class _Encoder:
    def __init__(self, nodes: dict[str, Any]) -> None:
        self._nodes = nodes

    def forms(self, value: Any, decoders: _Decoders) -> Iterator[Any]:
        """Yield the forms of *value* by all *decoders* together."""
        return islice(self._forms(value, decoders), _MAXIMUM)

    def _forms(self, value: Any, decoders: _Decoders) -> Iterator[Any]:
        for gathered, tests in islice(self._gathered(decoders), _MAXIMUM):
            for form in self._encoded(value, gathered):
                if all(_passes(form, test) for test in tests):
                    yield form

    def _gathered(self, decoders: _Decoders) -> Iterator[tuple[_Decoders, _Decoders]]:
        """Yield all decoders of a value for each choice of branches, and the tests of these."""
        collected: _Decoders = []
        unions: list[_Decoders] = []
        pending = list(decoders)
        while pending:
            decoder = pending.pop(0)
            if any(decoder is item for item in collected):
                continue
            collected.append(decoder)
            pending += [self._nodes[decoder["ref"]]] if "ref" in decoder else []
            pending += decoder.get("also", [])
            unions += [decoder["any_of"]] if "any_of" in decoder else []
        if not unions:
            yield collected, []
            return
        # A branch may have unions of its own.
        choices = [[(item, self._inside(item)) for item in union] for union in unions]
        for chosen in islice(product(*choices), _MAXIMUM):
            tests = [alternative["when"] for alternative, _ in chosen]
            for nested_choice in islice(product(*(nested for _, nested in chosen)), _MAXIMUM):
                nested_decoders = [decoder for decoders, _ in nested_choice for decoder in decoders]
                nested_tests = [test for _, nested in nested_choice for test in nested]
                yield [*collected, *nested_decoders], [*tests, *nested_tests]

    def _inside(self, alternative: dict[str, Any]) -> list[tuple[_Decoders, _Decoders]]:
        if "as" not in alternative:
            return [([], [])]
        return list(islice(self._gathered([alternative["as"]]), _MAXIMUM))

    def _encoded(self, value: Any, decoders: _Decoders) -> Iterator[Any]:
        for decoder in decoders:
            if "wrapped" in decoder:
                inner = [item["inner"] for item in decoders if "inner" in item]
                for form in self.forms(value, inner):
                    yield {decoder["wrapped"]: form}
                return
            if decoder.get("json_text"):
                yield json.dumps(value)
                return
            if "entries" in decoder and isinstance(value, dict):
                yield from self._entries(value, decoder["entries"])
                return
        if isinstance(value, dict):
            yield from self._properties(value, decoders)
        elif isinstance(value, list):
            yield from self._items(value, decoders)
        else:
            yield value

    def instruct(self, value: Any, decoders: _Decoders, text: str) -> Any:
        """Return the form *value* as the instructions require it."""
        matching = [
            gathered
            for gathered, tests in islice(self._gathered(decoders), _MAXIMUM)
            if all(_passes(value, test) for test in tests)
        ]
        decoders = [decoder for gathered in matching for decoder in gathered]
        if isinstance(value, str) and any(item.get("json_text") for item in decoders):
            return text
        for decoder in decoders:
            if isinstance(value, dict) and decoder.get("wrapped") in value:
                inner = [item["inner"] for item in decoders if "inner" in item]
                return {decoder["wrapped"]: self.instruct(value[decoder["wrapped"]], inner, text)}
            if isinstance(value, list) and "entries" in decoder:
                return self._instruct_entries(value, decoder["entries"], text)
        if isinstance(value, dict):
            return {
                name: self.instruct(
                    item,
                    [m for decoder in decoders for m in _property_decoders(decoder, name)],
                    text,
                )
                for name, item in value.items()
            }
        if isinstance(value, list):
            return [
                self.instruct(
                    item, [m for decoder in decoders for m in _item_decoders(decoder, index)], text
                )
                for index, item in enumerate(value)
            ]
        return value

    def _instruct_entries(self, value: list[Any], entries: dict[str, Any], text: str) -> list[Any]:
        decoders = [entries["each"]] if "each" in entries else []
        by_name = {
            entry[entries["name"]]: {
                entries["name"]: entry[entries["name"]],
                entries["value"]: entry_value,
            }
            for entry in value
            if isinstance(entry, dict) and entries["value"] in entry
            for entry_value in [self.instruct(entry[entries["value"]], decoders, text)]
        }
        return list(by_name.values()) if by_name else value

    def _properties(self, value: dict[str, Any], decoders: _Decoders) -> Iterator[Any]:
        names = {
            original: name
            for item in decoders
            for name, original in item.get("renamed", {}).items()
        }
        by_api_name = {names.get(name, name): item for name, item in value.items()}
        null_properties = {name: None for item in decoders for name in item.get("nulls", [])}
        forms = [
            [
                form
                for form in self.forms(
                    item,
                    [
                        collected
                        for decoder in decoders
                        for collected in _property_decoders(decoder, name)
                    ],
                )
                # Null would stand for an absent property.
                if not (name in null_properties and form is None)
            ]
            for name, item in by_api_name.items()
        ]
        for chosen in islice(product(*forms), _MAXIMUM):
            yield {**null_properties, **dict(zip(by_api_name, chosen, strict=True))}

    def _entries(self, value: dict[str, Any], entries: dict[str, Any]) -> Iterator[Any]:
        decoders = [entries["each"]] if "each" in entries else []
        forms = [list(self.forms(item, decoders)) for item in value.values()]
        for chosen in islice(product(*forms), _MAXIMUM):
            yield [
                {entries["name"]: name, entries["value"]: item}
                for name, item in zip(value, chosen, strict=True)
            ]

    def _items(self, value: list[Any], decoders: _Decoders) -> Iterator[Any]:
        forms = [
            list(
                self.forms(
                    item,
                    [
                        collected
                        for decoder in decoders
                        for collected in _item_decoders(decoder, index)
                    ],
                )
            )
            for index, item in enumerate(value)
        ]
        for chosen in islice(product(*forms), _MAXIMUM):
            yield list(chosen)


def _property_decoders(decoder: dict[str, Any], name: str) -> _Decoders:
    properties = decoder.get("properties", {})
    if name in properties:
        return [properties[name]]
    return [decoder["values"]] if "values" in decoder else []


def _item_decoders(decoder: dict[str, Any], index: int) -> _Decoders:
    first = decoder.get("prefix", [])
    if index < len(first):
        return [] if first[index] is None else [first[index]]
    return [decoder["items"]] if "items" in decoder else []


_TYPES: dict[str, Any] = {
    "null": type(None),
    "boolean": bool,
    "string": str,
    "array": list,
    "object": dict,
}


def _passes(value: Any, test: dict[str, Any]) -> bool:
    """Return whether *value* can match the branch with that *test*."""
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
