"""Checks by the rules of the protocol, with every question of the rules answered."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from sidecheck_server.core.compiler.compiled_schema import CompiledSchema
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.evaluate import EvaluationOptions, try_evaluate_inline
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.check import Checked, check_at_once
from sidecheck_server.core.mcp.deferred import answer, source_for, value_text
from sidecheck_server.core.mcp.findings import CheckSpec, Findings
from sidecheck_server.core.mcp.protocol_schemas import NotCompiledError
from sidecheck_server.core.mcp.subjects import CheckRequest
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.protocol_schemas import ProtocolSchemas
from sidecheck_server.services.schemas import CompiledSchemas

__all__ = ["AT_ONCE", "Checker", "Find", "TakeLong", "allow"]

#: Checks in a worker what takes longer than a moment.
CheckLong = Callable[[CheckRequest], Awaitable[Checked]]
#: Judges in a worker what takes longer than a moment.
OffloadValidation = Callable[[CompiledSchema, bytes, EvaluationOptions], Awaitable[Verdict]]
#: Is called before a worker is given something to do; may refuse.
TakeLong = Callable[[], None]
#: Judges a value, at once or in a worker; may refuse.
_Judge = Callable[[CompiledSchema, bytes], Awaitable[Verdict]]
#: Returns what awaits the compiled schema that a question is about, or None.
Find = Callable[[CheckSpec], Awaitable[CompiledSchema] | None]


def allow() -> None:
    """Let every subject have as much of the workers as one may."""


def nowhere(_asking: CheckSpec) -> None:
    """Have every schema compiled that a question is about."""


class Checker:
    """Checks what callers send, at once or in a worker."""

    def __init__(
        self,
        surfaces: ProtocolSchemas,
        schemas: CompiledSchemas,
        check_long: CheckLong,
        validate_offloaded: OffloadValidation,
        limits: Limits,
    ) -> None:
        self._surfaces = surfaces
        self._schemas = schemas
        self._check_long = check_long
        self._judge_long = validate_offloaded
        self._limits = limits

    async def check(
        self, asked: CheckRequest, take_long: TakeLong = allow, find: Find = nowhere
    ) -> Checked:
        """Return what is wrong with the subject of *asked*; no question is left.

        *take_long* bounds what several subjects have of the workers together; *find*
        knows where else some schemas are compiled.

        Raises:
            Refusal: LIMIT_EXCEEDED, also if more than ``offloaded_items`` of the values that
                rules ask about need a worker; WORKER_CRASHED if a worker died.
        """
        checked = await self.check_unanswered(asked, take_long)
        await self.answer(asked, checked, take_long, find)
        return checked

    async def check_unanswered(self, asked: CheckRequest, take_long: TakeLong = allow) -> Checked:
        """Return what `check` returns, with the rules' questions left to the caller.

        Raises:
            Refusal: LIMIT_EXCEEDED; WORKER_CRASHED if a worker died.
        """
        while True:
            try:
                checked = check_at_once(asked, self._limits, self._surfaces)
            except NotCompiledError as missing:
                await self._surfaces.ensure(missing.version, missing.name)
            else:
                break
        if checked is not None:
            return checked
        take_long()
        return await self._check_long(asked)

    async def answer(
        self,
        asked: CheckRequest,
        checked: Checked,
        take_long: TakeLong = allow,
        find: Find = nowhere,
    ) -> None:
        """Answer the questions of *checked*, which was found by *asked*, as `check` does.

        Raises:
            Refusal: as `check`.
        """
        if checked.findings.questions:
            judge = self._judge(asked.judging, take_long)
            await _Answers(checked.findings, self._schemas, find, judge).give()

    def _judge(self, how: EvaluationOptions, take_long: TakeLong) -> _Judge:
        """Return what judges the values of one subject, of which few may need a worker."""
        limit = left = self._limits.offloaded_items

        async def judge(compiled: CompiledSchema, text: bytes) -> Verdict:
            nonlocal left
            verdict = try_evaluate_inline(compiled, text, how)
            if verdict is None:
                take_long()
                left -= 1
                if left < 0:
                    raise exceeded(
                        "offloaded_items", limit, "values of one payload that need a worker"
                    )
                verdict = await self._judge_long(compiled, text, how)
            return verdict

        return judge


AT_ONCE = 64
"""How many definitions of a request, or schemas of a payload, are worked at side by side."""

_READY = 256
"""How many compiled schemas are held on to; others the cache may still have."""


class _Answers:
    """Answers the questions about one subject."""

    def __init__(
        self, findings: Findings, schemas: CompiledSchemas, find: Find, judge: _Judge
    ) -> None:
        self._findings = findings
        self._schemas = schemas
        self._find = find
        self._judge = judge
        self._ready: dict[tuple[int, bool], CompiledSchema | RequestError] = {}

    async def give(self) -> None:
        """Answer all questions.

        Raises:
            Refusal: as `Checker.check`.
        """
        questions = self._findings.questions
        for start in range(0, len(questions), AT_ONCE):
            several = questions[start : start + AT_ONCE]
            await self._compile(several)
            for asking in several:
                await self._answer(asking)
                # Each answer may hold the loop for a moment; other calls have their turn.
                await asyncio.sleep(0)
        questions.clear()

    async def _compile(self, several: Sequence[CheckSpec]) -> None:
        """Make the schemas of *several* ready, those that are new side by side."""
        if len(self._ready) > _READY:
            self._ready.clear()
        missing = {each.key: each for each in several if each.key not in self._ready}
        found = await asyncio.gather(*map(self._looked_up, missing.values()))
        self._ready.update(zip(missing, found, strict=True))

    async def _answer(self, asking: CheckSpec) -> None:
        compiled, verdict = self._ready[asking.key], None
        text = value_text(asking)
        if text is not None and not isinstance(compiled, RequestError):
            verdict = await self._judge(compiled, text)
        answer(asking, self._findings, compiled, verdict)

    async def _looked_up(self, asking: CheckSpec) -> CompiledSchema | RequestError:
        compiling = self._find(asking)
        if compiling is None:
            compiling = self._schemas.inline(source_for(asking, self._findings))
        try:
            return await compiling
        except RequestError as refusal:
            return refusal
