"""Values of the program's that change, and that a node may compute with or choose by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .. import _reading, _source, _trace
from .._held import is_a
from .._snapshot import UNORDERED, Place, Snapshot, holds_numbers, size_of
from .watch import Finding, Watch

#: So much of a value is shown.
_MOST_SHOWN = 60


class _Change(NamedTuple):
    """A plain value, or the length of a container, that is another one now.

    Code inside the node uses it.
    """

    name: str
    before: Any
    now: Any
    is_chosen_by: bool


def findings(watch: Watch, node: str) -> Iterator[Finding]:
    """Compare what there is with what it was when a node first opened, or when the session began.

    What code inside the node does not read is the program's own business: statistics, say.
    """
    once = _trace.pass_of(node) == 1
    for change in (*_of_places(watch, node, once), *_of_variables(watch, node)):
        name, before, now = change.name, _shown(change.before), _shown(change.now)
        if once:
            yield Finding(
                "LP217",
                f"'{name}' was {before} before node '{node}' was traced and is {now} now. If the "
                f"node computes with it, its value is exported as a constant: keep it in a "
                f"tensor to make it state, or trace a second pass to find out.",
            )
        else:
            before, now = (size.removeprefix("of ") for size in (before, now))
            yield Finding(
                "LP218",
                f"'{name}' went from {before} to {now} over the passes of node '{node}', and "
                f"the program {'chooses by' if change.is_chosen_by else 'reads'} it: what none "
                f"of these passes did is not exported. Keep it in a tensor, and choose with "
                f"torch.where().",
                settled_by_another_pass=False,
            )


def _shown(size: Any) -> str:
    text = str(size)
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _has_changed(before: Any, now: Any) -> bool:
    # By what they look like, for NaN is not equal to itself.
    return now is not None and type(now) is type(before) and repr(now) != repr(before)


def _has_settled(second: Snapshot, place: Place, now: Any, is_other: bool) -> bool:
    """Whether a place held what it holds now when the second pass began.

    That pass and the first are compared; what they do alike does not depend on it.
    """
    value = second.find(place)
    return value is not None and repr(size_of(value, second.by_id, whole=is_other)) == repr(now)


def _of_places(watch: Watch, node: str, once: bool) -> Iterator[_Change]:
    """Yield what changed in the places that the program holds, if the node uses it."""
    snapshot = watch.before.get(node, Snapshot([], []))
    second = watch.after.get(node, Snapshot([], []))
    came_up = map(second.former, snapshot.new_places())
    places: Iterable[Place] = snapshot.places()
    copies = snapshot.by_id
    if once:  # what was set before the only pass is as good as what is set after it
        places, copies = map(watch.at_start.former, places), copies | watch.at_start.by_id
    for place in (*places, *came_up):
        other = place.now()
        is_other, has_length = other is not place.value, is_a(place.value, UNORDERED)
        if is_other and has_length:
            continue
        before = size_of(place.value, copies, whole=is_other)
        now = size_of(other, whole=is_other)
        if _has_changed(before, now) and not _has_settled(second, place, now, is_other):
            reading, words = _reading_of(watch, node, place)
            is_chosen_by = not words.isdisjoint(reading.chosen)
            if has_length:
                matters = not words.isdisjoint(reading.measured)
            elif holds_numbers(place.value) and holds_numbers(other):
                matters = not words.isdisjoint(reading.read)
            else:  # what a list of tensors holds is looked at elsewhere
                matters = not once and is_chosen_by
            if matters:
                yield _Change(place.name, before, now, is_chosen_by)


def _reading_of(watch: Watch, node: str, place: Place) -> tuple[_reading.Reading, set[str]]:
    """Return what the node reads where the place is, and what that is called."""
    of = place.holder.of
    if not _source.may_be_rebound(of, place.key):
        return _reading.variables_in(_trace.code_in(node), of), {place.key}
    return watch.reading_in(node, place.holder), {_reading.ANY, *_reading.words(place.name)}


def _of_variables(watch: Watch, node: str) -> Iterator[_Change]:
    """Yield what changed in the variables of functions, from one pass to the next or around it."""
    first, latest = watch.running.get(node, ({}, {}))
    for key in first.keys() & latest.keys():
        code, values = first[key]
        reading = _reading.variables_in(_trace.code_in(node), code)
        for name, before in values.items():
            now = latest[key][1].get(name)
            if name in reading.read and _has_changed(before, now):
                yield _Change(name, before, now, name in reading.chosen)
