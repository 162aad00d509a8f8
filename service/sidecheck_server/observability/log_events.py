"""Events of the log: their levels, fields and meanings.

The reference documentation of the log is generated from this table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["EVENTS", "LogEvent"]


@dataclass(frozen=True, slots=True)
class LogEvent:
    """A kind of event."""

    name: str
    #: The possible levels, which depend on the outcome, the lowest first.
    levels: tuple[str, ...]
    meaning: str
    #: The meanings of the fields of every event of this kind, by name.
    fields: Mapping[str, str] = field(default_factory=dict)
    #: The meanings of the fields that an event may lack, by name.
    optional_fields: Mapping[str, str] = field(default_factory=dict)


_METHOD = "the name of the RPC method"
_MS = "the duration of the call, in milliseconds"
_ALIVE = "the number of worker processes that can run tasks"
_SERVING = "the number of serving processes that accept calls"
_VALIDITY = {
    "not_before": "the time from which the certificate and its intermediate certificates are valid",
    "not_after": "the time at which the first of them expires",
    "client_certificates": "whether clients must have certificates",
}
_TOKENS = "the number of valid tokens"
_REJECTED = "the number of tools that were rejected"
_COUNTS = {
    "items": "the number of items",
    "invalid": "the number of items, names or tools with an invalid verdict",
    "errors": "the number of items or tools without a verdict, or of inference errors",
    "disagreeing": "digests of schemas about which the two validation engines disagree; "
    "please report them",
}

EVENTS: Mapping[str, LogEvent] = MappingProxyType(
    {
        event.name: event
        for event in (
            LogEvent(
                "server.ready",
                ("info",),
                "The server accepts calls, and health reports that it is serving.",
                {
                    "addresses": "the addresses that it listens on",
                    "server": "the setting of that name",
                    "event_loop": "the setting of that name",
                },
            ),
            LogEvent(
                "server.unauthenticated",
                ("warning",),
                "The server listens without tokens on an address that other machines may reach: "
                "every client that can connect may call it.",
                {"address": "the address, as the settings have it"},
            ),
            LogEvent(
                "tokens.reloaded",
                ("info",),
                "The file of tokens has changed, and its tokens are valid.",
                {"tokens": _TOKENS},
            ),
            LogEvent(
                "tokens.reload_failed",
                ("error",),
                "The file of tokens has changed and cannot be used; the tokens that were read "
                "last remain valid. Logged once for each fault.",
                {"tokens": _TOKENS, "detail": "the fault, without contents of the file"},
            ),
            LogEvent(
                "process.died",
                ("error",),
                "A serving process ended unexpectedly. Its connections are lost; clients connect "
                "to the remaining processes. The process is started again.",
                {
                    "number": "its number, from 1",
                    "exit": "its exit code, or the name of the signal that ended it",
                    "alive": _SERVING,
                },
            ),
            LogEvent(
                "process.stalled",
                ("error",),
                "A serving process stopped responding to the first process, and was killed. The "
                "consequences are those of `process.died`.",
                {
                    "number": "its number, from 1",
                    "cause": '"stopped": it used no processor time for six seconds; "blocked": '
                    "its event loop made no progress for a minute",
                    "alive": _SERVING,
                },
            ),
            LogEvent(
                "envoy.reported",
                ("warning", "error"),
                "Envoy reported something: before it serves, about its configuration; later, for "
                "example, that it refuses calls because its memory is full.",
                {
                    "number": "the number of its process, from 1",
                    "component": "the part of Envoy",
                    "source": "the line of Envoy's source, which identifies the message",
                },
                {
                    "detail": "the message, only before it serves: later ones may quote what a "
                    "peer has sent",
                },
            ),
            LogEvent(
                "process.start_failed",
                ("error",),
                "A serving process that had ended could not be started.",
                {
                    "number": "its number, from 1",
                    "detail": "the reason",
                    "retry_seconds": "the time until the next attempt, in seconds",
                },
            ),
            LogEvent(
                "process.restarted",
                ("info",),
                "A serving process accepts calls, in place of one that ended.",
                {"number": "its number, from 1", "alive": _SERVING},
            ),
            LogEvent(
                "server.draining",
                ("info",),
                "The server is stopping; health reports that it is not serving.",
            ),
            LogEvent(
                "server.abandoned",
                ("warning",),
                "Connections did not end within the grace period, because peers keep them open; "
                "the server ends without them.",
            ),
            LogEvent("server.stopped", ("info",), "The server stopped."),
            LogEvent(
                "server.plaintext",
                ("warning",),
                "The server listens without TLS on an address that other machines may reach.",
                {"address": "the address"},
            ),
            LogEvent(
                "tls.loaded",
                ("info", "warning"),
                "The certificate of the TCP address was read at the start. The level is warning "
                "if it is not valid at this time.",
                _VALIDITY,
            ),
            LogEvent(
                "tls.reloaded",
                ("info", "warning"),
                "The files of TLS have changed, and handshakes use them from now on. The level "
                "is warning if the certificate is not valid at this time.",
                _VALIDITY,
            ),
            LogEvent(
                "tls.reload_failed",
                ("error",),
                "The files of TLS have changed and cannot be used; handshakes use the last good "
                "ones. Logged once for each change.",
                {"detail": "the setting, its file and the fault"},
            ),
            LogEvent(
                "preload.registered",
                ("info",),
                "The tools of a file were registered at startup.",
                {
                    "server": "the namespace of the tools",
                    "tools": "the number of tools that were registered",
                    "rejected": _REJECTED,
                },
            ),
            LogEvent(
                "preload.rejected",
                ("warning",),
                "A tool of a file was not registered at startup.",
                {
                    "server": "the namespace of the tool",
                    "tool": "the position of the tool in the file, from 0",
                    "codes": "the codes of its violations",
                },
            ),
            LogEvent(
                "registry.over_quota",
                ("warning",),
                "The registry exceeds a quota. Its tools are served, and may be changed or "
                "deleted; registrations that would add to the amount are rejected.",
                {
                    "quota": "the name of the quota",
                    "limit": "the quota",
                    "usage": "the amount in the registry; of a quota per server, the largest",
                },
            ),
            LogEvent(
                "registry.unusable",
                ("error",),
                "A registration or deletion failed because the registry cannot be written. Reads "
                "go on. Logged once, until a write succeeds or fails for another reason.",
                {"detail": "the registry, the reason, and a remedy"},
            ),
            LogEvent(
                "registry.recovered",
                ("info",),
                "A registration or deletion succeeded after `registry.unusable`.",
            ),
            LogEvent(
                "registry.unreachable",
                ("warning",),
                "The database of the registry cannot be followed. The tools in memory are "
                "served, and may be outdated (`sidecheck_registry_age_seconds`); registrations "
                "and deletions fail. Logged once, until `registry.reconnected`.",
                {"detail": "the database, the reason, and a remedy"},
            ),
            LogEvent(
                "registry.rejected",
                ("warning",),
                "The database of the registry is older than the one that this server has seen: a "
                "former primary, a restored backup or another database. It is neither read nor "
                "written, as if it were unreachable. Logged once, until `registry.reconnected`.",
                {"detail": "the database, the difference, and a remedy"},
            ),
            LogEvent(
                "registry.term_unreadable",
                ("warning",),
                "The database denies the server's role the functions that identify a former "
                "primary or another cluster. Only the history of the registry is checked. "
                "Logged at the start.",
                {"functions": "the functions on which the role, or `PUBLIC`, needs `EXECUTE`"},
            ),
            LogEvent(
                "registry.reconnected",
                ("info",),
                "The database of the registry is followed again, after `registry.unreachable` "
                "or `registry.rejected`, and all its changes are known.",
                {
                    "seconds": "the time for which served data may have been outdated, in seconds",
                    "revision": "the revision of the registry",
                },
            ),
            LogEvent(
                "registry.reloaded",
                ("warning",),
                "The whole registry was read from its database, because the history does not "
                "reach back to the last known revision: the server was disconnected for longer "
                "than the history is kept.",
                {
                    "previous_revision": "the revision before",
                    "revision": "the revision after",
                },
            ),
            LogEvent(
                "rpc.completed",
                ("debug", "info", "error"),
                "A unary call returned a response. The level is info if it reports an invalid "
                "verdict, an error or a change of the registry, and error if the two validation "
                "engines disagree.",
                {"method": _METHOD, "ms": _MS},
                {
                    "outcome": '"valid" or "invalid"',
                    "violations": "the number of violations in the verdict",
                    "codes": "the codes of violations or diagnostics, without duplicates",
                    "schema": "the digest of the schema",
                    "enforced": "false if callers should not enforce the verdict (`report_only`)",
                    **_COUNTS,
                    "tools": "the number of tools in the response",
                    "names": "the number of names in the response",
                    "strict": "the number of tools that were converted to strict mode",
                    "rejected": _REJECTED,
                    "removed": "the number of tools that were removed",
                    "deleted": "the number of tools that were deleted",
                    "worst": "the worst level of the changes of tools that were compared",
                    "revision": "the revision of the registry",
                },
            ),
            LogEvent(
                "rpc.streamed",
                ("debug", "info", "error"),
                "A stream ended. The levels are those of `rpc.completed`.",
                {"method": _METHOD, "ms": _MS},
                {
                    **_COUNTS,
                    "responses": "the number of responses, for streams without items",
                },
            ),
            LogEvent(
                "rpc.rejected",
                ("info",),
                "A unary call failed with a status other than `INTERNAL`, and was not shed.",
                {"method": _METHOD, "reason": "the reason of the error (`ErrorInfo`)"},
                {"ms": _MS},
            ),
            LogEvent(
                "admin.ready",
                ("info",),
                "The address for operators is open (`admin_listen`).",
                {"address": "its URL, with the actual port"},
            ),
            LogEvent(
                "gateway.completed",
                ("debug", "info"),
                "An exchange that a gateway passed to Sidecheck has ended. The level is debug if "
                "all of it was valid.",
                {
                    "gateway": "the protocol of the gateway",
                    "verdict": '"valid"; "invalid" if it was forwarded anyway; "changed" by a '
                    'repair, or by the removal of tools from a list; "unvalidated"; "rejected"; '
                    'or "failed" if the call failed',
                    "codes": "the codes of violations, without duplicates",
                    "verdict_id": "the id of the exchange, also in the log of the gateway",
                    "ms": "the time from its beginning to its end, in milliseconds",
                },
            ),
            LogEvent(
                "gateway.failed",
                ("warning",),
                "A call of a gateway failed. The configuration of the gateway decides whether it "
                "forwards or rejects the exchange.",
                {
                    "method": _METHOD,
                    "reason": "the reason of the error (`ErrorInfo`)",
                    "detail": "the reason, and a remedy",
                },
            ),
            LogEvent(
                "gateway.pins_unusable",
                ("error",),
                "A lock file of pinned tools cannot be used, so a call of a gateway failed.",
                {"detail": "the file, and the reason"},
            ),
            LogEvent(
                "overload.shed",
                ("warning",),
                "Calls or streams were shed with `OVERLOADED` in the last second. Calls have no "
                "event of their own.",
                {
                    "calls": "their number by the limit that they would have exceeded; "
                    "`deadline` for those whose deadline could not be met, `arriving` for those "
                    "whose messages had not arrived",
                    "lag_ms": "the lag of the event loop, in milliseconds",
                },
            ),
            LogEvent(
                "rpc.failed",
                ("error",),
                "A call or an item of it failed with `INTERNAL`: a fault of the server.",
                {
                    "method": _METHOD,
                    "error_id": "the id that the client received in the status",
                    "error_type": "the class of the exception; its text may contain a payload "
                    "and is not logged",
                    "frames": "file and line of up to eight innermost stack frames",
                },
            ),
            LogEvent(
                "tracing.export_failed",
                ("warning",),
                "Spans could not be exported, or were dropped because the exporter cannot keep up. "
                "Logged at most once a minute.",
                {
                    "detail": "the message of the library for the last failure, limited to "
                    "statuses and numbers",
                    "failures": "the number of failures since the previous event of this kind",
                },
            ),
            LogEvent(
                "tracing.unfinished",
                ("warning",),
                "The server ends before all spans are exported, because the collector does not "
                "answer.",
            ),
            LogEvent(
                "log.dropped",
                ("warning",),
                "Events were dropped because the log could not be written: nobody read it, or "
                "the disk was full.",
                {"lines": "the number of events that were dropped"},
            ),
            LogEvent(
                "worker.died",
                ("warning",),
                "A worker process ended, and another one is started in its place. While no worker "
                "is alive, health reports that the services that need one are not serving.",
                {
                    "cause": '"time": it was killed because its task exceeded its processor time; '
                    '"unresponsive": it was killed because it did not receive its task within '
                    'that time; "stalled": it was killed because it made no progress for ten '
                    'times as long; "memory": it had too little memory to receive a task; '
                    '"crash": it ended by itself, or another process killed it',
                    "exit": "the name of the signal that ended it, or its exit code",
                    "idle": "whether it had no task",
                    "alive": _ALIVE,
                },
            ),
            LogEvent(
                "worker.restarted",
                ("info",),
                "A worker process is ready in place of one that ended.",
                {"alive": _ALIVE},
            ),
            LogEvent(
                "worker.start_failed",
                ("error",),
                "A worker process could not be started, and the server tries again.",
                {
                    "cause": '"time", "stalled", "memory", "crash", as in `worker.died`, or '
                    '"system": the system cannot start another process',
                    "detail": "how the process ended, or the message of the system",
                    "retry_seconds": "the time until the next attempt, in seconds",
                    "alive": _ALIVE,
                },
            ),
            LogEvent(
                "library.logged",
                ("warning", "error"),
                "A library logged a message.",
                {
                    "logger": "the name of the logger",
                    "detail": "the first line of the message template, without arguments",
                    "error_type": "the class of the exception, or null",
                },
            ),
        )
    }
)
