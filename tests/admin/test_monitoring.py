"""The dashboard and the alert rules, against the metrics of a running server.

`promql-parser` reads the expressions as Prometheus does. `promtool` also checks the rules'
templates; it is in no registry that a clone installs from.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import promql_parser
import pytest
import yaml
from conformance.certificates import make_certificates
from sidecheck_server.rpc.metric_table import METRICS
from support.metrics import MeteredServer
from support.shared_material import REPOSITORY

PROMETHEUS = REPOSITORY / "deploy" / "prometheus"
DASHBOARD = json.loads((REPOSITORY / "deploy" / "grafana" / "sidecheck.json").read_text())
RULES = yaml.safe_load((PROMETHEUS / "alerts.yaml").read_text())["groups"][0]["rules"]
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
RUNBOOK = REPOSITORY / "docs" / "operations" / "runbook.md"
RUNBOOK_URL = "https://github.com/sidecheck/sidecheck/blob/main/docs/operations/runbook.md#"
# Prometheus adds it for each target.
UP = "up"


def expressions() -> Iterator[str]:
    """Yield all expressions, with values for the variables of the dashboard."""
    yield from (rule["expr"] for rule in RULES)
    for panel in PANELS:
        for target in panel["targets"]:
            yield target["expr"].replace("$__rate_interval", "5m").replace("$instance", ".*")


def selectors(expression: str) -> Iterator[Any]:
    """Yield the selectors of *expression*."""
    yield from _walk(promql_parser.parse(expression))


def _walk(node: Any) -> Iterator[Any]:
    match node:
        case promql_parser.VectorSelector():
            yield node
        case promql_parser.MatrixSelector():
            yield node.vector_selector
        case promql_parser.BinaryExpr():
            yield from _walk(node.lhs)
            yield from _walk(node.rhs)
        case promql_parser.Call():
            for argument in node.args:
                yield from _walk(argument)
        case promql_parser.AggregateExpr() | promql_parser.ParenExpr():
            yield from _walk(node.expr)
        case promql_parser.NumberLiteral():
            pass
        case _:
            raise AssertionError(type(node))


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, set[str]]]:
    """Return the labels of the samples of a server, by their names."""
    folder = tmp_path_factory.mktemp("monitoring")
    certificates = make_certificates(folder)
    flags = ("--tls-cert", str(certificates.server), "--tls-key", str(certificates.server_key))
    server = MeteredServer(folder, *flags, SIDECHECK_GATEWAYS="ext_mcp")
    yield {
        sample.name: set(sample.labels) for family in server.families() for sample in family.samples
    }
    server.close()


@pytest.mark.parametrize("expression", sorted(set(expressions())))
def test_expressions_use_existing_metrics(expression: str, samples: dict[str, set[str]]) -> None:
    """They use existing labels too."""
    named = list(selectors(expression))

    assert named
    for selector in named:
        if selector.name == UP:
            continue
        assert selector.name in samples, selector.name
        labels = {matcher.name for matcher in selector.matchers.matchers}
        assert labels - {"instance"} <= samples[selector.name]


def test_the_dashboard_shows_every_metric() -> None:
    """It shows every metric of the server itself."""
    shown = {
        re.sub(r"_bucket$", "", selector.name)
        for panel in PANELS
        for target in panel["targets"]
        for selector in selectors(
            target["expr"].replace("$__rate_interval", "5m").replace("$instance", ".*")
        )
    }

    assert shown >= METRICS.keys()


def test_the_dashboard_can_be_imported() -> None:
    """Into any Grafana: the data source is a variable; panels have units and do not overlap."""
    variables = {variable["name"] for variable in DASHBOARD["templating"]["list"]}
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]

    assert variables == {"datasource", "instance"}
    assert len(ids) == len(set(ids))
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23
    for panel in PANELS:
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        assert {query["datasource"]["uid"] for query in (panel, *panel["targets"])} == {
            "${datasource}"
        }


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule["alert"])
def test_an_alert_has_a_severity_and_a_section_of_the_runbook(rule: Any) -> None:
    """The anchor is that of the section's heading."""
    headings = re.findall(r"^## (.+)$", RUNBOOK.read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in headings}
    url = rule["annotations"]["runbook_url"]

    assert rule["alert"].startswith("Sidecheck")
    assert rule["labels"]["severity"] in {"warning", "critical"}
    assert rule["annotations"]["summary"]
    assert url.startswith(RUNBOOK_URL)
    assert url.removeprefix(RUNBOOK_URL) in anchors


@pytest.mark.parametrize("name", ["scrape.yaml", "scrape-kubernetes.yaml"])
def test_a_scrape_configuration_names_the_rules(name: str) -> None:
    """The file of rules is beside it, and uses its job."""
    configuration = yaml.safe_load((PROMETHEUS / name).read_text())

    assert all((PROMETHEUS / name).is_file() for name in configuration["rule_files"])
    assert [job["job_name"] for job in configuration["scrape_configs"]] == ["sidecheck"]


def test_the_runbook_names_existing_metrics() -> None:
    """It has a section for every alert."""
    text = RUNBOOK.read_text()
    named = set(re.findall(r"\b(?:sidecheck|grpc_server)_[a-z_]+[a-z]\b", text))

    assert {name for name in named if name not in METRICS} == set()
    assert [rule["alert"] for rule in RULES if rule["alert"] not in text] == []
