"""The page of the MCP servers and clients that were tried with the proxy, from the outcomes."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docs.generate.markdown import NOTICE, table

__all__ = ["compatibility_page"]

_OUTCOMES = Path(__file__).parents[2] / "tests" / "matrix" / "outcomes.json"

_PAGE = """\
# Compatibility

{notice}
Each client runs the same session with each server, directly and through
[`sidecheck proxy`](../guides/proxy.md), in audit and with `--enforce`: it lists tools, resources,
resource templates and prompts, calls tools (also with invalid arguments, an unknown name, and so
that they fail), reads resources, gets prompts, and pings. What the client returns to its caller, or
raises, is compared: results, errors with their texts, log messages and progress. Clients without
an operation leave it out; those of the TypeScript SDK are compared without progress, because they
drop a notification that arrives together with the response.

A cell names the modes in which every result equals that of the direct session; a session that the
last recorded run did not reach is "not run".

## Over stdio

{stdio}
## Over Streamable HTTP

The other servers speak only stdio.

{http}
## What enforcement changes

Two kinds of errors have other words with `--enforce`, and only these. A call with invalid
arguments does not reach the server: its error is Sidecheck's, with the name, the fault and the
remedy. A ping on a connection of 2026-07-28, which has none, gets the same error code, -32601, and
Sidecheck's text.

The findings with `--enforce` over stdio, where the calls with invalid arguments cause
{expected}:

{findings}
## Versions

{clients}
{servers}
FastMCP 2, FastMCP 4, Go SDK, Java SDK and Rust SDK are small servers, in `tests/matrix/servers`,
written with these SDKs; the others are published servers. A client begins with the newest version
that it knows and the server has.

`make matrix` runs all sessions in a clone, and writes the outcomes that this page shows. The tests
run a part of them that has each client and each server.
"""

#: The codes of invalid arguments of the sessions, and of a call of an unknown tool.
_EXPECTED = ("MINIMUM", "REQUIRED", "TYPE", "UNKNOWN_TOOL", "METHOD_NOT_IN_VERSION")


def compatibility_page() -> str:
    """Return the page."""
    outcomes = json.loads(_OUTCOMES.read_text(encoding="utf-8"))
    versions = outcomes["versions"]
    return _PAGE.format(
        notice=NOTICE,
        stdio=_cells(outcomes, "stdio"),
        http=_cells(outcomes, "http"),
        expected=f"{', '.join(f'`{code}`' for code in _EXPECTED[:-1])} and `{_EXPECTED[-1]}`",
        findings=table(["Server", "Other findings"], _findings(outcomes)),
        clients=table(["Client", "Package"], _packages(versions["clients"])),
        servers=table(["Server", "Package"], _packages(versions["servers"])),
    )


def _cells(outcomes: Mapping[str, Any], transport: str) -> str:
    clients = list(outcomes["versions"]["clients"])
    rows: list[list[str]] = []
    for server in outcomes["versions"]["servers"]:
        cells = outcomes["cells"].get(server, {})
        counts = [cells.get(client, {}).get(transport) for client in clients]
        if any(count is not None for count in counts):
            rows.append([server, *map(_describe, counts)])
    return table(["Server", *clients], rows)


def _describe(differences: Mapping[str, int] | None) -> str:
    """Return the modes without differences, and the number of differences in the others."""
    if differences is None:
        return "not run"
    if differences["direct"]:
        return "fails directly"
    return ", ".join(
        f"{count} differ {mode}" if count else mode
        for mode, count in differences.items()
        if mode != "direct"
    )


def _findings(outcomes: Mapping[str, Any]) -> Iterator[list[str]]:
    for server in outcomes["versions"]["servers"]:
        if server in outcomes["codes"]:
            codes = set(outcomes["codes"][server]) - set(_EXPECTED)
            yield [server, ", ".join(f"`{code}`" for code in sorted(codes)) or "none"]


def _packages(versions: Mapping[str, str]) -> Iterator[list[str]]:
    for name, package in versions.items():
        yield [name, f"`{package}`"]
