"""Proofs that one schema admits all that another admits, found by jsonschema-rs.

The only module that imports it. Its answers are three-valued; whatever it cannot model
is unknown here, never an error. It has no bound on time, so it runs in a worker.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

import jsonschema_rs

from sidecheck_server.core.compat.combinations import count_combinations, is_recursive_unevaluated
from sidecheck_server.core.compat.common_parts import without_common_parts
from sidecheck_server.core.compat.library_form import CannotWriteError, write_for_library
from sidecheck_server.core.compat.normal_form import NormalForm
from sidecheck_server.core.exact_numbers import read_number
from sidecheck_server.core.types import Draft, JsonValue

__all__ = ["Answer", "Operand", "prove_covers", "subtract"]

_DRAFTS = {
    Draft.DRAFT_04: jsonschema_rs.Draft4,
    Draft.DRAFT_2020_12: jsonschema_rs.Draft202012,
}


_MOST_COMBINATIONS = 1_500
"""Choices of branches, or constants, beyond which a proof takes seconds."""

# Its own errors, and that of lone surrogates, are value errors.
_ERRORS = (ValueError, jsonschema_rs.ReferencingError)


class Answer(StrEnum):
    """Whether a schema admits all that another admits."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


_ANSWERS = {
    str(jsonschema_rs.canonical.Containment.YES): Answer.YES,
    str(jsonschema_rs.canonical.Containment.NO): Answer.NO,
}


@dataclass(frozen=True, slots=True)
class Operand:
    """A schema in the library's own form."""

    #: None if the library rejects it.
    schema: Any
    form: NormalForm

    @classmethod
    def of(cls, form: NormalForm) -> "Operand":
        """Return the operand of *form*; it is none if proofs about it may take too long."""
        # The library's stack overflows on some unevaluated keywords of recursive schemas.
        if count_combinations(form) > _MOST_COMBINATIONS or is_recursive_unevaluated(form):
            return cls(None, form)
        try:
            text = write_for_library(form.schema, form.draft)
            # Formats are annotations here, and the library asserts them in some drafts.
            schema = jsonschema_rs.canonicalize(
                text,  # type: ignore[arg-type]  # a boolean or an object
                draft=_DRAFTS[form.draft],
                validate_formats=False,
                offline=True,
            )
        except (*_ERRORS, CannotWriteError):
            return cls(None, form)
        return cls(schema, form)


def prove_covers(wider: Operand, narrower: Operand) -> Answer:
    """Return whether *wider* admits every value that *narrower* admits."""
    forms = without_common_parts(wider.form, narrower.form)
    if forms is not None and _covers(*map(Operand.of, forms)) is Answer.YES:
        return Answer.YES
    return _covers(wider, narrower)


def _covers(wider: Operand, narrower: Operand) -> Answer:
    if wider.schema is None or narrower.schema is None:
        return Answer.UNKNOWN
    try:
        return _ANSWERS.get(str(wider.schema.covers(narrower.schema)), Answer.UNKNOWN)
    except _ERRORS:
        return Answer.UNKNOWN


def subtract(minuend: Operand, subtrahend: Operand) -> JsonValue:
    """Return a schema of what *minuend* admits and *subtrahend* rejects, or None."""
    if minuend.schema is None or subtrahend.schema is None:
        return None
    try:
        difference = minuend.schema.subtract(subtrahend.schema).to_json_schema()
    except _ERRORS:
        return None
    return _json_value(difference)


def _json_value(value: Any) -> JsonValue:
    """Return *value* without decimals, which the library has for some numbers."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else read_number(str(value))
    if isinstance(value, list):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {name: _json_value(item) for name, item in value.items()}
    return value  # type: ignore[no-any-return]  # text, a boolean, a number or null
