"""Converts every tool of the corpus for every API with all options, and counts the losses.

From the folder ``tests``: ``python -m conversions``. With ``--round-trip`` arguments make a
round trip too, random ones and recorded ones. Exits with 1 if an invariant is violated.
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
    wanted = parser.parse_args()
    apis = [ModelApi(name) for name in wanted.api or ModelApi]
    some = subjects()[:: wanted.every]
    wrong = 0
    for api in apis:
        for name in wanted.options or OPTIONS:
            if OPTIONS[name].mode is not Mode.COMPATIBLE and PROVIDERS[api].strict is None:
                continue
            tally = tally_of(some, api, OPTIONS[name])
            wrong += len(tally.faults) + len(tally.broken)
            print(f"{api}, {name}: " + "\n".join(tally.lines()), flush=True)
            if wanted.round_trip:
                both = (*some, *called()[:: wanted.every])
                wrong += _check_round_trips(both, api, OPTIONS[name], wanted.payloads)
    return int(wrong > 0)


def _check_round_trips(
    some: tuple[Subject, ...], api: ModelApi, options: ConversionOptions, payloads: int
) -> int:
    """Print faults of round trips of *some* tools; return the number of tools with faults."""
    wrong = looked = ambiguous = 0
    for subject in some:
        try:
            definition = read_definition(subject.tool)
            result = convert_tool(definition, api, options)
            original = subject.tool["inputSchema"]
            trip = Trip(original, result, oracle(original))
        except RequestError:
            continue
        looked += 1
        found = list(trip.faults(list(subject.calls), Random(subject.name), payloads))
        wrong += bool(found)
        ambiguous += trip.ambiguous
        if found and wrong <= 10:
            print(f"    {subject.name} {subject.tool['name']}: {found[0]}", flush=True)
    print(
        f"  {looked:,} tools checked, {wrong} with faults; {ambiguous} ambiguous",
        flush=True,
    )
    return wrong


if __name__ == "__main__":
    sys.exit(main())
