"""Assignment of distinct, reproducible names that a provider accepts."""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sidecheck_server.core.convert.types import ServerPrefix
from sidecheck_server.core.mcp.name_grammars import NameGrammar

__all__ = ["ToolName", "assign_property_names", "assign_tool_names"]

_SEPARATOR = "__"
"""Separator between the name of a server and the name of its tool."""

_TOOL, _PROPERTY = "tool_", "p"
"""Names of tools and properties without an ASCII form, before their number."""

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
    kept; characters of others are replaced by their ASCII forms, or "_". A name without an
    ASCII letter or digit becomes ``tool_1``, ``tool_2`` and so on. *grammar* must allow 34
    characters or more, among them letters, digits and "_".
    """
    prefixed = prefix is ServerPrefix.ALWAYS
    if prefix is ServerPrefix.AUTOMATIC:
        prefixed = len({tool.server for tool in tools} - {""}) > 1
    preferred = {
        tool: f"{tool.server}{_SEPARATOR}{tool.name}" if prefixed and tool.server else tool.name
        for tool in sorted(tools, key=lambda tool: (tool.server, tool.name))
    }
    names = _assign_distinct(preferred, grammar, _TOOL)
    return [names[tool] for tool in tools]


def assign_property_names(names: Iterable[str], grammar: NameGrammar) -> Mapping[str, str]:
    """Return replacements for the *names* that *grammar* does not allow.

    No replacement equals one of *names*. A name without an ASCII letter or digit becomes ``p1``,
    ``p2`` and so on, in the order of *names*. `assign_tool_names` describes *grammar*.
    """
    preferred = {ToolName("", name): name for name in names}
    assigned = _assign_distinct(preferred, grammar, _PROPERTY)
    return {key.name: name for key, name in assigned.items() if name != key.name}


def _assign_distinct(
    preferred: Mapping[ToolName, str], grammar: NameGrammar, noun: str
) -> dict[ToolName, str]:
    """Return a name for each key, as similar to the *preferred* one as possible.

    Keys without an ASCII form get *noun* and a number, in their order. Of the others, keys with
    the same candidate all go on to the next attempt, so their order does not matter.
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
    numbered = [key for key in preferred if key not in assigned and not _has_ascii_form(key.name)]
    assigned |= _number(numbered, preferred, grammar, noun, used_names)
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


def _number(
    keys: list[ToolName],
    preferred: Mapping[ToolName, str],
    grammar: NameGrammar,
    noun: str,
    used_names: set[str],
) -> dict[ToolName, str]:
    """Return a numbered name for each of *keys*, and add it to *used_names*."""
    names: dict[ToolName, str] = {}
    counts: Counter[str] = Counter()
    for key in keys:
        server = _to_ascii(preferred[key].removesuffix(key.name))
        stem = server[: grammar.longest // 2] if _has_letter(server) else ""
        while key not in names or names[key] in used_names:
            counts[stem] += 1
            names[key] = grammar.replace_invalid(f"{stem}{noun}{counts[stem]}")
        used_names.add(names[key])
    return names


def _has_ascii_form(name: str) -> bool:
    """Return whether *name* is ASCII, or its ASCII form has a letter or digit."""
    return name.isascii() or _has_letter(_to_ascii(name))


def _has_letter(text: str) -> bool:
    """Return whether *text* has an ASCII letter or digit."""
    return any(character.isascii() and character.isalnum() for character in text)


def _to_ascii(text: str) -> str:
    """Return *text* with the ASCII forms of those characters that have one."""
    return text if text.isascii() else "".join(map(_ascii_form, text))


@lru_cache(maxsize=4096)
def _ascii_form(character: str) -> str:
    """Return the base letters of *character* if they are ASCII, or else *character*.

    Marks have no form of their own: they follow their base letter.
    """
    decomposed = unicodedata.normalize("NFKD", character)
    base = "".join(part for part in decomposed if not unicodedata.category(part).startswith("M"))
    return base if base.isascii() else character


class _Candidates:
    """Candidate names for one tool or property, the most similar first."""

    def __init__(self, key: ToolName, preferred: str, grammar: NameGrammar) -> None:
        # The length keeps a server name from being read as a part of the tool name.
        qualified = f"{len(key.server)}:{key.server}{key.name}"
        self._hash = hashlib.sha256(qualified.encode("utf-8", "surrogatepass"))
        self._longest = grammar.longest
        # One more character than allowed marks the name as too long.
        self._allowed = grammar.replace_invalid(_to_ascii(preferred))[: grammar.longest + 1]

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
