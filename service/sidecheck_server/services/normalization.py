"""Normalisation: what tools returned, as results that conform."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.calls.replies import reply_to_result
from sidecheck_server.core.mcp.calls.results import STRUCTURED_CONTENT
from sidecheck_server.core.mcp.context import Context
from sidecheck_server.core.mcp.results import (
    Returned,
    Whole,
    normalized,
    text_result,
)
from sidecheck_server.core.mcp.subjects import ReportLimits, ResultProfile, ToolResult
from sidecheck_server.core.mcp.wrapping.schemas import AdaptedSchema
from sidecheck_server.core.payload import MalformedError
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.adaptation import ToolAdapter
from sidecheck_server.services.results import ResultChecker
from sidecheck_server.services.targets import InlineTool, Target
from sidecheck_server.services.validation import Validator

__all__ = ["Normalized", "Normalizer", "ToNormalize"]

T = TypeVar("T")

_INLINE_BYTES = 16 << 10
"""The largest text that is normalised in the event loop: some milliseconds, if it is made
of nothing but empty arrays."""


@dataclass(frozen=True, slots=True)
class ToNormalize:
    """What a tool returned, and how its result is made."""

    returned: Returned
    #: The tool, or None if that is not told.
    target: Target | None
    profile: ResultProfile
    context: Context
    how: ReportLimits


@dataclass(frozen=True, slots=True)
class Normalized:
    """A result that conforms."""

    #: The ``CallToolResult``, as JSON text.
    json: bytes
    #: On what the tool returned; pointers lead into the result that it would have been.
    verdict: Verdict


class Normalizer:
    """Makes results."""

    def __init__(
        self, validator: Validator, projector: ToolAdapter, checker: ResultChecker, limits: Limits
    ) -> None:
        self._validator = validator
        self._projector = projector
        self._checker = checker
        self._limits = limits

    async def normalize(self, one: ToNormalize) -> Normalized:
        """Return the result that says what was returned.

        It is checked last. In place of one that breaks the protocol or the output schema
        stands one that is an error, and says where.

        Raises:
            Refusal: as `Projector.project` and `ResultChecker.check`.
        """
        version, in_text = one.context.version, one.profile is ResultProfile.TEXT
        tool = form = None
        if one.target is not None:
            tool = self._validator.definition(one.target)
            form = await self._projector.form(tool.definition, version)
        output = None if form is None else form.output
        try:
            made = await self._in_time(one, lambda: self._made(one, output))
        except MalformedError as error:
            verdict = Verdict.listing(list(error.violations), truncated=error.truncated)
        else:
            target = one.target
            if tool is not None and form is not None and form.json != tool.definition.json:
                target = InlineTool(form.json, tool.definition.documents)
            if in_text and not made.is_structured:
                # The text contract owes no structured content, whatever the tool has.
                target = None
            subject = ToolResult(made.json)
            checked = await self._checker.check(subject, target, one.context, one.how)
            verdict = checked.findings.verdict()
        if not verdict.valid:
            name = None if tool is None else tool.name
            reply = reply_to_result(verdict, version, tool=name).call_tool_result
            return Normalized(self._as_text(Whole(reply), version) if in_text else reply, verdict)
        if in_text:
            text = await self._in_time(one, lambda: self._as_text(one.returned, version))
            return Normalized(text, verdict)
        return Normalized(made.json, verdict)

    @staticmethod
    async def _in_time(one: ToNormalize, make: Callable[[], T]) -> T:
        if one.returned.size <= _INLINE_BYTES:
            return make()
        # Megabytes take longer than a moment; other calls have their turn in between.
        return await asyncio.to_thread(make)

    def _made(self, one: ToNormalize, output: AdaptedSchema | None) -> "_Made":
        result = normalized(one.returned, output, one.context.version, self._limits)
        is_structured = isinstance(result, dict) and STRUCTURED_CONTENT in result
        return _Made(msgspec.json.encode(result), is_structured)

    def _as_text(self, returned: Returned, version: str) -> bytes:
        # Without its schema: a text needs no box.
        result = normalized(returned, None, version, self._limits)
        return msgspec.json.encode(text_result(result))


@dataclass(frozen=True, slots=True)
class _Made:
    """A result that is still to be checked."""

    json: bytes
    is_structured: bool
