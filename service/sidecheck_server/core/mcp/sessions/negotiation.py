"""What the messages of a session tell about its version and the capabilities of its sides."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import msgspec

from sidecheck_server.core.mcp.context import VERSIONS, Context, Sender
from sidecheck_server.core.mcp.messages.envelopes import Kind
from sidecheck_server.core.mcp.methods import METHODS
from sidecheck_server.core.mcp.rules.errors import DEFINED_CODES
from sidecheck_server.core.mcp.rules.input_required import allows_extensions
from sidecheck_server.core.mcp.rules.negotiation import LAST_HANDSHAKE
from sidecheck_server.core.mcp.sessions.header_scan import MAX_CAPABILITIES_BYTES, HeaderScan
from sidecheck_server.core.mcp.sessions.memory import Request, SessionMessage

__all__ = ["Negotiation"]

_STATELESS_SINCE = "2026-07-28"
"""First version whose requests carry the version and the client's capabilities."""

_PROBE = "server/discover"
"""Request by which a client finds out whether the server has a version without a handshake
(2026-07-28, basic/transports/stdio, "Backward Compatibility")."""


def _only_versions() -> Mapping[str, str]:
    """Return the version of each method that only one version has."""
    versions: dict[str, set[str]] = {}
    for method in METHODS:
        held = {version for version in VERSIONS if method.holds_in(version)}
        versions.setdefault(method.name, set()).update(held)
    return MappingProxyType({name: min(held) for name, held in versions.items() if len(held) == 1})


_ONLY_VERSIONS = _only_versions()


class Negotiation:
    """Context of the next message of a session.

    It begins as *context*. Unless it is *pinned*, its version is replaced by the one that the
    messages tell.
    """

    def __init__(self, context: Context, *, pinned: bool) -> None:
        self._context = context
        self._pinned = pinned
        #: Whether the version is pinned, or a message told it.
        self._version_is_known = pinned
        #: Whether the version is pinned, or a message told or implied it.
        self.version_was_told = pinned
        #: Whether a request declared extensions (since 2026-07-28).
        self.declares_extensions = False
        #: Whether `initialize` was sent.
        self._handshake_began = False

    def request_context(self, scan: HeaderScan, sender: Sender | None) -> Context:
        """Return the context of the request or notification of *sender* with the fields *scan*.

        Since 2026-07-28 each request declares the capabilities of the client itself.
        """
        context = replace(self._context, sender=sender)
        told = self._told_version(scan)
        if scan.method == "initialize":
            # Versions without a handshake do not have this request.
            legacy = told if told and told < _STATELESS_SINCE else self._legacy_version
            return replace(context, version=legacy)
        version = told or context.version
        declares = scan.capabilities is not None or scan.capabilities_too_large
        if version >= _STATELESS_SINCE and declares:
            context = replace(context, client_capabilities=scan.capabilities)
        return replace(context, version=version)

    def response_context(self, scan: HeaderScan, request: Request, sender: Sender) -> Context:
        """Return the context of the response of *sender* to *request*."""
        version = request.version
        if request.method == "initialize":
            told = self._usable(scan.version)
            # The result of a version without a handshake does not exist.
            version = told if told and told < _STATELESS_SINCE else version
        elif request.method == _PROBE and (
            scan.error_code is not None and scan.error_code not in DEFINED_CODES
        ):
            # Any error that is not one of those tells that the server has a handshake.
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

    def observe(self, current: SessionMessage, checked_in: Context) -> None:
        """Store the version and the capabilities that the current message declares.

        *checked_in* is its context.
        """
        kind, method = current.message.kind, current.message.method
        context = self._context
        if kind is Kind.REQUEST and method == "initialize":
            self._handshake_began = True
            declared = _capabilities_of(current.params)
            context = replace(context, client_capabilities=declared, version=current.version)
        elif kind is Kind.RESULT and method in {"initialize", _PROBE}:
            declared = _capabilities_of(current.result)
            context = replace(context, server_capabilities=declared, version=current.version)
        elif current.version < _STATELESS_SINCE:
            self.version_was_told |= _ONLY_VERSIONS.get(method) == current.version
            return
        else:
            if kind is Kind.REQUEST:
                self.declares_extensions |= allows_extensions(checked_in)
            context = replace(context, version=current.version)
        if self._pinned:
            context = replace(context, version=self._context.version)
        self._context = context
        self._version_is_known = self.version_was_told = True

    @property
    def _legacy_version(self) -> str:
        """The version of the session if it has a handshake, and else the last that has one."""
        version = self._context.version
        return version if version < _STATELESS_SINCE or self._pinned else LAST_HANDSHAKE

    def _told_version(self, scan: HeaderScan) -> str:
        """Return the version that a request or notification tells, or ""."""
        told = self._usable(scan.version)
        if told:
            return told
        if not self._version_is_known:
            return _ONLY_VERSIONS.get(scan.method, "")
        if scan.method == _PROBE and not self._handshake_began:
            return _STATELESS_SINCE
        return ""

    def _usable(self, version: str) -> str:
        """Return *version* if it is known and the version is not pinned, or ""."""
        return version if version in VERSIONS and not self._pinned else ""


def _capabilities_of(properties: dict[str, Any]) -> dict[str, Any] | None:
    """Return the capabilities among *properties*, or None if they are too large to store."""
    declared = properties.get("capabilities")
    if not isinstance(declared, dict):
        return None
    return None if len(msgspec.json.encode(declared)) > MAX_CAPABILITIES_BYTES else declared
