"""Sessions with messages that cannot be checked."""

import json
from contextlib import suppress

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.sessions.memory import MemoryPool
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.services.checks import RequestContext, SessionChecker
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas
from sidecheck_server.workers.tasks import ValidatePayload
from support.checkers import run_in_process
from support.recorded_tasks import RecordedTasks

LIMITS = Limits(inline_bytes=1000)
REQUEST = b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": {"x": "%s"}}}'
RESPONSE = b'{"jsonrpc": "2.0", "id": 1, "result": {}}'


def session_that_fails_with(error: Exception, pool: MemoryPool) -> SessionChecker:
    """Return a session in which the check of a long message raises *error*."""

    checker = ProtocolChecker(
        ProtocolSchemas(run_in_process, LIMITS),
        CompiledSchemas(run_in_process, LIMITS, 0, 0),
        RecordedTasks(LIMITS, error),
        LIMITS,
    )
    return SessionChecker(checker, LIMITS, RequestContext(Context(), ReportLimits(), False), pool)


async def codes(session: SessionChecker, text: bytes, sender: Sender) -> list[str]:
    """Return the codes of the violations of the message *text*."""
    request = CheckRequest(ProtocolMessage(text), Context(sender=sender), ReportLimits())
    report = await session.check(request)
    return [violation.code for violation in report.verdict.violations]


CRASHED = RequestError(ErrorReason.WORKER_CRASHED, "crashed")
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
    """The session continues with all its rules."""
    long_request = REQUEST % (b"x" * 2000)
    tasks = RecordedTasks(LIMITS, *[CRASHED] * crashes)
    checker = ProtocolChecker(
        ProtocolSchemas(run_in_process, LIMITS),
        CompiledSchemas(run_in_process, LIMITS, 0, 0),
        tasks,
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
    tasks.failures = [CRASHED] * crashes
    assert [] == await send(ANSWER, Sender.CLIENT)
    assert [] == tasks.failures
    assert any(isinstance(task, ValidatePayload) for task in tasks.tasks)
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
