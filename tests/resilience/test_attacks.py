"""Short attacks on a server: other clients are served, and memory stays bounded."""

import pytest
from resilience.scene import Attack, attack_server
from resilience.services import SERVICE_ATTACKS
from resilience.transport import TRANSPORT_ATTACKS

#: The default limits permit 400 MB of unread answers and unfinished messages.
MOST_BYTES = 600_000_000


@pytest.mark.parametrize(
    "attack", [*TRANSPORT_ATTACKS, *SERVICE_ATTACKS], ids=lambda attack: attack.name
)
def test_a_bystander_is_answered_during_an_attack(attack: Attack) -> None:
    """Every call of another client succeeds, or has a status that the attack permits.

    A call that is not answered is DEADLINE_EXCEEDED.
    """
    effect = attack_server(attack, 1.0)

    assert effect.statuses["OK"]
    assert set() == effect.statuses.keys() - attack.statuses
    assert effect.peak - effect.memory < MOST_BYTES
    assert any(effect.observations.values()), "the attack did not take place"
