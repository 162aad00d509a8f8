"""The way of arguments to a model and back.

What is held to be true of every converted tool, with the original schema and the converted
one both judged by jsonschema-rs:

- Arguments that the original admits have a form that the converted schema admits, unless a
  loss tells that the converted one is narrower.
- That form comes back as the same arguments, but that null may stand for absence.
- Whatever the converted schema admits comes back as something that can be judged; if no loss
  tells that it is wider, as something that the original admits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import jsonschema_rs
from agreement.values import spelling
from conversions.encoding import as_told, encodings
from conversions.making import LIMITS, Made
from conversions.payloads import valid_values
from sidecheck_server.core.convert.decode_arguments import decode_arguments
from sidecheck_server.core.convert.types import Effect

__all__ = ["Fault", "Trip"]


_TEXTS = ("{}", "[]", '""', "0", "true", "null", '["a"]', '{"a": "a"}', '["a", "b"]')
"""JSON texts that a model may write where it is told to write one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that must not be."""

    kind: str
    sent: Any
    back: Any = None

    def __str__(self) -> str:
        return f"{self.kind}: {_cut(self.sent)} came back as {_cut(self.back)}"


def _cut(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"


class Trip:
    """One converted tool, and what its arguments become."""

    def __init__(self, original: Any, made: Made, judge: jsonschema_rs.Validator) -> None:
        #: How many payloads have a valid reading before the one that was meant.
        self.ambiguous = 0
        self._original = original
        self._made = made
        self._judge = judge
        self._narrower = made.loses(Effect.NARROWED)
        self._wider = made.loses(Effect.WIDENED)
        schema = made.schema
        # Nothing keeps a model from sending something to a tool without a schema.
        self._converted = _judge({"type": "object"} if schema is None else schema)
        self._sent = {"type": "object", "maxProperties": 0} if schema is None else schema

    def faults(self, arguments: list[Any], random: Random, count: int) -> Iterator[Fault]:
        """Yield what is wrong with *arguments*, and with *count* more for each schema."""
        for sent in (*arguments, *valid_values(self._original, self._judge, random, count)):
            yield from self.there_and_back(sent)
        for sent in valid_values(self._sent, _judge(self._sent), random, count):
            yield from self.back(sent)

    def there_and_back(self, arguments: Any) -> Iterator[Fault]:
        """Yield what is wrong with *arguments*, which the original admits."""
        forms = list(encodings(arguments, self._made.form.decoder))
        admitted = [form for form in forms if self._converted.is_valid(form)]
        if not admitted and not self._narrower:
            yield Fault("the converted schema refuses valid arguments", arguments, forms[:1])
        for form in admitted:
            read = self._readings(form)
            if not self._judge.is_valid(read[0]):
                yield Fault("the original refuses what came back", form, read[0])
            elif not any(_same(arguments, each) for each in read):
                yield Fault(f"not what was sent, {_cut(arguments)}", form, read[0])
            elif not _same(arguments, read[0]):
                self.ambiguous += 1

    def back(self, sent: Any) -> Iterator[Fault]:
        """Yield what is wrong with *sent*, which the converted schema admits."""
        back = self._restored(sent)
        if self._wider or self._judge.is_valid(back):
            return
        guide = self._made.form.decoder
        told = [form for text in _TEXTS if (form := as_told(sent, guide, text)) != sent]
        if not any(
            self._judge.is_valid(self._restored(form))
            for form in told
            # Without some entries it may be another thing.
            if self._converted.is_valid(form)
        ):
            yield Fault("nothing is wider, and the original refuses what came back", sent, back)

    def _restored(self, sent: Any) -> Any:
        """Return the reading of *sent* that counts."""
        return self._readings(sent)[0]

    def _readings(self, sent: Any) -> list[Any]:
        """Return the valid readings of *sent*, in order; if there is none, the first."""
        found = [
            each.value for each in decode_arguments(sent, self._made.form.decoder, [LIMITS.steps])
        ]
        return [each for each in found if self._judge.is_valid(each)] or found[:1]


def _judge(schema: Any) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(schema, offline=True, validate_formats=False)


def _same(sent: Any, back: Any) -> bool:
    """Return whether *back* is *sent*, but for members that are null instead of absent."""
    if isinstance(sent, dict) and isinstance(back, dict):
        extra = back.keys() - sent.keys()
        if any(back[name] is not None for name in extra) or sent.keys() - back.keys():
            return False
        return all(_same(value, back[name]) for name, value in sent.items())
    if isinstance(sent, list) and isinstance(back, list):
        return len(sent) == len(back) and all(map(_same, sent, back))
    return spelling(sent) == spelling(back)
