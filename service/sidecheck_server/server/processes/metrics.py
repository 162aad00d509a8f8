"""Metrics of several processes on one page, told apart by a label."""

from collections.abc import Iterator, Mapping, Sequence

from prometheus_client import Metric
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

__all__ = ["MetricsByProcess"]


class MetricsByProcess(Collector):
    """The *metrics* of processes by their numbers, as one family for each name.

    Summed over processes, a counter would go back when one of them ends.
    """

    def __init__(self, metrics: Mapping[int, Sequence[Metric]]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, with the label `process`."""
        families: dict[str, Metric] = {}
        for number, metrics in self._metrics.items():
            for metric in metrics:
                family = families.setdefault(
                    metric.name, Metric(metric.name, metric.documentation, metric.type, metric.unit)
                )
                family.samples += [_labelled(sample, number) for sample in metric.samples]
        yield from families.values()


def _labelled(sample: Sample, number: int) -> Sample:
    return sample._replace(labels={**sample.labels, "process": str(number)})
