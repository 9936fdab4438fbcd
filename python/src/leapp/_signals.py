"""Signals that wait until the compiled library is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held_back() -> Iterator[None]:
    """Call the program's signal handlers after the block instead of inside it.

    Ctrl+C raises in whatever Python runs just then. Inside compile_graph() that is a line of the
    log, which must not fail, or a trial of a model, whose failure would be held against the model.
    """
    handlers: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():  # no other one runs them
        handlers = {n: h for n in signal.valid_signals() if callable(h := signal.getsignal(n))}
    arrived: dict[int, Any] = {}
    for number in handlers:
        signal.signal(number, arrived.__setitem__)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number, frame in arrived.items():
            handlers[number](number, frame)
