"""Every generated file, with its path from the root of the repository."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from click.testing import CliRunner
from sidecheck_server.cli import sidecheck

from docs.generate.api import api_page
from docs.generate.changes import changes_page
from docs.generate.clauses.page import clauses_page
from docs.generate.commands import commands_page
from docs.generate.compatibility import compatibility_page
from docs.generate.configuration import configuration_page
from docs.generate.descriptions import descriptions
from docs.generate.errors import errors_page
from docs.generate.logs import logs_page
from docs.generate.metrics import metrics_page
from docs.generate.portability import portability_page
from docs.generate.values_schema import values_schema

__all__ = ["PAGES", "REPOSITORY"]

REPOSITORY = Path(__file__).parents[2]


def rules_page() -> str:
    """Return the page of rules, as the command line prints it."""
    arguments = ["rules", "--format", "markdown"]
    return CliRunner().invoke(sidecheck, arguments, catch_exceptions=False).stdout


PAGES: Mapping[str, Callable[[], str]] = MappingProxyType(
    {
        "deploy/helm/sidecheck/values.schema.json": values_schema,
        "docs/reference/api.md": api_page,
        "docs/reference/changes.md": changes_page,
        "docs/reference/clauses.md": clauses_page,
        "docs/reference/commands.md": commands_page,
        "docs/reference/compatibility.md": compatibility_page,
        "docs/reference/configuration.md": configuration_page,
        "docs/reference/errors.md": errors_page,
        "docs/reference/logs.md": logs_page,
        "docs/reference/metrics.md": metrics_page,
        "docs/reference/portability.md": portability_page,
        "docs/reference/rules.md": rules_page,
        "service/sidecheck_server/admin/descriptions.json": descriptions,
    }
)
