"""Pages of lists: cursors that the server gave, and pages that may be kept as widely."""

from sidecheck_server.core.mcp.messages import Kind
from sidecheck_server.core.mcp.rules.rule import Fault
from sidecheck_server.core.mcp.rules.sessions import CURSOR_UNKNOWN, PAGE_CACHE_SCOPE
from sidecheck_server.core.mcp.sessions.memory import BoundedStore, Key, Seen, Tell, key_of

__all__ = ["Pages"]

_MOST = 10_000
_SCOPES = frozenset({"public", "private"})
_LISTS = frozenset(
    {"tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list"}
)


class Pages:
    """The cursors that were given, and for each the scope of the page that gave it."""

    def __init__(self) -> None:
        self._given: BoundedStore[object] = BoundedStore(_MOST)
        #: For each request of a page that has no answer yet, the cursor that it sent.
        self._asked: BoundedStore[Key] = BoundedStore(_MOST)

    def see(self, seen: Seen, tell: Tell) -> None:
        """Remember a cursor that is given, and hold one that is used against those."""
        method = seen.message.method
        if method not in _LISTS:
            return
        if seen.message.kind is Kind.REQUEST:
            cursor = seen.params.get("cursor")
            if not isinstance(cursor, str):
                return
            key = _key(method, cursor)
            if key not in self._given and not self._given.forgot:
                said = f"the server gave no such cursor in an answer to {method}"
                tell(CURSOR_UNKNOWN, Fault(("params", "cursor"), said))
            self._asked.put(_sent(seen), key)
        elif seen.message.kind is Kind.RESULT:
            self._page(seen, method, tell)

    def _page(self, seen: Seen, method: str, tell: Tell) -> None:
        scope = seen.result.get("cacheScope")
        used = self._asked.pop(_sent(seen))
        before = None if used is None else self._given.get(used)
        if isinstance(before, str) and isinstance(scope, str) and scope != before:
            said = f"the page before this one has the cacheScope {before[:16]!r}"
            tell(PAGE_CACHE_SCOPE, Fault(("result", "cacheScope"), said))
        cursor = seen.result.get("nextCursor")
        if isinstance(cursor, str):
            # It may have any JSON form, also one that cannot be looked up in a set.
            kept = scope if isinstance(scope, str) and scope in _SCOPES else None
            self._given.put(_key(method, cursor), kept)


def _key(method: str, cursor: str) -> Key:
    return (method, key_of(cursor))


def _sent(seen: Seen) -> Key:
    return ("sent", seen.key)
