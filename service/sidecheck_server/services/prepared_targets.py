"""Cache of prepared targets, so that requests alike resolve their target once."""

from typing import TypeAlias

from sidecheck_server.access.identity import allowed_servers
from sidecheck_server.core.errors import RequestError
from sidecheck_server.core.schemas.dialects import SchemaSource
from sidecheck_server.registry import Registry
from sidecheck_server.services.calls import CallValidator
from sidecheck_server.services.prepared_target import PreparedTarget
from sidecheck_server.services.resolution import TargetResolver
from sidecheck_server.services.schemas import CompiledSchemas
from sidecheck_server.services.targets import InlineTool, Target
from sidecheck_server.services.validation import ValidationOptions, Validator

__all__ = ["PreparedTargets"]

#: The target and the options of a request, in its encoding.
_Key: TypeAlias = tuple[bytes, bytes]

_MAX_TARGETS = 4096
_MAX_KEY_BYTES = 1024
"""The longest key that is kept."""


class PreparedTargets:
    """Cache of prepared targets, valid for one revision of the registry.

    A prepared target holds its compiled schemas. So all are dropped whenever the cache of
    these drops one: whatever is used then is prepared anew, and is the last to be dropped
    there.
    """

    def __init__(
        self,
        resolver: TargetResolver,
        validator: Validator,
        calls: CallValidator,
        registry: Registry,
        schemas: CompiledSchemas,
    ) -> None:
        self._resolver = resolver
        self._validator = validator
        self._calls = calls
        self._registry = registry
        self._schemas = schemas
        self._revision = registry.revision
        self._dropped = schemas.dropped
        #: A target may resolve for one caller and not for another, so the servers that the
        #: caller may use are part of the key.
        self._targets: dict[tuple[_Key, frozenset[str] | None], PreparedTarget] = {}
        #: How many requests had a target that was cached, and how many had none.
        self.hits = self.misses = 0

    def find(self, key: _Key) -> PreparedTarget | None:
        """Return the current caller's prepared target of *key*, or None if it is not cached."""
        revision, dropped = self._registry.revision, self._schemas.dropped
        if revision != self._revision or dropped != self._dropped:
            self._targets.clear()
            self._revision, self._dropped = revision, dropped
        prepared = self._targets.get((key, allowed_servers()))
        if prepared is None:
            self.misses += 1
        else:
            self.hits += 1
        return prepared

    def add(
        self,
        key: _Key,
        target: Target | RequestError,
        options: ValidationOptions | RequestError,
    ) -> PreparedTarget:
        """Prepare *target* and *options*, or the errors of reading them.

        Inline targets are not kept: a prepared target holds its compiled schema, and the
        memory of inline schemas is bounded by their cache.
        """
        prepared = PreparedTarget(
            target, options, self._revision, self._resolver, self._validator, self._calls
        )
        short = len(key[0]) + len(key[1]) <= _MAX_KEY_BYTES
        if short and not isinstance(target, InlineTool | SchemaSource):
            if len(self._targets) >= _MAX_TARGETS:
                del self._targets[next(iter(self._targets))]
            self._targets[key, allowed_servers()] = prepared
        return prepared

    def is_current(self, prepared: PreparedTarget) -> bool:
        """Return whether the registry is unchanged since *prepared* was made."""
        return prepared.revision == self._registry.revision
