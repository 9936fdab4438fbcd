"""The time, read inside a node: after one pass it is a constant like any other."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from .. import _trace
from .._replacing import Patch, announced
from .detector import Detector, Finding
from .watch import Watch


class Clocks(Detector):
    """Remembers where functions of ``time`` are called."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(watch)
        #: By node, (line, function) in order.
        self._read: dict[str, dict[tuple[str, str], None]] = {}

    def patches(self) -> Iterable[Patch]:
        yield announced(time, "monotonic perf_counter process_time time time_ns", self._note)

    def _note(self, function: str) -> None:
        for node in _trace.open_nodes():
            self._read.setdefault(node, {})[_trace.user_location(), function] = None

    def findings(self, node: str) -> Iterator[Finding]:
        for where, function in self._read.get(node, ()) if _trace.pass_of(node) == 1 else ():
            yield Finding(
                "LP216",
                f"time.{function}() is read while node '{node}' is open, which was traced once. "
                f"What it computes with it is exported as a constant: pass it through "
                f"annotate.input_tensors(), or trace a second pass to find out.",
                where,
            )
