"""Conversion of one definition to the form that an API takes."""

from collections.abc import Iterator
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
from sidecheck_server.core.convert.presentation import Presentation, noted, presented
from sidecheck_server.core.convert.reading import read_parts
from sidecheck_server.core.convert.record import Record
from sidecheck_server.core.convert.words import Action, ConversionOptions, Direction, Loss, Mode
from sidecheck_server.core.convert.writing import notes_of, write_schema
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.tools.definitions import ToolDefinition
from sidecheck_server.core.refusals import Reason, Refusal

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
    budget = [limits.steps]
    try:
        read = Record(budget)
        root = read_parts(definition.input, ("inputSchema",), read, limits)
        shown = presented(definition, api, options, limits)
        fitted, why_not = _chosen(root, api, options, read)
    except (Exhausted, RecursionError):
        raise exceeded("steps", limits.steps, "converting the tool takes too long") from None
    shown = noted(shown, fitted.apart, api, options)
    losses = (*shown.losses, *fitted.losses)
    form = _form(definition, api, shown, fitted, losses, why_not)
    if form.length > limits.message_bytes:
        # What many references lead to is written as often.
        raise exceeded("message_bytes", limits.message_bytes, "the converted tool", form.length)
    return form


class _Fitted:
    """A schema in one of the subsets of an API."""

    def __init__(self, root: Part, api: Api, subset: Subset, read: Record) -> None:
        self.strict = subset is api.strict
        record = Record(read.budget, list(read.losses))
        renamed = {} if api.members is None else member_names(members_of(root), api.members)
        # Fitting changes parts; another subset may have to be tried.
        fitted = fit(copied(root), subset, renamed, record)
        self.counts: Counts = counts_of(fitted)
        self.beyond = beyond(self.counts, subset.limits)
        self.schema: dict[str, Any] = write_schema(fitted, subset)
        self.guide: Guide | None = guide_of(fitted)
        self.losses = record.in_order()
        #: What is said of the whole where the root cannot have a description.
        self.apart = notes_of(fitted) if "description" in subset.not_at_root else ""
        self._record = record

    def why_not(self, *, assume_closed: bool) -> str:
        """Return why this is not as good as the original, or ""."""
        loss = self._record.against_strict(assume_closed=assume_closed)
        return self.beyond or ("" if loss is None else f"{loss.message} (at {loss.pointer})")


def _chosen(root: Part, api: Api, options: ConversionOptions, read: Record) -> tuple[_Fitted, str]:
    """Return the schema in the subset that the mode asks for, and why it is not strict."""
    why_not = ""
    if options.mode is not Mode.COMPATIBLE and api.strict is not None:
        strict = _Fitted(root, api, api.strict, read)
        if options.mode is Mode.STRICT:
            _refuse_beyond(strict, api)
            return strict, ""
        why_not = strict.why_not(assume_closed=options.assume_closed)
        if not why_not:
            return strict, ""
    elif options.mode is not Mode.COMPATIBLE:
        why_not = f"{api.in_words} cannot be asked to hold a model to a schema"
        if options.mode is Mode.STRICT:
            raise Refusal(Reason.NOT_CONVERTIBLE, why_not, {"api": api.key})
    compatible = _Fitted(root, api, api.compatible, read)
    _refuse_beyond(compatible, api)
    return compatible, why_not


def _refuse_beyond(fitted: _Fitted, api: Api) -> None:
    if fitted.beyond:
        said = f"the schema is larger than {api.in_words} takes: {fitted.beyond}"
        raise Refusal(Reason.NOT_CONVERTIBLE, said, {"api": api.key})


def _form(
    definition: ToolDefinition,
    api: Api,
    shown: Presentation,
    fitted: _Fitted,
    losses: tuple[Loss, ...],
    why_not: str,
) -> Form:
    omits = api.omits_no_parameters and _takes_nothing(fitted.schema)
    if omits:
        losses = (*losses, *_omitted(fitted.schema))
    return Form(
        tool=definition.name,
        definition_digest=definition.digest,
        description=shown.description,
        parameters=None if omits else msgspec.json.encode(fitted.schema),
        output_schema=shown.output_schema,
        strict=None if api.strict is None else fitted.strict,
        guide=fitted.guide,
        losses=losses,
        why_not_strict=why_not,
        counts=fitted.counts,
    )


def _takes_nothing(schema: dict[str, Any]) -> bool:
    """Return whether *schema* speaks of no members, declared, required or others."""
    speaks = schema.get("properties") or schema.get("required")
    return not speaks and not isinstance(schema.get("additionalProperties"), dict)


def _omitted(schema: dict[str, Any]) -> Iterator[Loss]:
    """Yield what is lost with *schema*, which takes nothing and is left out."""
    for keyword in ("maxProperties", "minProperties"):
        if keyword in schema:
            said = "a tool that takes nothing goes without a schema"
            yield Loss("/inputSchema", keyword, Action.DROPPED, Direction.WIDER, said)
