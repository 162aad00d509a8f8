"""Writes random schemas of one edition, subschema by subschema.

A subschema is mostly about values of one kind, and its keywords mostly agree with one
another, so that payloads can be found that it accepts.
"""

from collections.abc import Sequence
from random import Random
from typing import Any, TypeVar

from agreement import keyword_rules
from agreement.branch_rules import Rule
from agreement.editions import Edition
from agreement.known_differences import never_together
from agreement.values import INTEGERS, NAMES, NUMBERS, PATTERNS, STRINGS, any_value
from sidecheck_server.core.types import Draft

__all__ = ["Writer"]

Item = TypeVar("Item")

_KINDS = (
    *(("object",), ("object",), ("object",), ("array",), ("array",), ("number",), ("string",)),
    *(("number", "string"), ("object", "array"), ("object", "null"), ("integer",), ("boolean",)),
    *(("array", "string", "integer"), ("integer", "null"), ("string", "null"), ("boolean", "null")),
    *(("string", "boolean"), ("array", "null"), ("number", "null"), ()),
)


class Writer:
    """Writes one schema, and remembers its subschemas.

    Names and patterns are a few, so that those of a schema meet one another and those
    of its payloads.
    """

    def __init__(self, random: Random, edition: Edition, *, size: int) -> None:
        self.random = random
        self.edition = edition
        #: Every subschema that is an object, in the order of writing.
        self.nodes: list[dict[str, Any]] = []
        #: The subschemas that will get a reference.
        self.holes: list[dict[str, Any]] = []
        self.patterns = tuple(random.sample(tuple(PATTERNS), 4))
        matching = [text for pattern in self.patterns for text in PATTERNS[pattern]]
        start = random.randrange(len(NAMES) - 5)
        # Some names are neighbours in the table, which are similar; the others are random.
        self.names = tuple(
            dict.fromkeys((*NAMES[start : start + 4], *random.sample(NAMES, 3), *matching[:3]))
        )
        self._left = size
        self._deepest = random.choice((4, 4, 4, 10))
        self._unwritten: set[str] = set()
        for keywords in never_together(edition):
            self._unwritten |= set(random.choice(keywords))

    def leave_out(self, *keywords: str) -> None:
        """Write none of *keywords*."""
        self._unwritten |= set(keywords)

    def rules_of(self, kind: str) -> Sequence[Rule]:
        """Return the rules that write keywords about values of *kind*."""
        return keyword_rules.of_kind(kind, self.edition)

    def chance(self, share: float) -> bool:
        """Return true in *share* of all cases."""
        return self.random.random() < share

    def choose(self, among: Sequence[Item]) -> Item:
        """Return a random item of *among*."""
        return self.random.choice(among)

    def some_names(self, least: int, most: int) -> list[str]:
        """Return distinct names."""
        return self.random.sample(self.names, self.random.randint(least, most))

    def value(self) -> Any:
        """Return a value for ``enum``, ``const`` or an annotation."""
        if self.chance(0.1):
            # A value with the form of a schema is not a schema.
            return {"$ref": "#/nowhere", "$id": "http://[", self.choose(self.names): 1}
        return any_value(self.random, self.names, 1)

    def subschemas(self, count: int, depth: int) -> list[Any]:
        """Return that many subschemas that stand *depth* levels below the root."""
        return [self.subschema(depth) for _ in range(count)]

    def subschema(self, depth: int) -> Any:
        """Return a subschema that is *depth* levels below the root."""
        if self.chance(0.08):
            return self.boolean()
        node: dict[str, Any] = {}
        self.nodes.append(node)
        self._left -= 1
        refers = depth > 0 and self.chance(0.16)
        if refers:
            self.holes.append(node)
        if not refers or self.chance(0.35):
            self._fill(node, depth)
        return node

    def boolean(self) -> Any:
        """Return a schema that accepts everything, or, more seldom, nothing."""
        accepts = self.chance(0.7)
        if self.edition.since(Draft.DRAFT_06) and self.chance(0.8):
            return accepts
        node: dict[str, Any] = {} if accepts else {"not": {}}
        self.nodes.append(node)
        return node

    def _fill(self, node: dict[str, Any], depth: int) -> None:
        kinds = self.choose(_KINDS if depth else _KINDS[:5])
        if depth >= self._deepest or self._left <= 0:
            kinds = tuple(kind for kind in kinds if kind not in ("array", "object")) or ("string",)
        if kinds and self.chance(0.75):
            node["type"] = list(kinds) if len(kinds) > 1 or self.chance(0.1) else kinds[0]
        for kind in kinds:
            rules = self.rules_of(kind)
            for rule in self.random.sample(rules, min(len(rules), self.random.randint(1, 3))):
                self._apply(rule, node, depth)
        deeper = depth < self._deepest and self._left > 0
        for share, kind in ((0.3 * deeper, "any"), (0.1, "constant"), (0.12, "void")):
            rules = self.rules_of(kind)
            if rules and self.chance(share):
                self._apply(self.choose(rules), node, depth)
        if deeper and self.chance(0.12):
            others = self.rules_of(self.choose(("object", "array", "number")))
            self._apply(self.choose(others), node, depth)
        items = list(node.items())
        self.random.shuffle(items)
        node.clear()
        node.update(items)

    def _apply(
        self,
        rule: Rule,
        node: dict[str, Any],
        depth: int,
    ) -> None:
        keywords = rule(self, depth + 1)
        # The keywords of a rule are related: a part of them may be invalid.
        if not keywords.keys() & (node.keys() | self._unwritten):
            node.update(keywords)

    def number(self) -> Any:
        """Return a number for a bound."""
        return self.choose(NUMBERS)

    def count(self, least: int, most: int) -> Any:
        """Return a number of characters, items or properties."""
        count = self.random.randint(least, most)
        # Since draft 6 a count may be written with a fraction of zero.
        return float(count) if self.edition.since(Draft.DRAFT_06) and self.chance(0.1) else count

    def pattern(self) -> str:
        """Return a pattern."""
        return self.choose(self.patterns)

    def string(self) -> str:
        """Return a text."""
        return self.choose(STRINGS)

    def integer(self) -> int:
        """Return an integer."""
        return self.choose(INTEGERS)
