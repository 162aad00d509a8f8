"""The outcomes of the matrix: `outcomes.json`, which the page of the documentation shows."""

import json
import re
import tomllib
from dataclasses import dataclass, field
from typing import Any

from support.published_servers import NODE

from matrix.cells import Cell
from matrix.clients import CLIENTS, Client
from matrix.servers import MATRIX, SERVERS, Server

__all__ = ["FILE", "Outcomes", "versions"]

FILE = MATRIX / "outcomes.json"


@dataclass
class Outcomes:
    """The number of differences in each cell: by server, client, transport and mode.

    Those of the direct session are requests without an outcome.
    """

    cells: dict[str, dict[str, dict[str, dict[str, int]]]] = field(default_factory=dict)
    #: The codes of the findings under enforcement over stdio, by server.
    codes: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def read(cls) -> "Outcomes":
        """Return the recorded outcomes; none if there are none."""
        if not FILE.exists():
            return cls()
        document = json.loads(FILE.read_text(encoding="utf-8"))
        return cls(document["cells"], document["codes"])

    def add(
        self, server: Server, client: Client, transport: str, cell: Cell, differences: list[str]
    ) -> None:
        """Record the differences of *cell*."""
        counts = {
            mode: sum(line.startswith(f"{mode}:") for line in differences) for mode in cell.outcomes
        }
        transports = self.cells.setdefault(server.name, {}).setdefault(client.name, {})
        transports[transport] = counts
        if "enforced" in cell.codes:
            codes = {*self.codes.get(server.name, ()), *cell.codes["enforced"]}
            self.codes[server.name] = sorted(codes)

    def differing(self) -> list[tuple[str, str, str, str]]:
        """Return the server, client, transport and mode of each cell with a difference."""
        return [
            (server, client, transport, mode)
            for server, clients in self.cells.items()
            for client, transports in clients.items()
            for transport, counts in transports.items()
            for mode, count in counts.items()
            if count
        ]

    def write(self) -> None:
        """Write the file, with the versions of what is installed."""
        document = {"versions": versions(), "cells": self.cells, "codes": self.codes}
        text = json.dumps(document, indent=1, ensure_ascii=False)
        FILE.write_text(f"{text}\n", encoding="utf-8")


def versions() -> dict[str, dict[str, str]]:
    """Return the locked versions of the clients and the servers, with their packages."""
    return {
        "clients": {
            client.name: _version(client.package, client.environment) for client in CLIENTS.values()
        },
        "servers": {
            server.name: _version(server.package, server.environment) for server in SERVERS.values()
        },
    }


def _version(package: str, environment: str | None) -> str:
    """Return *package* with its locked version."""
    if environment is not None:
        return f"{package} {_locked_in_python(package, environment)}"
    if package.startswith("@"):
        lock: dict[str, Any] = json.loads((NODE / "package-lock.json").read_text())
        return f"{package} {lock['packages'][f'node_modules/{package}']['version']}"
    servers = MATRIX / "servers"
    if package == "rmcp":
        crates = tomllib.loads((servers / "rust" / "Cargo.lock").read_text())["package"]
        return f"{package} {next(c['version'] for c in crates if c['name'] == package)}"
    path, pattern = {
        "github.com/modelcontextprotocol/go-sdk": ("go/go.mod", r"go-sdk v(\S+)"),
        "io.modelcontextprotocol.sdk:mcp": (
            "java/pom.xml",
            r"<artifactId>mcp</artifactId>\s*<version>([^<]+)",
        ),
    }[package]
    match = re.search(pattern, (servers / path).read_text())
    assert match, path
    return f"{package} {match[1]}"


def _locked_in_python(package: str, environment: str) -> str:
    lock = (MATRIX / "locks" / f"{environment}.lock").read_text()
    match = re.search(rf"^{re.escape(package)}(?:\[[^\]]*\])?==(\S+)", lock, re.MULTILINE)
    assert match, package
    return match[1]
