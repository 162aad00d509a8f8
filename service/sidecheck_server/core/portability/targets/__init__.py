"""Facts by target: model APIs, clients and SDKs, and directories."""

from collections.abc import Mapping
from types import MappingProxyType

from sidecheck_server.core.portability.facts import Fact
from sidecheck_server.core.portability.targets import clients, directories, model_apis

__all__ = ["FACTS", "REQUIREMENTS"]

FACTS: tuple[Fact, ...] = (*model_apis.FACTS, *clients.FACTS, *directories.FACTS)
"""Every fact about tools, the facts of one target together."""

REQUIREMENTS: Mapping[str, str] = MappingProxyType(
    {fact.hazard.code: fact.hazard.requirement for fact in FACTS}
)
"""Requirement of each hazard, by its code."""
