"""Names of tools, and of members, that an API takes: each one's own, and the same each time."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sidecheck_server.core.convert.words import ServerPrefix
from sidecheck_server.core.mcp.name_grammars import NameGrammar

__all__ = ["Named", "member_names", "tool_names"]

_SEPARATOR = "__"
"""What stands between the name of a server and that of its tool."""

_SHORT, _LONG = 8, 32
"""Digits of hashes in names: the first one's, and those of the next if that is taken.

Names can be found that share 8 digits; nobody finds two that share 32.
"""


@dataclass(frozen=True, slots=True)
class Named:
    """A tool by the names it has."""

    server: str
    name: str


def tool_names(tools: Sequence[Named], grammar: NameGrammar, prefix: ServerPrefix) -> list[str]:
    """Return the name that each of *tools*, no two of which are equal, has in the API.

    The same tools have the same names, in whatever order they come. One whose name is
    allowed and is no other's keeps it. *grammar* allows 34 characters or more, letters,
    digits and "_" among them.
    """
    prefixed = prefix is ServerPrefix.ALWAYS
    if prefix is ServerPrefix.AUTOMATIC:
        prefixed = len({tool.server for tool in tools} - {""}) > 1
    wanted = {
        tool: f"{tool.server}{_SEPARATOR}{tool.name}" if prefixed and tool.server else tool.name
        for tool in tools
    }
    names = _distinct(wanted, grammar)
    return [names[tool] for tool in tools]


def member_names(names: Iterable[str], grammar: NameGrammar) -> Mapping[str, str]:
    """Return those of *names* that *grammar* does not allow, with the ones in their place.

    No new name is one of *names*. The grammar is as for `tool_names`.
    """
    wanted = {Named("", name): name for name in names}
    given = _distinct(wanted, grammar)
    return {each.name: name for each, name in given.items() if name != each.name}


def _distinct(wanted: Mapping[Named, str], grammar: NameGrammar) -> dict[Named, str]:
    """Return a name for each, as near to the one *wanted* as may be; no two are the same.

    All that want a name for which there is another claim go on to the next try, so their
    order does not matter. A name that is in the way of a long hash is in the way of that
    one try alone, so there are no more tries than names.
    """
    claims = Counter(wanted.values())
    taken = {name for name in claims if grammar.admits(name)}
    given = {each: name for each, name in wanted.items() if name in taken and claims[name] == 1}
    pending = {each: _Tries(each, wanted[each], grammar) for each in wanted.keys() - given.keys()}
    attempt = 0
    while pending:
        candidates = {each: tries.name(attempt) for each, tries in pending.items()}
        claims = Counter(candidates.values())
        for each, name in candidates.items():
            if len(name) <= grammar.longest and claims[name] == 1 and name not in taken:
                given[each] = name
                del pending[each]
        taken.update(given[each] for each in candidates.keys() - pending.keys())
        attempt += 1
    return given


class _Tries:
    """The names that one may have, the nearest first."""

    def __init__(self, named: Named, wanted: str, grammar: NameGrammar) -> None:
        # A server's name cannot pass for a part of its tool's, whatever is in it.
        whole = f"{len(named.server)}:{named.server}{named.name}"
        self._hash = hashlib.sha256(whole.encode("utf-8", "surrogatepass"))
        self._longest = grammar.longest
        # One character more tells that it is too long.
        self._allowed = grammar.replace_invalid(wanted)[: grammar.longest + 1]

    def name(self, attempt: int) -> str:
        if attempt == 0:
            return self._allowed
        if attempt == 1:
            return self._with(self._hash.hexdigest()[:_SHORT])
        again = self._hash.copy()
        again.update(f":{attempt}".encode())
        return self._with(again.hexdigest()[:_LONG])

    def _with(self, digits: str) -> str:
        return f"{self._allowed[: self._longest - len(digits) - 1]}_{digits}"
