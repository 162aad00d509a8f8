"""Sessions with messages that cannot be checked."""

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits
from sidecheck_server.core.mcp.check import CheckReport
from sidecheck_server.core.mcp.context import Context, Sender
from sidecheck_server.core.mcp.sessions.memory import MemoryPool
from sidecheck_server.core.mcp.subjects import CheckRequest, ProtocolMessage, ReportLimits
from sidecheck_server.services.checks import RequestContext, SessionChecker
from sidecheck_server.services.protocol import ProtocolChecker
from sidecheck_server.services.schemas import CompiledSchemas, ProtocolSchemas
from support.checkers import compile_in_process, validate_in_process

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
