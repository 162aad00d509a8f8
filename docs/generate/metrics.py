"""The page of metrics, from the table of metrics of the server."""

from collections.abc import Sequence

from sidecheck_server.rpc.metric_table import METRICS, SECTIONS, MetricFamily

from docs.generate.markdown import NOTICE, code, table

__all__ = ["metrics_page"]

_PAGE = """\
# Metrics

{notice}
The server serves metrics at `/metrics` of `admin_listen`, in the text format of Prometheus, or in
that of OpenMetrics if the request accepts it.
[Deployment](../operations/deployment.md#probes-and-metrics) describes scraping,
[the runbook](../operations/runbook.md) the alerts and remedies.

No label contains data of a request: neither names of tools and servers, nor payloads, nor
addresses. These {count} metrics are defined by the server. The Prometheus client for Python adds
`process_*`, only on Linux and without the worker processes, and `python_gc_*`.

Series with known labels begin at zero, so that rates are correct from the start. Those of codes, of
reasons other than `INTERNAL` and of statuses other than `OK` begin when they first occur, which
Prometheus does not count as an increase. There are no `_created` series.
{sections}"""


def metrics_page() -> str:
    """Return the page."""
    return _PAGE.format(
        notice=NOTICE,
        count=len(METRICS),
        sections="".join(_section(title, families) for title, families in SECTIONS.items()),
    )


def _section(title: str, families: Sequence[MetricFamily]) -> str:
    rows = ((code(family.name), family.type, family.meaning) for family in families)
    labels = {
        (label, meaning): None for family in families for label, meaning in family.labels.items()
    }
    parts = [f"\n## {title}\n", table(("Metric", "Type", "Meaning"), rows)]
    if labels:
        named = (
            (code(label), ", ".join(_users(label, meaning, families)), meaning)
            for label, meaning in labels
        )
        parts.append(table(("Label", "Metrics", "Values"), named))
    return "\n".join(parts)


def _users(label: str, meaning: str, families: Sequence[MetricFamily]) -> list[str]:
    """Return the names of *families* that have *label*, with *meaning*."""
    users = [code(family.name) for family in families if family.labels.get(label) == meaning]
    return ["all"] if len(users) == len(families) else users
