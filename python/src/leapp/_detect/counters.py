"""Numbers of the program's that change, and that code of a node reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import ModuleType

from .. import _source
from .._snapshot import holds_numbers, size_of
from .detector import Detector, Finding


class Counters(Detector):
    """Compares numbers, and the lengths of lists, with what they were when a node first opened.

    Those that code inside the node does not read are the program's own business: statistics, say.
    """

    def findings(self, node: str) -> Iterator[Finding]:
        """Name the numbers that changed."""
        snapshot = self.watch.before.get(node)
        if snapshot is None:
            return
        for place in snapshot.places():
            before, now = snapshot.size_of(place.value), size_of(place.now())
            if now is None or type(now) is not type(before) or now == before:
                continue
            of, name = place.holder.of, place.name
            if isinstance(of, ModuleType) and place.key not in _source.rebound_variables(of):
                continue  # a loop's variable, say
            # The last name in a label like agent.counts['n'], and its keys.
            words = {_source.ANY, *re.findall(r"[A-Za-z_]\w*", name.rpartition(".")[2])}
            if not holds_numbers(place.value) or words.isdisjoint(self.watch.read_in(node, of)):
                continue  # what a list of tensors holds is looked at elsewhere
            yield Finding(
                "LP218",
                f"'{name}' went from {before} to {now} over the passes of node '{node}', and the "
                f"program reads it: what none of these passes did is not exported. Keep it in a "
                f"tensor, and choose with torch.where().",
                settled_by_another_pass=False,
            )
