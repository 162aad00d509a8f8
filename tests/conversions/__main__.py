"""Converts every tool of the corpus for every API and in every way, and counts what is lost.

From the folder ``tests``: ``python -m conversions``. With ``--round-trip`` arguments go to
the model and back as well, random ones and those that were recorded. Exits with 1 if
anything is not as it must be.
"""

import argparse
import sys
from random import Random

from conversions.making import WAYS, defined, made, oracle
from conversions.round_trip import Trip
from conversions.subjects import Subject, called, subjects
from conversions.tally import tally_of
from sidecheck_server.core.convert.apis import APIS
from sidecheck_server.core.convert.words import ConversionOptions, Mode, ModelApi
from sidecheck_server.core.errors import RequestError

__all__ = ["main"]


def main() -> int:
    """Run as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(prog="conversions", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--api", action="append", choices=[str(api) for api in ModelApi])
    parser.add_argument("--way", action="append", choices=list(WAYS))
    parser.add_argument("--every", type=int, default=1, help="of so many tools only one")
    parser.add_argument("--round-trip", action="store_true", help="send arguments and back, too")
    parser.add_argument("--payloads", type=int, default=3, help="random ones for each schema")
    wanted = parser.parse_args()
    apis = [ModelApi(name) for name in wanted.api or ModelApi]
    some = subjects()[:: wanted.every]
    wrong = 0
    for api in apis:
        for way in wanted.way or WAYS:
            if WAYS[way].mode is not Mode.COMPATIBLE and APIS[api].strict is None:
                continue
            tally = tally_of(some, api, WAYS[way])
            wrong += len(tally.faults) + len(tally.broken)
            print(f"{api}, {way}: " + "\n".join(tally.lines()), flush=True)
            if wanted.round_trip:
                both = (*some, *called()[:: wanted.every])
                wrong += _sent_and_back(both, api, WAYS[way], wanted.payloads)
    return int(wrong > 0)


def _sent_and_back(
    some: tuple[Subject, ...], api: ModelApi, options: ConversionOptions, payloads: int
) -> int:
    """Print what goes wrong with arguments of *some* tools; return in how many it does."""
    wrong = looked = ambiguous = 0
    for subject in some:
        try:
            definition = defined(subject.tool)
            result = made(definition, api, options)
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
        f"  {looked:,} tools sent and back, {wrong} of them wrongly; {ambiguous} ambiguous",
        flush=True,
    )
    return wrong


if __name__ == "__main__":
    sys.exit(main())
