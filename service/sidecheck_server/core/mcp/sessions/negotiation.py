"""Protocol versions and capabilities that the messages of a session declare."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from sidecheck_server.core.mcp.call_errors import METHOD_NOT_FOUND, UNSUPPORTED_VERSION
from sidecheck_server.core.mcp.context import (
    FIRST_STATELESS,
    LAST_HANDSHAKE,
    VERSIONS,
    Context,
    Sender,
)
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.metadata_keys import (
    CLIENT_CAPABILITIES_KEY,
    PROTOCOL_VERSION_KEY,
    read_metadata,
)
from sidecheck_server.core.mcp.methods import METHODS
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.core.mcp.rules.input_required import allows_extensions
from sidecheck_server.core.mcp.rules.messages import ERROR_ID_NULL, METHOD_UNKNOWN
from sidecheck_server.core.mcp.rules.negotiation import (
    DISCOVER_NOT_IMPLEMENTED,
    MALFORMED_REQUEST_ACCEPTED,
    UNSUPPORTED_VERSION_ACCEPTED,
    UNSUPPORTED_VERSION_SUPPORTED,
)
from sidecheck_server.core.mcp.rules.responses import DEFINED_CODES
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.sessions.memory import (
    BoundedStore,
    Key,
    Reporter,
    Request,
    SessionMemory,
    SessionMessage,
    key_of,
)
from sidecheck_server.core.mcp.sessions.message_scan import MAX_CAPABILITIES_BYTES, MessageScan
from sidecheck_server.core.payload import encode_json
from sidecheck_server.core.types import Violation

__all__ = ["Declarations", "Negotiation"]

_MAX_REQUESTS = 10_000
_MAX_VERSIONS = 100
"""Largest number of supported versions that is stored; longer lists are not checked."""

_REQUIRED = (PROTOCOL_VERSION_KEY, CLIENT_CAPABILITIES_KEY)
_RESULT = ("result",)

_DISCOVER = "server/discover"
"""Request for the versions of a server, and probe of a client for a server with a handshake.

Source: 2026-07-28, basic/transports/stdio, "Backward Compatibility".
"""


@dataclass(slots=True)
class _Declaration:
    """Version in the `_meta` of a request.

    Not frozen, since a frozen dataclass takes longer to create.
    """

    #: Key of the version, or None if the request declares none.
    version: Key | None
    #: First missing required field, or "".
    missing: str


class Declarations:
    """Versions that open requests declare, and versions that the server supports."""

    methods: frozenset[str] | None = None

    def __init__(self, memory: SessionMemory) -> None:
        self._requests: BoundedStore[_Declaration] = BoundedStore(_MAX_REQUESTS, memory)
        #: Keys of the versions in the server's last list; None without a usable list.
        self._supported: frozenset[Key] | None = None
        #: Whether the server rejected server/discover and this is not reported yet.
        self._lacks_discover = False

    def observe(self, current: SessionMessage, report: Reporter) -> None:
        """Store what a request declares, and check its response against it."""
        kind = current.message.kind
        if kind is Kind.REQUEST and current.sender is Sender.CLIENT:
            if MALFORMED_REQUEST_ACCEPTED.holds_in(current.version):
                self._requests.put(current.key, _read_declaration(current.params))
        elif current.sender is Sender.SERVER and current.request is not None:
            declared = self._requests.pop(current.key)
            if kind is Kind.RESULT:
                self._check_result(current, declared, report)
            elif kind is Kind.ERROR:
                self._check_error(current, declared, report)

    def _check_result(
        self, current: SessionMessage, declared: _Declaration | None, report: Reporter
    ) -> None:
        # A result without a type belongs to an earlier version: the server applied that one.
        if declared is None or not isinstance(current.result.get("resultType"), str):
            return
        if current.message.method == _DISCOVER:
            self._store_supported(current.result.get("supportedVersions"))
            self._lacks_discover = False
        if declared.missing:
            message = f"expected an error: the _meta of the request lacks {declared.missing}"
            report(MALFORMED_REQUEST_ACCEPTED, Fault(_RESULT, message))
        if self._supports(declared.version) is False:
            message = "expected an error: the server does not list the version of the request"
            report(UNSUPPORTED_VERSION_ACCEPTED, Fault(_RESULT, message))
            # Report it once: the server supports the version, whatever it lists.
            self._supported = None
        if self._lacks_discover:
            self._lacks_discover = False
            message = f"the server responds to this request, and does not know {_DISCOVER}"
            report(DISCOVER_NOT_IMPLEMENTED, Fault(_RESULT, message))

    def _check_error(
        self, current: SessionMessage, declared: _Declaration | None, report: Reporter
    ) -> None:
        value = current.message.value
        error = value.get("error") if isinstance(value, dict) else None
        if not isinstance(error, dict):
            return
        code = error.get("code")
        if code == UNSUPPORTED_VERSION:
            self._check_versions(error.get("data"), declared, report)
        elif code == METHOD_NOT_FOUND and current.message.method == _DISCOVER:
            # Servers of earlier versions lack the method. Servers that also support later
            # versions apply an earlier one to a request that declares no version.
            self._lacks_discover = declared is not None and declared.version is not None

    def _check_versions(self, data: Any, declared: _Declaration | None, report: Reporter) -> None:
        """Check the supported versions in the error for an unsupported version."""
        if not isinstance(data, dict):
            return
        self._store_supported(data.get("supported"))
        if declared is None or key_of(data.get("requested")) == declared.version:
            # The check of the rule reports data that name this version.
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


def _read_declaration(params: dict[str, Any]) -> _Declaration:
    meta = read_metadata(params)
    version = meta.get(PROTOCOL_VERSION_KEY)
    missing_field = next((name for name in _REQUIRED if name not in meta), "")
    return _Declaration(key_of(version) if isinstance(version, str) else None, missing_field)


_EXTENSIBLE_CODES = frozenset({METHOD_UNKNOWN.code, "RESULT_TYPE_UNKNOWN"})
"""Codes of violations that a declared extension may allow."""

_VERSION_MISMATCH = "META_PROTOCOL_VERSION"


def _find_unique_versions() -> Mapping[str, str]:
    """Return the version of each method that exists in only one version."""
    versions: dict[str, set[str]] = {}
    for method in METHODS:
        supporting = {version for version in VERSIONS if method.holds_in(version)}
        versions.setdefault(method.name, set()).update(supporting)
    return MappingProxyType(
        {name: min(supporting) for name, supporting in versions.items() if len(supporting) == 1}
    )


_UNIQUE_VERSIONS = _find_unique_versions()


class Negotiation:
    """Context of the next message of a session.

    It begins as *context*. Messages that declare a version replace its version, unless it is
    *pinned*.
    """

    def __init__(self, context: Context, *, pinned: bool, from_beginning: bool) -> None:
        self._context = context
        self._pinned = pinned
        self._from_beginning = from_beginning
        #: Whether the version is pinned, or a message declared it.
        self._version_is_known = pinned
        #: Whether the version is pinned, or a message declared or implied it.
        self._version_is_implied = pinned
        #: Whether a request declared extensions (since 2026-07-28).
        self._declares_extensions = False
        #: Whether `initialize` was sent.
        self._handshake_began = False

    def request_context(self, scan: MessageScan, sender: Sender | None) -> Context:
        """Return the context of a request or notification with the fields *scan*.

        Since 2026-07-28 each request declares the capabilities of the client.
        """
        context = self._context
        version = self._find_version(scan)
        if scan.is_handshake:
            # Versions without a handshake have no such request.
            legacy = version if "" < version < FIRST_STATELESS else self._legacy_version
            return replace(context, sender=sender, version=legacy)
        version = version or context.version
        capabilities = context.client_capabilities
        if version >= FIRST_STATELESS and (
            scan.capabilities is not None or scan.capabilities_too_large
        ):
            capabilities = scan.capabilities
        return replace(context, sender=sender, version=version, client_capabilities=capabilities)

    def response_context(self, scan: MessageScan, request: Request, sender: Sender) -> Context:
        """Return the context of the response of *sender* to *request*."""
        version = request.version
        if request.method == "initialize":
            agreed = self._select_version(scan.version)
            # Versions without a handshake have no such result.
            if "" < agreed < FIRST_STATELESS:
                version = agreed
            elif version >= FIRST_STATELESS:
                # This version has no initialize; the rules of a handshake apply to its error.
                version = self._legacy_version
        elif request.method == _DISCOVER and (
            scan.error_code is not None and scan.error_code not in DEFINED_CODES
        ):
            # Any other error shows that the server has a handshake.
            version = self._legacy_version
        return replace(
            self._context,
            sender=sender,
            version=version,
            client_capabilities=request.client_capabilities,
        )

    def context(self, sender: Sender | None) -> Context:
        """Return the context of a response of *sender* whose request is unknown."""
        return replace(self._context, sender=sender)

    def observe(self, current: SessionMessage, message_context: Context) -> None:
        """Store the version and the capabilities that the current message declares.

        *message_context* is the context in which it was checked.
        """
        kind, method = current.message.kind, current.message.method
        context = self._context
        expected = Sender.CLIENT if kind is Kind.REQUEST else Sender.SERVER
        if method == "initialize" and current.sender is not expected:
            return
        if kind is Kind.REQUEST and method == "initialize" and current.version < FIRST_STATELESS:
            self._handshake_began = True
            declared = _read_capabilities(current.params)
            context = replace(context, client_capabilities=declared, version=current.version)
        elif kind is Kind.RESULT and method in {"initialize", _DISCOVER}:
            declared = _read_capabilities(current.result)
            context = replace(context, server_capabilities=declared, version=current.version)
        elif current.version < FIRST_STATELESS:
            self._version_is_implied |= _UNIQUE_VERSIONS.get(method) == current.version
            return
        else:
            if kind is Kind.REQUEST:
                self._declares_extensions |= allows_extensions(message_context)
            if current.version == context.version or self._pinned:
                self._version_is_known = self._version_is_implied = True
                return
            context = replace(context, version=current.version)
        if self._pinned:
            context = replace(context, version=self._context.version)
        self._context = context
        self._version_is_known = self._version_is_implied = True

    def is_certain(self, context: Context, violation: Violation) -> bool:
        """Return whether no unseen message and no extension may explain *violation*.

        Unseen messages precede the first recorded one. *context* is the context of the message
        with the violation.
        """
        if violation.code == _VERSION_MISMATCH and not self._pinned:
            # The server's versions are unknown until it responds.
            return False
        if violation.code == METHOD_UNKNOWN.code and self._declares_extensions:
            # Since 2026-07-28 notifications declare no extensions.
            return False
        if self._from_beginning:
            return True
        if violation.code in _EXTENSIBLE_CODES:
            declared = (context.client_capabilities, context.server_capabilities)
            return None not in declared
        if self._version_is_implied:
            return True
        # A violation of a rule that all versions have is one in the unknown version too.
        rule = CATALOGUE.get(violation.code)
        holds_in_all = rule is None or len(rule.versions) == len(VERSIONS)
        return holds_in_all and rule is not ERROR_ID_NULL

    @property
    def _legacy_version(self) -> str:
        """Version of the session if it has a handshake, otherwise the last that has one."""
        version = self._context.version
        return version if version < FIRST_STATELESS or self._pinned else LAST_HANDSHAKE

    def _find_version(self, scan: MessageScan) -> str:
        """Return the version that a request or notification declares or implies, or ""."""
        version = self._select_version(scan.version)
        if version:
            return version
        if not self._version_is_known:
            return _UNIQUE_VERSIONS.get(scan.method, "")
        if scan.method == _DISCOVER and not self._handshake_began:
            return FIRST_STATELESS
        return ""

    def _select_version(self, version: str) -> str:
        """Return *version*; "" if it is unknown or the session's version is pinned."""
        return version if version in VERSIONS and not self._pinned else ""


def _read_capabilities(properties: dict[str, Any]) -> dict[str, Any] | None:
    """Return the capabilities in *properties*, or None if they are too large."""
    declared = properties.get("capabilities")
    if not isinstance(declared, dict):
        return None
    return None if len(encode_json(declared)) > MAX_CAPABILITIES_BYTES else declared
