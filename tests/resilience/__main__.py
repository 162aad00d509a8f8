"""Measures the effect of each attack; runs in the folder ``tests``.

``python -m resilience --table`` runs every attack in full against a real server of its own,
while another client makes a small call every 10 ms. It prints the latencies of that client and
the memory of the server. ``--seconds`` is the duration of an attack, ``--attack`` selects one.
"""

import argparse
from collections.abc import Mapping

from resilience.scene import Attack, Effect, attack_server
from resilience.services import SERVICE_ATTACKS
from resilience.transport import TRANSPORT_ATTACKS

__all__ = ["main"]

_ATTACKS = (*TRANSPORT_ATTACKS, *SERVICE_ATTACKS)

_HEAD = (
    "| attack | calls of the bystander | p50 ms | p99 ms | max ms | memory MB, before and peak "
    "| the attacker saw |\n| --- | --- | ---: | ---: | ---: | --- | --- |"
)


def main() -> None:
    """Run as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true", help="run the attacks and print a table")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--attack", action="append", choices=[attack.name for attack in _ATTACKS])
    options = parser.parse_args()
    if not options.table:
        parser.print_help()
        return
    print(_HEAD, flush=True)
    for attack in _ATTACKS:
        if not options.attack or attack.name in options.attack:
            print(_row(attack, attack_server(attack, options.seconds)), flush=True)


def _row(attack: Attack, effect: Effect) -> str:
    times = " | ".join(f"{effect.percentile(share):.1f}" for share in (0.5, 0.99, 1.0))
    memory = f"{effect.memory / 1e6:.0f}, {effect.peak / 1e6:.0f}"
    cells = (attack.name, _list(effect.statuses), times, memory, _list(effect.observations))
    return f"| {' | '.join(cells)} |"


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items()) or "nothing"


if __name__ == "__main__":
    main()
