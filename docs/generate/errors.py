"""The page of error reasons and codes."""

from collections.abc import Mapping
from pathlib import Path

from sidecheck_server.core import errors as errors_module
from sidecheck_server.core.errors import ErrorReason
from sidecheck_server.core.infer import diagnostics as diagnostics_module
from sidecheck_server.core.mcp.rules.catalogue import CATALOGUE
from sidecheck_server.rpc.status import STATUS_CODES

from docs.generate.codes import TABLES
from docs.generate.markdown import NOTICE, code, documented_constants, table

__all__ = ["errors_page"]

_PAGE = """\
# Errors and codes

{notice}
## Errors

No verdict was possible. The call fails with a gRPC status whose details hold a
`google.rpc.ErrorInfo`: the domain is `sidecheck`, the reason is one of these, and the metadata
contain every variable part of the message by name. In a batch or a stream only that item has an
`error`, with the same details.

For an invalid schema or tool definition, the details also have a `google.rpc.BadRequest`. Its field
violations are the faults in document order, as many as fit: `field` is a JSON Pointer
into the schema or the definition, `reason` the code. The error reports the first; metadata
`violations` is their number if there are several.

{reasons}
Where the server requires [tokens](../operations/tokens.md), a call without a valid token
fails with `UNAUTHENTICATED`, and one without the role with `PERMISSION_DENIED`, before its message
is read. `PERMISSION_DENIED` is also the error of an item that names a server that the token does
not allow.

Unexpected failures are `INTERNAL` with the reason `INTERNAL` and an `error_id` that is also in the
server's log. Retry only `UNAVAILABLE`, and `OVERLOADED` after the delay in its
`google.rpc.RetryInfo`.

## Violations

A violation has a stable `code`: for an instance that a schema rejects, the JSON Schema keyword in
upper snake case; for a broken requirement of the protocol, the code of one of the
[{rules} rules](rules.md). All others are below.

{violations}
## Diagnostics

Parts of source text that inference could not read, by `Diagnostic.code`. An error means that the
tool was not inferred.

{diagnostics}"""


def errors_page() -> str:
    """Return the page."""
    return _PAGE.format(
        notice=NOTICE,
        reasons=_reasons(),
        rules=len(CATALOGUE),
        violations="\n".join(
            f"### {title}\n\n{_codes(meanings)}" for title, meanings in TABLES.items()
        ),
        diagnostics=_codes(
            documented_constants(Path(diagnostics_module.__file__), "DiagnosticCode")
        ),
    )


def _reasons() -> str:
    documented = documented_constants(Path(errors_module.__file__), "ErrorReason")
    return table(
        ("Reason", "gRPC status", "Meaning"),
        (
            (
                code(reason.value),
                code(STATUS_CODES[reason].name),
                # The target of the `type` URL of problem details over HTTP.
                f'<a id="{reason.value}"></a>{documented[reason.name]}',
            )
            for reason in ErrorReason
        ),
    )


def _codes(meanings: Mapping[str, str]) -> str:
    return table(("Code", "Meaning"), ((code(name), meanings[name]) for name in meanings))
