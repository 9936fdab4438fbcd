"""The time, read inside a node: after one pass it is a constant like any other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from .. import _reading, _trace
from .._replacing import Patch, in_node, replaced
from .watch import Finding, Watch

_CLOCKS = (
    "monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns time time_ns"
)


#: By node, (line, function) of clocks that were read, in order.
_read: dict[str, dict[tuple[str, str], None]] = {}


def patch() -> Patch:
    """Return what remembers where functions of ``time`` are called."""
    return replaced(time, _CLOCKS, _noting)


def _noting(original: Any, *args: Any) -> Any:
    for node in _trace.open_nodes() if in_node() else ():
        _read.setdefault(node, {})[_trace.user_location(), original.__name__] = None
    return original(*args)


def forget() -> None:
    """Forget what was read in the former session."""
    _read.clear()


def findings(watch: Watch, node: str) -> Iterator[Finding]:
    """Name what was read in the only pass of a node, and what the program chooses by in any."""
    once = _trace.pass_of(node) == 1
    read = _read.get(node, {})
    if read and not once:
        chosen = _reading.reading_in(_trace.code_in(node), watch.trees_around(node, "")).chosen
        read = {clock: None for clock in read if clock[1] in chosen}
    for where, function in read:
        yield Finding(
            "LP216",
            f"time.{function}() is read while node '{node}' is open, which was traced once. "
            f"What it computes with it is exported as a constant: pass it through "
            f"annotate.input_tensors(), or trace a second pass to find out."
            if once
            else f"time.{function}() is read while node '{node}' is open, and the program chooses "
            f"by it: what none of its passes did is not exported. Pass it through "
            f"annotate.input_tensors(), and choose with torch.where().",
            where,
            settled_by_another_pass=once,
        )
