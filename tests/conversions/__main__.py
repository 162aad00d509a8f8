"""Convert every tool of the corpus for every API with all options, and count the losses.

Run ``python -m conversions`` in the folder ``tests``. With ``--round-trip``, random and recorded
arguments are converted and decoded too. Exits with 1 if an invariant is violated.
"""

import argparse
import sys
from random import Random

from conversions.converting_tools import OPTIONS, convert_tool, oracle, read_definition
from conversions.round_trip import Trip
from conversions.subjects import Subject, called, subjects
from conversions.tally import tally_of
from sidecheck_server.core.convert.providers import PROVIDERS
from sidecheck_server.core.convert.types import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.errors import RequestError

__all__ = ["main"]


def main() -> int:
    """Run the command line and return the exit status."""
    parser = argparse.ArgumentParser(prog="conversions", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--api", action="append", choices=[str(api) for api in ModelApi])
    parser.add_argument("--options", action="append", choices=list(OPTIONS))
    parser.add_argument("--every", type=int, default=1, help="convert every n-th tool only")
    parser.add_argument("--round-trip", action="store_true", help="check round trips of arguments")
    parser.add_argument("--payloads", type=int, default=3, help="random arguments for each schema")
    arguments = parser.parse_args()
    apis = [ModelApi(name) for name in arguments.api or ModelApi]
    sampled = subjects()[:: arguments.every]
    failures = 0
    for api in apis:
        for name in arguments.options or OPTIONS:
            if OPTIONS[name].mode is not Mode.COMPATIBLE and PROVIDERS[api].strict is None:
                continue
            tally = tally_of(sampled, api, OPTIONS[name])
            failures += len(tally.faults) + len(tally.broken)
            print(f"{api}, {name}: " + "\n".join(tally.lines()), flush=True)
            if arguments.round_trip:
                with_calls = (*sampled, *called()[:: arguments.every])
                failures += _check_round_trips(with_calls, api, OPTIONS[name], arguments.payloads)
    return int(failures > 0)


def _check_round_trips(
    sampled: tuple[Subject, ...], api: ModelApi, options: ConversionOptions, payloads: int
) -> int:
    """Print faults of round trips of *sampled* tools; return the number of tools with faults."""
    failures = checked = ambiguous = 0
    for subject in sampled:
        try:
            definition = read_definition(subject.tool)
            result = convert_tool(definition, api, options)
            original = subject.tool["inputSchema"]
            trip = Trip(original, result, oracle(original))
        except RequestError:
            continue
        checked += 1
        violations = list(trip.faults(list(subject.calls), Random(subject.name), payloads))
        failures += bool(violations)
        ambiguous += trip.ambiguous
        if violations and failures <= 10:
            print(f"    {subject.name} {subject.tool['name']}: {violations[0]}", flush=True)
    print(
        f"  {checked:,} tools checked, {failures} with faults; {ambiguous} ambiguous",
        flush=True,
    )
    return failures


if __name__ == "__main__":
    sys.exit(main())
