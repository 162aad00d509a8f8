"""Round trip of arguments to a model and back.

Invariants of every converted tool, with the original and the converted schema both evaluated
by jsonschema-rs:

- Arguments that the original admits have a form that the converted schema admits, unless a
  loss narrows it.
- That form is decoded to the same arguments, except that null may stand for absence.
- Whatever the converted schema admits can be decoded; if no loss widens it, the result is
  valid against the original.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import jsonschema_rs
from agreement.editions import as_doubles
from agreement.values import spelling
from conversions.converting_tools import LIMITS, ConvertedDefinition
from conversions.encoding import as_instructed, encodings
from conversions.payloads import valid_values
from sidecheck_server.core.convert.decode_arguments import decode_arguments
from sidecheck_server.core.convert.types import Effect

__all__ = ["Fault", "Trip"]


_TEXTS = ("{}", "[]", '""', "0", "true", "null", '["a"]', '{"a": "a"}', '["a", "b"]')
"""JSON texts that a model may send if a description requires one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Violated invariant."""

    kind: str
    encoded: Any
    decoded: Any = None

    def __str__(self) -> str:
        return f"{self.kind}: {_cut(self.encoded)} was decoded to {_cut(self.decoded)}"


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"


class Trip:
    """Round trips of the arguments of one converted tool."""

    def __init__(
        self, original: Any, conversion: ConvertedDefinition, validator: jsonschema_rs.Validator
    ) -> None:
        #: Payloads that have a valid interpretation before the intended one.
        self.ambiguous = 0
        self._original = original
        self._conversion = conversion
        self._original_validator = validator
        self._narrower = conversion.has_loss(Effect.NARROWED)
        self._wider = conversion.has_loss(Effect.WIDENED)
        schema = conversion.schema
        # A model may send anything to a tool without a schema.
        self._converted = _validator_of({"type": "object"} if schema is None else schema)
        self._converted_schema = (
            {"type": "object", "maxProperties": 0} if schema is None else schema
        )

    def faults(self, arguments: list[Any], random: Random, count: int) -> Iterator[Fault]:
        """Yield the faults of *arguments*, and of *count* random ones for each schema."""
        for original in (
            *arguments,
            *valid_values(self._original, self._original_validator, random, count),
        ):
            yield from self.round_trip(original)
        for encoded in valid_values(
            self._converted_schema, _validator_of(self._converted_schema), random, count
        ):
            yield from self.decoding_faults(encoded)

    def round_trip(self, arguments: Any) -> Iterator[Fault]:
        """Yield the faults of *arguments*, which the original admits."""
        forms = list(encodings(arguments, self._conversion.form.decoder))
        admitted = [form for form in forms if self._converted.is_valid(form)]
        if not admitted and not self._narrower:
            yield Fault("the converted schema rejects valid arguments", arguments, forms[:1])
        for form in admitted:
            interpretations = self._interpretations(form)
            if not self._original_validator.is_valid(interpretations[0]):
                yield Fault("the original rejects the decoded arguments", form, interpretations[0])
            elif not any(_same(arguments, item) for item in interpretations):
                yield Fault(f"not what was sent, {_cut(arguments)}", form, interpretations[0])
            elif not _same(arguments, interpretations[0]):
                self.ambiguous += 1

    def decoding_faults(self, arguments: Any) -> Iterator[Fault]:
        """Yield the faults of *arguments*, which the converted schema admits."""
        decoded = self._decode(arguments)
        if self._wider or self._original_validator.is_valid(decoded):
            return
        decoder = self._conversion.form.decoder
        instructed = [
            form
            for text in _TEXTS
            if (form := as_instructed(arguments, decoder, text)) != arguments
        ]
        if not any(
            self._original_validator.is_valid(self._decode(form))
            for form in instructed
            # Instructions may remove entries, which can make the value invalid.
            if self._converted.is_valid(form)
        ):
            yield Fault(
                "no loss widens, and the original rejects the decoded arguments", arguments, decoded
            )

    def _decode(self, arguments: Any) -> Any:
        """Return the selected interpretation of *arguments*."""
        return self._interpretations(arguments)[0]

    def _interpretations(self, arguments: Any) -> list[Any]:
        """Return the valid interpretations of *arguments*, in order, or else the first."""
        interpretations = [
            item.value
            for item in decode_arguments(arguments, self._conversion.form.decoder, [LIMITS.steps])
        ]
        return [
            item for item in interpretations if self._original_validator.is_valid(item)
        ] or interpretations[:1]


def _validator_of(schema: Any) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(
        as_doubles(schema), offline=True, validate_formats=False
    )


def _same(original: Any, decoded: Any) -> bool:
    """Return whether *decoded* is *original*, apart from null for absent properties."""
    if isinstance(original, dict) and isinstance(decoded, dict):
        extra = decoded.keys() - original.keys()
        if any(decoded[name] is not None for name in extra) or original.keys() - decoded.keys():
            return False
        return all(_same(value, decoded[name]) for name, value in original.items())
    if isinstance(original, list) and isinstance(decoded, list):
        return len(original) == len(decoded) and all(map(_same, original, decoded))
    return spelling(original) == spelling(decoded)
