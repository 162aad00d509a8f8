"""Checks by the rules of the protocol, with every question of the rules answered."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from sidecheck_server.core.compiled import CompiledSchema
from sidecheck_server.core.judge import Judging, judge_at_once
from sidecheck_server.core.limits import Limits, exceeded
from sidecheck_server.core.mcp.answering import answer, source_for, value_text
from sidecheck_server.core.mcp.check import Checked, check_at_once
from sidecheck_server.core.mcp.findings import Asking, Findings
from sidecheck_server.core.mcp.subjects import Asked
from sidecheck_server.core.mcp.surfaces import NotCompiledError
from sidecheck_server.core.refusals import Refusal
from sidecheck_server.core.words import Verdict
from sidecheck_server.state.schemas import CompiledSchemas
from sidecheck_server.state.surfaces import KeptSurfaces

__all__ = ["Checker", "Find", "TakeLong", "allow"]

#: Checks in a worker what takes longer than a moment.
CheckLong = Callable[[Asked], Awaitable[Checked]]
#: Judges in a worker what takes longer than a moment.
JudgeLong = Callable[[CompiledSchema, bytes, Judging], Awaitable[Verdict]]
#: Is called before a worker is given something to do; may refuse.
TakeLong = Callable[[], None]
#: Returns what awaits the compiled schema that a question is about, or None.
Find = Callable[[Asking], Awaitable[CompiledSchema] | None]


def allow() -> None:
    """Let every subject have as much of the workers as one may."""


def nowhere(_asking: Asking) -> None:
    """Have every schema compiled that a question is about."""


class Checker:
    """Checks what callers send, at once or in a worker."""

    def __init__(
        self,
        surfaces: KeptSurfaces,
        schemas: CompiledSchemas,
        check_long: CheckLong,
        judge_long: JudgeLong,
        limits: Limits,
    ) -> None:
        self._surfaces = surfaces
        self._schemas = schemas
        self._check_long = check_long
        self._judge_long = judge_long
        self._limits = limits

    async def check(
        self, asked: Asked, take_long: TakeLong = allow, find: Find = nowhere
    ) -> Checked:
        """Return what is wrong with the subject of *asked*; no question is left.

        *take_long* bounds what several subjects have of the workers together; *find*
        knows where else some schemas are compiled.

        Raises:
            Refusal: LIMIT_EXCEEDED, also if more than ``long_items`` of the values that
                rules ask about need a worker; WORKER_LOST if a worker died.
        """
        checked = await self.check_unanswered(asked, take_long)
        await self.answer(asked, checked, take_long, find)
        return checked

    async def check_unanswered(self, asked: Asked, take_long: TakeLong = allow) -> Checked:
        """Return what `check` returns, with the rules' questions left to the caller.

        Raises:
            Refusal: LIMIT_EXCEEDED; WORKER_LOST if a worker died.
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
        self, asked: Asked, checked: Checked, take_long: TakeLong = allow, find: Find = nowhere
    ) -> None:
        """Answer the questions of *checked*, which was found by *asked*, as `check` does.

        Raises:
            Refusal: as `check`.
        """
        if checked.findings.questions:
            answers = _Answers(checked.findings, asked, self._schemas, self._judge_long, take_long)
            answers.find = find
            await answers.give(self._limits)


_AT_ONCE = 64
"""How many schemas of a payload are compiled at the same time, as those of registrations are."""

_READY = 256
"""How many compiled schemas are held on to; others the cache may still have."""


class _Answers:
    """Answers the questions about one subject."""

    def __init__(
        self,
        findings: Findings,
        asked: Asked,
        schemas: CompiledSchemas,
        judge_long: JudgeLong,
        take_long: TakeLong,
    ) -> None:
        self._findings = findings
        self._schemas = schemas
        self._judge_long = judge_long
        self._take_long = take_long
        self.find: Find = nowhere
        self._how = Judging(
            max_violations=asked.how.most,
            max_length=asked.how.longest,
            hide_values=asked.context.hide_values,
        )
        # Thousands of values may be judged under one large schema: it is written out and
        # looked up once. The questions hold the schemas, so that no identity is reused.
        self._ready: dict[tuple[int, bool], CompiledSchema | Refusal] = {}
        self._long = 0

    async def give(self, limits: Limits) -> None:
        """Answer all questions.

        Raises:
            Refusal: as `Checker.check`.
        """
        questions = self._findings.questions
        for start in range(0, len(questions), _AT_ONCE):
            several = questions[start : start + _AT_ONCE]
            await self._compile(several)
            for asking in several:
                await self._answer(asking, limits)
                # Each answer may hold the loop for a moment; other calls have their turn.
                await asyncio.sleep(0)
        questions.clear()

    async def _compile(self, several: Sequence[Asking]) -> None:
        """Make the schemas of *several* ready, those that are new side by side."""
        if len(self._ready) > _READY:
            self._ready.clear()
        missing = {_key(each): each for each in several if _key(each) not in self._ready}
        found = await asyncio.gather(*map(self._looked_up, missing.values()))
        self._ready.update(zip(missing, found, strict=True))

    async def _answer(self, asking: Asking, limits: Limits) -> None:
        compiled, verdict = self._ready[_key(asking)], None
        text = value_text(asking)
        if text is not None and not isinstance(compiled, Refusal):
            verdict = judge_at_once(compiled, text, self._how)
            if verdict is None:
                self._count(limits)
                verdict = await self._judge_long(compiled, text, self._how)
        answer(asking, self._findings, compiled, verdict)

    async def _looked_up(self, asking: Asking) -> CompiledSchema | Refusal:
        compiling = self.find(asking)
        if compiling is None:
            compiling = self._schemas.inline(source_for(asking, self._findings))
        try:
            return await compiling
        except Refusal as refusal:
            return refusal

    def _count(self, limits: Limits) -> None:
        self._take_long()
        self._long += 1
        if self._long > limits.long_items:
            raise exceeded(
                "long_items",
                limits.long_items,
                "values of one payload that need a worker",
            )


def _key(asking: Asking) -> tuple[int, bool]:
    return (id(asking.question.schema), asking.question.assert_formats)
