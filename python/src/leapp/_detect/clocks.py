"""The time, read inside a node: after one pass it is a constant like any other."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from .. import _trace
from .detector import Detector, Finding, Patch, before_call, wrapped
from .watch import Watch

_CLOCKS = ("monotonic", "perf_counter", "process_time", "time", "time_ns")


class Clocks(Detector):
    """Remembers where functions of ``time`` are called."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(watch)
        #: By node, (line, text) in order.
        self._read: dict[str, dict[tuple[str, str], None]] = {}

    def patches(self) -> Iterable[Patch]:
        """Replace the functions that are commonly asked."""
        yield wrapped(time, _CLOCKS, before_call(self._note))

    def _note(self, function: str) -> None:
        for node in _trace.open_nodes():
            if _trace.pass_of(node) == 1:
                place = (_trace.user_location(), f"time.{function}() is read")
                self._read.setdefault(node, {})[place] = None

    def finish(self) -> Iterator[tuple[str, Iterable[Finding]]]:
        """Name what was read in the only pass of a node."""
        for node, places in self._read.items():
            if _trace.pass_of(node) == 1:
                yield (
                    node,
                    [
                        Finding(
                            "LP216",
                            f"{what} while node '{node}' is open, which was traced once. What it "
                            f"computes with it is exported as a constant: pass it through "
                            f"annotate.input_tensors(), or trace a second pass to find out.",
                            where,
                        )
                        for where, what in places
                    ],
                )
