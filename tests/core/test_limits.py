"""Limits and errors."""

import pickle
from typing import get_type_hints

import pytest
from sidecheck_server.core.errors import ErrorReason, RequestError
from sidecheck_server.core.limits import Limits, limit_exceeded_error
from sidecheck_server.core.mcp.context import DEFAULT_VERSION, VERSIONS, check_version_known
from sidecheck_server.core.types import Violation


def test_an_error_names_its_limit() -> None:
    """The metadata has it for programs, the message for people."""
    error = limit_exceeded_error("payload_bytes", 1 << 20, "the payload", 2_000_000)

    assert (
        RequestError(
            ErrorReason.LIMIT_EXCEEDED,
            "the payload: 2,000,000, more than the limit of 1,048,576 (payload_bytes)",
            {"bound": "payload_bytes", "limit": "1048576", "found": "2000000"},
        )
        == error
    )


def test_an_error_may_lack_the_exact_excess() -> None:
    """Some counts stop at the bound."""
    assert RequestError(
        ErrorReason.LIMIT_EXCEEDED,
        "too many steps: more than the limit of 5 (steps)",
        {"bound": "steps", "limit": "5"},
    ) == limit_exceeded_error("steps", 5, "too many steps")


def test_every_bound_is_positive_and_one_item_fits_into_a_message() -> None:
    """So an item that is too large is rejected alone."""
    limits = Limits()

    types = get_type_hints(Limits)
    bounds = [getattr(limits, name) for name, type_ in types.items() if type_ is not bool]
    assert all(bound > 0 for bound in bounds)
    assert limits.allow_backtracking is False
    assert limits.payload_bytes < limits.message_bytes
    assert limits.schema_bytes + limits.documents_bytes < limits.message_bytes


def test_an_error_can_be_pickled() -> None:
    """The server reports errors of workers."""
    error = RequestError(
        ErrorReason.INVALID_SCHEMA,
        "no schema",
        {"dialect": "x"},
        (Violation("/a", "", "", "TYPE", "a message"),),
    )

    unpickled = pickle.loads(pickle.dumps(error))

    assert (error, hash(error), str(error)) == (unpickled, hash(unpickled), str(unpickled))
    assert "INVALID_SCHEMA: no schema" == str(unpickled)


@pytest.mark.parametrize(
    "unequal",
    [
        pytest.param(
            RequestError(ErrorReason.INVALID_TOOL, "said", {"a": "b"}), id="another reason"
        ),
        pytest.param(
            RequestError(ErrorReason.INVALID_SCHEMA, "told", {"a": "b"}), id="another message"
        ),
        pytest.param(
            RequestError(ErrorReason.INVALID_SCHEMA, "said", {"a": "c"}), id="other metadata"
        ),
        pytest.param(
            RequestError(
                ErrorReason.INVALID_SCHEMA, "said", {"a": "b"}, (Violation("", "", "", "A", "b"),)
            ),
            id="other problems",
        ),
        pytest.param(ValueError("said"), id="another error"),
    ],
)
def test_equality_of_errors(unequal: Exception) -> None:
    """All of their fields are compared."""
    error = RequestError(ErrorReason.INVALID_SCHEMA, "said", {"a": "b"})

    assert error == RequestError(ErrorReason.INVALID_SCHEMA, "said", {"a": "b"})
    assert error != unequal


@pytest.mark.parametrize("version", ["", *VERSIONS])
def test_published_protocol_versions_are_known(version: str) -> None:
    """Without a version, the default applies."""
    check_version_known(version)

    assert DEFAULT_VERSION in VERSIONS
    assert sorted(VERSIONS) == list(VERSIONS)


@pytest.mark.parametrize("version", ["2025-11-26", " 2025-11-25", "latest", "x" * 100])
def test_other_protocol_versions_are_rejected(version: str) -> None:
    """The error has the known versions."""
    with pytest.raises(RequestError) as excinfo:
        check_version_known(version)

    assert ErrorReason.UNKNOWN_PROTOCOL_VERSION == excinfo.value.reason
    assert {
        "protocol_version": version[:40],
        "known": ", ".join(VERSIONS),
    } == excinfo.value.metadata
