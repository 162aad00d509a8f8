"""Rules on the versions and capabilities of requests (since 2026-07-28)."""

from dataclasses import dataclass
from typing import Any

from sidecheck_server.core.mcp.call_errors import METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from sidecheck_server.core.mcp.context import Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.metadata_keys import (
    CLIENT_CAPABILITIES_KEY,
    PROTOCOL_VERSION_KEY,
    read_metadata,
)
from sidecheck_server.core.mcp.rules.negotiation import (
    DISCOVER_NOT_IMPLEMENTED,
    MALFORMED_REQUEST_ACCEPTED,
    UNSUPPORTED_VERSION_ACCEPTED,
    UNSUPPORTED_VERSION_SUPPORTED,
)
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    SessionMemory,
    SessionMessage,
    key_of,
)

__all__ = ["Declarations"]

_MAX_REQUESTS = 10_000
_MAX_VERSIONS = 100
"""Number of supported versions that are stored; a server with more is not checked."""

_REQUIRED = (PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY)
_DISCOVER = "server/discover"
_RESULT = ("result",)


@dataclass(slots=True)
class _Declared:
    """What the `_meta` of a request declares. Not frozen, which takes longer to create."""

    #: Key of the version, or None if it has none.
    version: Key | None
    #: The first required field that it lacks, or "".
    missing: str


class Declarations:
    """Versions of open requests, and what the server showed about its own."""

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        self._requests: BoundedStore[_Declared] = BoundedStore(_MAX_REQUESTS, memory)
        #: Keys of the versions that the server listed last; None if it listed none.
        self._supported: frozenset[Key] | None = None
        #: Whether the server does not know server/discover, which is not reported yet.
        self._cannot_discover = False

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store what a request declares, and check its response against it."""
        kind = current.message.kind
        if kind is Kind.REQUEST and current.sender is Sender.CLIENT:
            if MALFORMED_REQUEST_ACCEPTED.holds_in(current.version):
                self._requests.put(current.key, _declared(current.params))
        elif current.sender is Sender.SERVER and current.request is not None:
            declared = self._requests.pop(current.key)
            if kind is Kind.RESULT:
                self._check_result(current, declared, report)
            elif kind is Kind.ERROR:
                self._check_error(current, declared, report)

    def _check_result(
        self, current: SessionMessage, declared: _Declared | None, report: Reporter
    ) -> None:
        # A result of an earlier version has no type: then the server took the request for one
        # of that version.
        if declared is None or not isinstance(current.result.get("resultType"), str):
            return
        if current.message.method == _DISCOVER:
            self._store_supported(current.result.get("supportedVersions"))
            self._cannot_discover = False
        if declared.missing:
            message = f"expected an error: the _meta of the request lacks {declared.missing}"
            report(MALFORMED_REQUEST_ACCEPTED, Fault(_RESULT, message))
        if self._supports(declared.version) is False:
            message = "expected an error: the server does not list the version of the request"
            report(UNSUPPORTED_VERSION_ACCEPTED, Fault(_RESULT, message))
            # Reported once: the server has the version, whatever it lists.
            self._supported = None
        if self._cannot_discover:
            self._cannot_discover = False
            message = f"the server responds to this request, and does not know {_DISCOVER}"
            report(DISCOVER_NOT_IMPLEMENTED, Fault(_RESULT, message))

    def _check_error(
        self, current: SessionMessage, declared: _Declared | None, report: Reporter
    ) -> None:
        value = current.message.value
        error = value.get("error") if isinstance(value, dict) else None
        if not isinstance(error, dict):
            return
        code = error.get("code")
        if code == UNSUPPORTED_VERSION:
            self._check_versions(error.get("data"), declared, report)
        elif code == METHOD_NOT_FOUND and current.message.method == _DISCOVER:
            # A server of earlier versions does not know it either, nor does one of both eras
            # that takes a request without a version for one of an earlier version.
            self._cannot_discover = declared is not None and declared.version is not None

    def _check_versions(self, data: Any, declared: _Declared | None, report: Reporter) -> None:
        """Check the versions that the error for an unsupported one lists."""
        if not isinstance(data, dict):
            return
        self._store_supported(data.get("supported"))
        if declared is None or key_of(data.get("requested")) == declared.version:
            # If the error names this version as requested, its data has the fault by itself.
            return
        if self._supports(declared.version):
            message = "the list has the version of the request"
            fault = Fault(("error", "data", "supported"), message)
            report(UNSUPPORTED_VERSION_SUPPORTED, fault)

    def _store_supported(self, versions: Any) -> None:
        if isinstance(versions, list) and len(versions) <= _MAX_VERSIONS:
            self._supported = frozenset(key_of(version) for version in versions)
        else:
            self._supported = None

    def _supports(self, version: Key | None) -> bool | None:
        """Return whether the server lists *version*, or None if that is unknown."""
        if self._supported is None or version is None:
            return None
        return version in self._supported


def _declared(params: dict[str, Any]) -> _Declared:
    meta = read_metadata(params)
    version = meta.get(PROTOCOL_VERSION_KEY)
    missing = next((name for name in _REQUIRED if name not in meta), "")
    return _Declared(key_of(version) if isinstance(version, str) else None, missing)
