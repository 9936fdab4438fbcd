"""Memory of this process, now and over a period."""

from __future__ import annotations

import contextlib
import resource
import threading
from collections.abc import Iterator


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def anonymous() -> int:
    """Return the memory that no file backs, which the kernel cannot drop."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))


@contextlib.contextmanager
def watching_memory(seen: list[int]) -> Iterator[None]:
    """Append the result of anonymous() every millisecond."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.001):
            seen.append(anonymous())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
