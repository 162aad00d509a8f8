"""Violations of properties that a schema does not know."""

from collections.abc import Iterable, Iterator

from sidecheck_server.core.explain.keyword_messages import explain_missing
from sidecheck_server.core.repair.types import UnknownProperty
from sidecheck_server.core.types import Severity, Violation

__all__ = ["report_unknown_properties"]

_CODE = "UNKNOWN_PROPERTY"


def report_unknown_properties(
    properties: Iterable[UnknownProperty], severity: Severity, violations: Iterable[Violation]
) -> Iterator[Violation]:
    """Yield the violations of *properties*, without those that *violations* already name.

    The violation of ``required`` names the property that may be a misspelling.
    """
    missing = [violation for violation in violations if violation.keyword == "required"]
    for unknown in properties:
        if not _is_named(unknown, missing):
            yield Violation(
                instance_location=unknown.pointer,
                keyword_location=unknown.keyword_location,
                keyword="properties",
                code=_CODE,
                message=unknown.message,
                severity=severity,
                suggestion=unknown.suggestion,
            )


def _is_named(unknown: UnknownProperty, missing: Iterable[Violation]) -> bool:
    """Return whether a violation of *missing* is of the name that *unknown* stands for."""
    if not unknown.suggestion:
        return False
    location = unknown.pointer.rpartition("/")[0]
    text = explain_missing(unknown.suggestion)
    return any(
        violation.instance_location == location and violation.message.startswith(text)
        for violation in missing
    )
