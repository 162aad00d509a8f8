"""Metrics of a running server, read as Prometheus reads them."""

import time
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from support.running import IS_ENVOY, RunningServer

__all__ = ["MeteredServer", "Series", "nonzero"]

#: Values by the values of the labels, in the order of the labels' names.
Series: TypeAlias = Mapping[tuple[str, ...], float]

_WAIT_SECONDS = 120.0


class MeteredServer(RunningServer):
    """A server with an admin address."""

    def __init__(self, folder: Path, *flags: str, **environment: str) -> None:
        super().__init__(folder, *flags, SIDECHECK_ADMIN_LISTEN="127.0.0.1:0", **environment)
        ready = next(event for event in self.events if event["event"] == "admin.ready")
        self.admin_url: str = ready["address"]

    def scrape(self) -> str:
        """Return the page of metrics."""
        with urllib.request.urlopen(f"{self.admin_url}/metrics", timeout=60) as response:
            text: str = response.read().decode()
        return text

    def families(self) -> list[Metric]:
        """Return the page of metrics, parsed."""
        return list(text_string_to_metric_families(self.scrape()))

    def series(self, name: str) -> dict[tuple[str, ...], float]:
        """Return the samples of the name *name*; with Envoy, their sums over the processes."""
        series: dict[tuple[str, ...], float] = {}
        for family in self.families():
            for sample in family.samples:
                if sample.name == name:
                    names = sorted(sample.labels.keys() - ({"process"} if IS_ENVOY else set()))
                    labels = tuple(sample.labels[label] for label in names)
                    series[labels] = series.get(labels, 0.0) + sample.value
        return series

    def series_when(self, name: str, is_met: Callable[[Series], bool]) -> Series:
        """Return the samples of *name* as soon as *is_met* is true of them."""
        ends = time.monotonic() + _WAIT_SECONDS
        while not is_met(series := self.series(name)):
            assert time.monotonic() < ends, f"{name} stays {series}"
            time.sleep(0.05)
        return series


def nonzero(series: Series) -> Series:
    """Return the samples of *series* that are not 0."""
    return {labels: value for labels, value in series.items() if value}
