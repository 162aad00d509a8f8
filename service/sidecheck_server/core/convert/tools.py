"""Conversion of one definition to the form that an API takes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from sidecheck_server.core.budget import Exhausted
from sidecheck_server.core.convert.apis.api import Api, Subset
from sidecheck_server.core.convert.counting import Counts, beyond, counts_of
from sidecheck_server.core.convert.fitting import fit
from sidecheck_server.core.convert.forms import Form
from sidecheck_server.core.convert.guides import Guide, guide_of
from sidecheck_server.core.convert.names import member_names
from sidecheck_server.core.convert.part import Part, copied, members_of
from sidecheck_server.core.convert.presentation import noted, presented
from sidecheck_server.core.convert.reading import read_parts
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.words import Action, ConversionOptions, Direction, Loss, Mode
from sidecheck_server.core.convert.writing import described, notes_of, write_schema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.tools.definitions import ToolDefinition

__all__ = ["form_of"]


def form_of(
    definition: ToolDefinition, api: Api, options: ConversionOptions, limits: Limits
) -> Form:
    """Return the form that *definition* has for *api*.

    Raises:
        Refusal: NOT_CONVERTIBLE if the API takes nothing that it could be turned into in
            the mode asked for; LIMIT_EXCEEDED, also if it would have more text than a
            message may; as `admission.admit` for its input schema.
    """
    try:
        read = Record([limits.steps])
        root = read_parts(definition.input, ("inputSchema",), read, limits)
        shown = presented(definition, api, options, limits)
        fitted, why_not = _chosen(_Read(root, read.losses, read.budget[0]), api, options)
    except (Exhausted, RecursionError):
        raise exceeded("steps", limits.steps, "converting the tool takes too long") from None
    omits = api.omits_no_parameters and _takes_nothing(fitted.schema)
    shown = noted(shown, fitted.text if omits else fitted.apart, api, options)
    losses = (*shown.losses, *fitted.losses, *(_omitted(fitted.schema) if omits else ()))
    form = Form(
        tool=definition.name,
        definition_digest=definition.digest,
        description=shown.description,
        parameters=None if omits else msgspec.json.encode(fitted.schema),
        output_schema=shown.output_schema,
        strict=None if api.strict is None else fitted.strict,
        guide=fitted.guide,
        losses=losses,
        not_strict_reason=why_not,
        counts=fitted.counts,
    )
    if form.length > limits.message_bytes:
        # What many references lead to is written as often.
        raise exceeded("message_bytes", limits.message_bytes, "the converted tool", form.length)
    return form


@dataclass(frozen=True, slots=True)
class _Read:
    """A schema that was read, to be fitted to a subset or to one after the other."""

    root: Part
    losses: list[Loss]
    #: How many steps fitting it to one subset may take: those that reading left.
    steps: int


class _Fitted:
    """A schema in one of the subsets of an API."""

    def __init__(self, read: _Read, api: Api, subset: Subset) -> None:
        self.strict = subset is api.strict
        record = Record([read.steps], list(read.losses))
        renamed = {} if api.members is None else member_names(members_of(read.root), api.members)
        # Fitting changes parts.
        fitted = fit(copied(read.root), subset, renamed, record)
        self.counts: Counts = counts_of(fitted)
        #: Which limit of the API it is beyond, or "".
        self.beyond = beyond(self.counts, subset.limits)
        self.schema: dict[str, Any] = write_schema(fitted, subset)
        self.guide: Guide | None = guide_of(fitted)
        self.losses = record.in_order()
        #: What is said of the whole where the root cannot have a description.
        self.apart = notes_of(fitted) if "description" in subset.not_at_root else ""
        #: What is said of the whole where it is left out.
        self.text = described(fitted)
        self._record = record

    def why_not(self, *, assume_closed: bool) -> str:
        """Return why this is not as good as the original, or ""."""
        loss = self._record.against_strict(assume_closed=assume_closed)
        if loss is None:
            return ""
        advice = "; with assume_closed that does not count" if loss in self._record.closings else ""
        return f"{_as_reason(loss)} (at {loss.pointer}){advice}"


def _as_reason(loss: Loss) -> str:
    """Return what the API cannot be told for which there is that *loss*."""
    if loss.direction is Direction.NARROWER:
        return loss.message
    what = loss.keyword or "its schema"
    return f"{what} cannot be said{' exactly' if loss.action is Action.REWRITTEN else ''}"


def _chosen(read: _Read, api: Api, options: ConversionOptions) -> tuple[_Fitted, str]:
    """Return the schema in the subset that the mode asks for, and why it is not strict.

    Where strictness is only preferred, what refuses it is such a reason.
    """
    if options.mode is Mode.COMPATIBLE:
        return _fitted(read, api, api.compatible), ""
    try:
        strict = _strict(read, api)
    except RequestError as refusal:
        if options.mode is Mode.STRICT:
            raise _with_advice(refusal, api) from None
        why_not = refusal.message
    else:
        if options.mode is Mode.STRICT:
            return strict, ""
        why_not = strict.why_not(assume_closed=options.assume_closed)
        if not why_not:
            return strict, ""
    return _fitted(read, api, api.compatible), why_not


def _with_advice(refusal: RequestError, api: Api) -> RequestError:
    if api.strict is not None:
        return refusal
    said = f"{refusal.message}; the modes compatible and strict_if_lossless do not ask for that"
    return RequestError(refusal.reason, said, refusal.metadata)


def _strict(read: _Read, api: Api) -> _Fitted:
    if api.strict is None:
        said = f"{api.in_words} cannot be asked to hold a model to a schema"
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, said, {"api": api.key})
    return _fitted(read, api, api.strict)


def _fitted(read: _Read, api: Api, subset: Subset) -> _Fitted:
    """Return the schema in *subset*, which is one of *api*, or refuse it."""
    fitted = _Fitted(read, api, subset)
    if fitted.beyond:
        said = f"the schema is larger than {api.in_words} takes: {fitted.beyond}"
        raise RequestError(ErrorReason.NOT_CONVERTIBLE, said, {"api": api.key})
    return fitted


def _takes_nothing(schema: dict[str, Any]) -> bool:
    """Return whether *schema* speaks of no members, declared, required or others."""
    speaks = schema.get("properties") or schema.get("required")
    return not speaks and not isinstance(schema.get("additionalProperties"), dict)


def _omitted(schema: dict[str, Any]) -> Iterator[Loss]:
    """Yield what is lost with *schema*, which takes nothing and is left out."""
    for keyword in ("additionalProperties", "maxProperties", "minProperties"):
        if keyword in schema:
            said = "a tool that takes nothing goes without a schema"
            yield Loss("/inputSchema", keyword, Action.DROPPED, Direction.WIDER, said)
