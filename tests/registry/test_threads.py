"""Concurrent use of the registry by several threads."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from sidecheck_server.registry import Registry
from sidecheck_server.registry.definitions import Definition


def define(name: str, content: int) -> Definition:
    return Definition(f"{name}:{content}", name, b"{}", (), f"in:{content}", None, "2025-11-25")


def test_concurrent_writers_do_not_lose_changes(registry: Registry) -> None:
    """Each concurrent transaction gets a distinct revision."""
    with ThreadPoolExecutor(4) as threads:
        results = threads.map(
            lambda i: registry.register(f"s{i % 3}", [define(f"t{i}", i)], keep=None), range(60)
        )

        assert list(range(1, 61)) == sorted(result.revision for result in results)
        assert registry.count() == 60


def test_a_reader_sees_whole_transactions(registry: Registry) -> None:
    """Bindings of one page are from one transaction while another thread rebinds them."""
    names = [f"t{i}" for i in range(20)]
    enough = Event()
    with ThreadPoolExecutor(1) as threads:
        registry.register("s", [define(name, 0) for name in names], keep=None)

        def rebind() -> int:
            content = 0
            while content < 9 or not enough.is_set():
                content += 1
                registry.register("s", [define(name, content) for name in names], keep=None)
            return content

        writing = threads.submit(rebind)
        pages: set[tuple[int, int]] = set()
        revisions: set[int] = set()
        while len(revisions) < 5 and not writing.done():
            page, _ = registry.page("s", None, 100, 1000)
            revisions.add(page[0].revision)
            pages.add((len(page), len({binding.revision for binding in page})))
        enough.set()

        assert registry.bound_to(f"t0:{writing.result()}") is not None
        assert {(20, 1)} == pages


def test_a_reader_does_not_wait_for_a_writer(registry: Registry) -> None:
    """Reads during a transaction return at once with the state before it."""
    started, go_on = Event(), Event()

    class Slow(list[Definition]):
        """Definitions that block their registration until an event is set."""

        def __iter__(self) -> Iterator[Definition]:
            started.set()
            assert go_on.wait(10)
            return super().__iter__()

    with ThreadPoolExecutor(1) as threads:
        registry.register("s", [define("a", 1)], keep=None)
        writing = threads.submit(registry.register, "s", Slow([define("a", 2)]), keep=None)
        assert started.wait(10)
        during = (registry.find("s", "a"), registry.schema("in:1"), registry.revision)
        page, more = registry.page(None, None, 10, 1000)
        preview = registry.preview("s", [define("b", 1)], keep=None)
        go_on.set()
        writing.result()

        assert (page[0], (define("a", 1), "input"), 1) == during
        assert (len(page), more, preview.revision) == (1, False, 1)
        assert registry.revision == 2
