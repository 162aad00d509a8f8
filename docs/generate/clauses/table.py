"""The clauses of the specification, each with its rules or the reason why it has none."""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

__all__ = ["REASONS", "Assessment", "Clause", "assessments", "clauses"]

_HERE = Path(__file__).parent

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "behaviour": "is about the behaviour or display of an implementation, not its messages",
        "transport": "concerns HTTP, streams or bytes around the messages",
        "knowledge": "depends on facts that are in no message",
        "absence": "demands a message at some time, and its absence proves nothing",
        "permission": "explains or permits, or restates what another clause demands",
    }
)
"""Reasons why messages cannot show that a clause is broken, by name."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of the specification."""

    digest: str
    #: MUST or SHOULD.
    level: str
    #: Version, page and anchor of each occurrence; oldest version first.
    places: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Assessment:
    """The requirement of a clause, and the rules that check it."""

    #: The requirement in one sentence.
    says: str
    #: Codes of the rules that report a breach.
    rules: tuple[str, ...] = ()
    #: Otherwise a name of `REASONS`.
    reason: str = ""
    #: Explanation of the reason, or "".
    because: str = ""
    #: Otherwise the breach that a missing rule would have to report.
    gap: str = ""


@cache
def clauses() -> Mapping[str, Clause]:
    """Return all clauses by digest, in the order of the pages."""
    entries = json.loads((_HERE / "list.json").read_text("utf-8"))
    return MappingProxyType(
        {
            digest: Clause(digest, entry["level"], tuple(map(tuple, entry["places"])))
            for digest, entry in entries.items()
        }
    )


@cache
def assessments() -> Mapping[str, Assessment]:
    """Return the assessments by the digest of their clause.

    Raises:
        ValueError: two files assess the same clause.
    """
    by_digest: dict[str, Assessment] = {}
    for path in sorted(_HERE.glob("assessments/*.toml")):
        for digest, fields in tomllib.loads(path.read_text("utf-8")).items():
            if digest in by_digest:
                raise ValueError(f"{path.name}: {digest} is assessed twice")
            by_digest[digest] = Assessment(**{**fields, "rules": tuple(fields.get("rules", ()))})
    return MappingProxyType(by_digest)
