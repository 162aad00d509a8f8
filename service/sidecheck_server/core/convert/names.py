"""Assignment of distinct, reproducible names that a provider accepts."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sidecheck_server.core.convert.types import ServerPrefix
from sidecheck_server.core.mcp.name_grammars import NameGrammar

__all__ = ["ToolName", "assign_property_names", "assign_tool_names"]

_SEPARATOR = "__"
"""Separator between the name of a server and the name of its tool."""

_SHORT_DIGITS, _LONG_DIGITS = 8, 32
"""Hexadecimal digits of the hash in a name: at the first attempt, and at later ones.

An attacker can construct names that share 8 digits, but not names that share 32.
"""


@dataclass(frozen=True, slots=True)
class ToolName:
    """Original name of a tool, qualified by its server."""

    #: "" if the server is not known.
    server: str
    name: str


def assign_tool_names(
    tools: Sequence[ToolName], grammar: NameGrammar, prefix: ServerPrefix
) -> list[str]:
    """Return the name at the provider of each of *tools*, which must be distinct.

    The result does not depend on the order of the tools. A name that is valid and unique is
    kept. *grammar* must allow 34 characters or more, among them letters, digits and "_".
    """
    prefixed = prefix is ServerPrefix.ALWAYS
    if prefix is ServerPrefix.AUTOMATIC:
        prefixed = len({tool.server for tool in tools} - {""}) > 1
    preferred = {
        tool: f"{tool.server}{_SEPARATOR}{tool.name}" if prefixed and tool.server else tool.name
        for tool in tools
    }
    names = _assign_distinct(preferred, grammar)
    return [names[tool] for tool in tools]


def assign_property_names(names: Iterable[str], grammar: NameGrammar) -> Mapping[str, str]:
    """Return replacements for the *names* that *grammar* does not allow.

    No replacement equals one of *names*. `assign_tool_names` describes *grammar*.
    """
    preferred = {ToolName("", name): name for name in names}
    assigned = _assign_distinct(preferred, grammar)
    return {key.name: name for key, name in assigned.items() if name != key.name}


def _assign_distinct(
    preferred: Mapping[ToolName, str], grammar: NameGrammar
) -> dict[ToolName, str]:
    """Return a name for each key, as similar to the *preferred* one as possible.

    Keys with the same candidate all go on to the next attempt, so their order does not matter.
    A preferred name can collide with a long hash at one attempt only, so there are no more
    attempts than names.
    """
    distinct = len(set(preferred.values())) == len(preferred)
    if distinct and all(map(grammar.admits, preferred.values())):
        return dict(preferred)
    claims = Counter(preferred.values())
    used_names = {name for name in claims if grammar.admits(name)}
    assigned = {
        key: name for key, name in preferred.items() if name in used_names and claims[name] == 1
    }
    pending = {
        key: _Candidates(key, preferred[key], grammar) for key in preferred.keys() - assigned.keys()
    }
    attempt = 0
    while pending:
        candidates = {key: options.name(attempt) for key, options in pending.items()}
        claims = Counter(candidates.values())
        for key, name in candidates.items():
            if len(name) <= grammar.longest and claims[name] == 1 and name not in used_names:
                assigned[key] = name
                del pending[key]
        used_names.update(assigned[key] for key in candidates.keys() - pending.keys())
        attempt += 1
    return assigned


class _Candidates:
    """Candidate names for one tool or property, the most similar first."""

    def __init__(self, key: ToolName, preferred: str, grammar: NameGrammar) -> None:
        # The length keeps a server name from being read as a part of the tool name.
        qualified = f"{len(key.server)}:{key.server}{key.name}"
        self._hash = hashlib.sha256(qualified.encode("utf-8", "surrogatepass"))
        self._longest = grammar.longest
        # One more character than allowed marks the name as too long.
        self._allowed = grammar.replace_invalid(preferred)[: grammar.longest + 1]

    def name(self, attempt: int) -> str:
        if attempt == 0:
            return self._allowed
        if attempt == 1:
            return self._append_digits(self._hash.hexdigest()[:_SHORT_DIGITS])
        rehashed = self._hash.copy()
        rehashed.update(f":{attempt}".encode())
        return self._append_digits(rehashed.hexdigest()[:_LONG_DIGITS])

    def _append_digits(self, digits: str) -> str:
        return f"{self._allowed[: self._longest - len(digits) - 1]}_{digits}"
