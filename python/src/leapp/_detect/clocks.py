"""The time, read inside a node: after one pass it is a constant like any other."""

from __future__ import annotations

import time
from collections.abc import Iterator

from .. import _trace
from .._replacing import Patch, announced
from .watch import Finding, Watch


def patch(watch: Watch) -> Patch:
    """Return what remembers where functions of ``time`` are called."""

    def note(function: str) -> None:
        for node in _trace.open_nodes():
            watch.clocks.setdefault(node, {})[_trace.user_location(), function] = None

    return announced(time, "monotonic perf_counter process_time time time_ns", note)


def findings(watch: Watch, node: str) -> Iterator[Finding]:
    """Name what was read in the only pass of a node."""
    for where, function in watch.clocks.get(node, ()) if _trace.pass_of(node) == 1 else ():
        yield Finding(
            "LP216",
            f"time.{function}() is read while node '{node}' is open, which was traced once. "
            f"What it computes with it is exported as a constant: pass it through "
            f"annotate.input_tensors(), or trace a second pass to find out.",
            where,
        )
