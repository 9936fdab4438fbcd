"""Numbers of the program's that change, and that a node may compute with or choose by."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import _source, _trace
from .._snapshot import holds_numbers, size_of
from .watch import Finding, Watch


def findings(watch: Watch, node: str) -> Iterator[Finding]:
    """Compare numbers, and the lengths of lists, with what they were when a node first opened.

    Those that code inside the node does not read are the program's own business: statistics, say.
    """
    snapshot = watch.before.get(node)
    if snapshot is None:
        return
    once = _trace.pass_of(node) == 1
    for place in snapshot.places():
        before, now = size_of(place.value, snapshot.by_id), size_of(place.now())
        # By what they look like, for NaN is not equal to itself.
        if now is None or type(now) is not type(before) or repr(now) == repr(before):
            continue
        of, name = place.holder.of, place.name
        if not _source.may_be_rebound(of, place.key):
            continue
        # The last name in a label like agent.counts['n'], and its keys.
        words = {_source.ANY, *re.findall(r"[A-Za-z_]\w*", name.rpartition(".")[2])}
        reading = watch.reading_in(node, of)
        if holds_numbers(place.value):
            matters = not words.isdisjoint(reading.read)
        else:  # what a list of tensors holds is looked at elsewhere
            matters = not once and not words.isdisjoint(reading.chosen)
        if not matters:
            continue
        if once:
            yield Finding(
                "LP217",
                f"'{name}' was {before} when node '{node}' was opened and is {now} now. If the "
                f"node computes with it, its value is exported as a constant: keep it in a "
                f"tensor to make it state, or trace a second pass to find out.",
            )
        else:
            before, now = (str(size).removeprefix("of ") for size in (before, now))
            yield Finding(
                "LP218",
                f"'{name}' went from {before} to {now} over the passes of node '{node}', and "
                f"the program {'reads' if words.isdisjoint(reading.chosen) else 'chooses by'} "
                f"it: what none of these passes did is not exported. Keep it in a tensor, and "
                f"choose with torch.where().",
                settled_by_another_pass=False,
            )
