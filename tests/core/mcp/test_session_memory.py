"""Memory that sessions share."""

from sidecheck_server.core.mcp.sessions.memory import BoundedStore, MemoryPool, SessionMemory

LIMIT, SESSIONS = 1_000_000, 10
VALUE = 1_000


def fill(memory: SessionMemory, size: int = 10 * LIMIT) -> int:
    """Store values of *size* bytes in all, and return how many are kept."""
    store: BoundedStore[None] = BoundedStore(size, memory)
    for number in range(size // VALUE):
        store.put(("number", number), None, VALUE)
    return len(list(store))


def test_a_session_without_a_pool_has_the_capacity_of_its_stores() -> None:
    """A library has no pool."""
    assert 10 * LIMIT // VALUE == fill(SessionMemory())


def test_all_sessions_together_stay_within_the_limit() -> None:
    """The first keeps the half that it took, and each of the others has its share."""
    pool = MemoryPool(LIMIT, SESSIONS)
    memories, message_counts = [], []
    for _ in range(SESSIONS):
        memories.append(SessionMemory(pool))
        message_counts.append(fill(memories[-1]))

    assert LIMIT // 2 < pool.bytes <= LIMIT
    assert message_counts[0] > message_counts[1] > 0
    assert 1 == len(set(message_counts[1:]))


def test_a_closed_session_returns_its_memory() -> None:
    """It does so once after several calls; later messages are not counted."""
    pool = MemoryPool(LIMIT, SESSIONS)
    first, second = SessionMemory(pool), SessionMemory(pool)
    message_count = fill(first)
    first.close()
    first.close()
    fill(first)

    assert 0 == pool.bytes
    assert message_count == fill(second)
