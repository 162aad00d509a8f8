"""Sessions with messages that cannot be checked."""

import json
from contextlib import suppress

import pytest
from sidecheck_server.core.compiler.compilation import CompiledSchema
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.evaluate import EvaluationOptions
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport, check
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.sessions.memory import MemoryPool
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.core.types import Verdict
from sidecheck_server.services.checks import RequestContext, SessionChecker
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas
from support.checkers import PROTOCOL_SCHEMAS, compile_in_process, validate_in_process

LIMITS = Limits(inline_bytes=1000)
REQUEST = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": "%s"}}}'
RESPONSE = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'


def session_that_fails_with(error: Exception, pool: MemoryPool) -> SessionChecker:
    """Return a session in which the check of a long message raises *error*."""

    async def fail(_request: CheckRequest) -> CheckReport:
        raise error

    checker = ProtocolChecker(
        ProtocolSchemas(compile_in_process, LIMITS),
        CompiledSchemas(compile_in_process, LIMITS, 0, 0),
        fail,
        validate_in_process,
        LIMITS,
    )
    return SessionChecker(checker, LIMITS, RequestContext(Context(), ReportLimits(), False), pool)


async def codes(session: SessionChecker, text: bytes, sender: Sender) -> list[str]:
    """Return the codes of the violations of the message *text*."""
    request = CheckRequest(ProtocolMessage(text), Context(sender=sender), ReportLimits())
    report = await session.check(request)
    return [violation.code for violation in report.verdict.violations]


class Failing:
    """A worker whose first tasks crash."""

    def __init__(self, crashes: int) -> None:
        self.crashes = crashes

    def fail_at_first(self) -> None:
        """Raise what a crash raises, as often as said."""
        self.crashes -= 1
        if self.crashes >= 0:
            raise RequestError(ErrorReason.WORKER_CRASHED, "crashed")

    async def check(self, request: CheckRequest) -> CheckReport:
        """Check in place of a worker."""
        self.fail_at_first()
        return check(request, LIMITS, PROTOCOL_SCHEMAS)

    async def validate(
        self, compiled: CompiledSchema, payload: bytes, options: EvaluationOptions
    ) -> Verdict:
        """Validate in place of a worker."""
        self.fail_at_first()
        return await validate_in_process(compiled, payload, options)


ELICITATION = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "elicitation/create",
        "params": {
            "message": "m",
            "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
        },
    }
).encode()
ANSWER = json.dumps(
    {"jsonrpc": "2.0", "id": 3, "result": {"action": "accept", "content": {"a": "x" * 2000}}}
).encode()


@pytest.mark.parametrize("crashes", [0, 1, 2])
async def test_a_message_can_be_sent_again_after_a_worker_crashed(crashes: int) -> None:
    """The session goes on as if nothing had happened, with all its rules."""
    long_request = REQUEST % (b"x" * 2000)
    checks, validations = Failing(crashes), Failing(crashes)
    checker = ProtocolChecker(
        ProtocolSchemas(compile_in_process, LIMITS),
        CompiledSchemas(compile_in_process, LIMITS, 0, 0),
        checks.check,
        validations.validate,
        LIMITS,
    )
    session = SessionChecker(
        checker, LIMITS, RequestContext(Context(), ReportLimits(), False), MemoryPool(1 << 20, 1)
    )

    async def send(text: bytes, sender: Sender) -> list[str]:
        for _ in range(crashes):
            with suppress(RequestError):
                return await codes(session, text, sender)
        return await codes(session, text, sender)

    assert [] == await send(long_request, Sender.CLIENT)
    assert [] == await send(RESPONSE, Sender.SERVER)
    assert ["RESPONSE_WITHOUT_REQUEST"] == await send(RESPONSE, Sender.SERVER)
    first = await send(ELICITATION, Sender.SERVER)
    validations.crashes = crashes
    assert [] == await send(ANSWER, Sender.CLIENT)
    assert validations.crashes < 0 or not crashes
    assert ["RESPONSE_WITHOUT_REQUEST"] == await send(ANSWER, Sender.CLIENT)
    assert "REQUEST_ID_IN_USE" not in first


@pytest.mark.parametrize(
    "error", [RequestError(ErrorReason.WORKER_CRASHED, "crashed"), ValueError("unexpected")]
)
async def test_a_message_whose_check_fails_is_a_gap(error: Exception) -> None:
    """No later message violates a rule for lack of it."""
    session = session_that_fails_with(error, MemoryPool(1 << 20, 1))
    complete = session_that_fails_with(error, MemoryPool(1 << 20, 1))
    with pytest.raises(type(error)):
        await codes(session, REQUEST % (b"x" * 2000), Sender.CLIENT)

    assert ["RESPONSE_WITHOUT_REQUEST"] == await codes(complete, RESPONSE, Sender.SERVER)
    assert [] == await codes(session, RESPONSE, Sender.SERVER)
