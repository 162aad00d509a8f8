"""Attacks on the transport, in small: nobody else notices, and memory stays bounded."""

import pytest
from resilience.attacks import ATTACKS
from resilience.scene import Attack, attack_server

#: Unread answers and unfinished messages may take 400 MB by the default limits.
MOST_BYTES = 600_000_000
#: Patience of a caller on a busy machine, in milliseconds: a call that hangs has 300 s.
MOST_MILLISECONDS = 60_000


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_bystander_is_answered_during_an_attack(attack: Attack) -> None:
    """Every call of another client succeeds; none is cancelled or shed."""
    effect = attack_server(attack, 1.0)

    assert ["OK"] == list(effect.statuses)
    assert effect.milliseconds[-1] < MOST_MILLISECONDS
    assert effect.peak - effect.memory < MOST_BYTES
    assert any(effect.seen.values()), "the attack did not take place"
