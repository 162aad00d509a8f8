"""Rules of the protocol, for the wire."""

from sidecheck.v1 import protocol_service_pb2

from sidecheck_server.core.mcp.rules.rule import Rule
from sidecheck_server.rpc.mapping.verdicts import SEVERITIES

__all__ = ["rule_to_wire"]


def rule_to_wire(rule: Rule) -> protocol_service_pb2.Rule:
    """Return the message of a rule."""
    return protocol_service_pb2.Rule(
        code=rule.code,
        severity=SEVERITIES[rule.severity],
        protocol_versions=rule.versions,
        spec_url=rule.clause.at(rule.versions[-1]),
        requirement=rule.sentence,
        subjects=rule.subjects,
    )
