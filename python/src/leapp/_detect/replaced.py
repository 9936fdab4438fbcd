"""Tensors of the program's that were replaced, or made, around a node that has run too seldom.

A tensor that the program replaces from pass to pass is state, and the session finds that out by
itself where there are passes to compare. Here is said what they do not show yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch

from .. import _reading, _source, _trace
from .._held import is_a
from .._numpy import TracedArray, to_tensor
from .._snapshot import NUMBERS, Place, Snapshot, leaves_inside, leaves_of
from .watch import Finding, Watch


def findings(watch: Watch, node: str) -> Iterable[Finding]:
    """Compare the tensors that the program holds with those it held when a node first opened."""
    if node not in watch.before:
        return ()
    return _once(watch, node) if _trace.pass_of(node) == 1 else _unread(watch, node)


def keeps(watch: Watch, outputs: Iterable[torch.Tensor]) -> bool:
    """Whether each of these comes from something that the program replaces as it goes."""
    kept = {
        leaf.untyped_storage()._cdata
        for snapshot in watch.before.values()
        for place, before in _kept_state(snapshot)
        if _is_replaced(place)
        for leaf in map(to_tensor, before)
    }
    return all(
        any(tensor.untyped_storage()._cdata in kept for tensor in _trace.outside_of(value))
        for value in outputs
    )


def _once(watch: Watch, node: str) -> Iterator[Finding]:
    """Yield what was replaced around the only pass of a node."""
    snapshot = watch.before[node]
    for place, before in (*_kept_state(snapshot), *_made_places(watch, node, snapshot)):
        leaves = leaves_of(now := place.now())
        if before and is_a(now, NUMBERS):  # in the place of one that was followed
            leaves = [now]
        if not before and now is not place.value and _may_be_carried(place):
            before, leaves = leaves_inside(place.value), leaves_inside(now)
        known = set(map(id, before))
        new = [leaf for leaf in leaves if id(leaf) not in known or watch.has_other_memory(leaf)]
        if before:
            read = [value for value in before if _was_read(value) or watch.has_other_memory(value)]
            suspicious = not all(map(_was_declared, read))
        else:  # nothing was there yet
            new = [value for value in new if not _was_declared(value) and _is_value(value)]
            suspicious = bool(new) and _reads_what_was_left(watch, node, place)
        if new and suspicious:
            yield Finding(
                "LP219",
                f"'{place.name}' was replaced while node '{node}' was traced once. If the node "
                f"reads it in the next tick, it is state, and what it held at first is "
                f"exported as a constant: trace a second pass, or declare it with "
                f"annotate.state_tensors().",
            )


def _made_places(watch: Watch, node: str, snapshot: Snapshot) -> Iterator[tuple[Place, list[Any]]]:
    """Yield the places that came up since: those of a class, and those the program asked for."""
    for place in snapshot.new_places():
        of = place.holder.of
        if not _source.may_be_rebound(of, place.key):
            continue
        last_word = place.holder.name.rpartition(".")[2].partition("[")[0]
        container = "" if of is not None else last_word
        trees = watch.trees_around(node, of)
        asked = (_source.asks_for(tree, container, place.key) for tree in trees)
        has_default = isinstance(of, type) and hasattr(of, place.key)
        if (has_default and _may_be_carried(place)) or any(asked):
            yield place, leaves_of(place.value)


def _unread(watch: Watch, node: str) -> Iterator[Finding]:
    """Yield what the first pass left and no later one has used so far."""
    second = watch.after.get(node)
    if second is None:  # its first pass was abandoned
        return
    places = list(_kept_state(watch.before[node]))
    known = {id(value) for _, before in places for value in before}
    now = {id(value) for place, _ in places for value in leaves_of(place.now())}
    for place, before in places:
        after = leaves_of(second.find(place), second.by_id) if before else []
        kept = [value for value in after if id(value) in now and id(value) not in known]
        if any(_is_value(value) and not _was_read(value) for value in kept):
            yield Finding(
                "LP220",
                f"'{place.name}' holds a value that the first pass of node '{node}' put there "
                f"and that no later pass has read yet: if one will, as at the end of a delay, "
                f"it is state that the passes so far do not show. Trace more passes, or "
                f"declare it with annotate.state_tensors().",
            )


def forgotten(watch: Watch, node: str) -> Iterator[Finding]:
    """Name tensors that came up during the session and that a node was not given.

    That is of nodes that were traced once; passes that differ show it by themselves.
    """
    raw = _trace.raw_constants_of(node) if _trace.pass_of(node) == 1 else []
    held = watch.held_now() if raw else {}
    for tensor, where in raw:
        place = held.get(tensor.untyped_storage()._cdata)
        if place is not None and watch.at_start.former(place).value is place.value:
            continue  # made once, and kept
        what = "a tensor" if place is None else f"'{place.name}', a tensor"
        replaced = "" if place is None else "was replaced during the session and "
        yield Finding(
            "LP209",
            f"node '{node}' uses {what} of shape {list(tensor.shape)} that {replaced}is not "
            f"among its inputs: its present value is exported as a constant. If it varies, "
            f"pass it through annotate.input_tensors().",
            where,
        )


def _may_be_carried(place: Place) -> bool:
    """Whether an object has been put in the place of another, or of None that was read before.

    What a policy makes anew in each pass, such as a distribution, is None at first as well.
    """
    return place.value is not None or _source.carries(place.holder.of, place.key)


def _reads_what_was_left(watch: Watch, node: str, place: Place) -> bool:
    """Whether code inside a node may read what an earlier pass put in a place."""
    reading = watch.reading_in(node, place.holder)
    if not isinstance(place.holder.of, type):
        return not {_reading.ANY, *_reading.words(place.name)}.isdisjoint(reading.read)
    return not {_reading.ANY, place.key}.isdisjoint(reading.given)


def _is_replaced(place: Place) -> bool:
    """Whether code of the program replaces what is there, or what a container there holds."""
    of = place.holder.of
    if isinstance(of, type) and isinstance(place.value, (torch.Tensor, np.ndarray)):
        return _source.carries(of, place.key)
    return _source.may_be_rebound(of, place.key)


def _kept_state(snapshot: Snapshot) -> Iterator[tuple[Place, list[Any]]]:
    """Yield the places that may hold state, with the tensors and arrays they held."""
    for place in snapshot.places():
        is_number = issubclass(type(place.value), NUMBERS)
        if not is_number or _source.may_be_rebound(place.holder.of, place.key):
            yield place, leaves_of(place.value, snapshot.by_id)


def _was_declared(value: Any) -> bool:
    """Whether an annotation named a tensor or array in the first pass."""
    tensor = getattr(value, "_tensor", None) if isinstance(value, np.ndarray) else value
    return tensor is not None and _trace.was_declared(tensor)


def _is_value(value: Any) -> bool:
    """Whether a tensor or array was computed by a node, or went into one."""
    if not isinstance(value, (torch.Tensor, TracedArray)):
        return False
    tensor = to_tensor(value)
    return _trace.is_traced(tensor) or _trace.was_input(tensor)


def _was_read(value: Any) -> bool:
    """Whether a node read a tensor or array that was there before it."""
    if isinstance(value, torch.Tensor):
        # A counter may be read as a number, as by tensor[counter], which no operator shows.
        counts = value.numel() == 1 and not value.is_floating_point()
        return counts or _trace.was_read(value)
    return isinstance(value, np.ndarray)
