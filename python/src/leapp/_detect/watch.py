"""What the detectors share: the program, snapshots of it, and values replaced in it.

When a node opens, the objects that the calling code can reach are looked through:

- NumPy arrays they hold are replaced by traced ones over the same memory, so that a buffer that
  is written inside a node becomes state like any other; so are numbers of NumPy's that a method
  reads and assigns to;
- a tensor that several places hold, as in ``[zeros] * 3``, is replaced by one of its own in each,
  over the same memory: which place a node reads it from tells what it will read there next.

Nodes that open before any has a second pass share one look, in the name of the first of them.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Sequence
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
import torch

from .. import _reading, _source, _trace
from .._numpy import Number, kept, new_array, plain
from .._program import Program
from .._snapshot import Holder, Place, Snapshot, leaves_of, way_to_compare

#: By the id of code, and how many calls of it are further in: the code, and values by names.
Running = dict[tuple[int, int], tuple[CodeType, dict[str, Any]]]


class Finding(NamedTuple):
    """Something to say of a node at the end of a session."""

    code: str
    text: str
    where: str = ""  # the line at which the node was opened, if none is given
    settled_by_another_pass: bool = True


class Watch:
    """What there was around the nodes of one session."""

    def __init__(self) -> None:
        self.program = Program()
        #: What there was when a node's first pass began, and when its second did.
        self.before: dict[str, Snapshot] = {}
        self.after: dict[str, Snapshot] = {}
        #: By node, in order: the variables of running functions when its first pass began, and when
        #: last seen.
        self.running: dict[str, tuple[Running, Running]] = {}
        #: That of the nodes that share a look.
        self._look: tuple[Running, Running] = {}, {}
        #: What there was when the session began.
        self.at_start = Snapshot([], [])
        #: The memory of tensors at the start, by their ids: `h.data = ..` gives them another.
        self._memory: dict[int, int] = {}
        #: What the next node to open will use.
        self.expected: Sequence[Any] = ()
        #: Where arrays and tensors were, and what is there instead.
        self._replaced: list[tuple[Place, Any]] = []
        self._has_begun = False

    def begin(self) -> None:
        """Look through what the program holds."""
        self._has_begun = True
        self.program.visit_frames()
        gc.collect(0)  # what was made here is due for it, and would have it in the first pass

    def rehearse(self) -> None:
        self._replace_values()
        self.at_start = self.program.snapshot()
        self._memory = {
            id(place.value): place.value.untyped_storage()._cdata
            for place in self.at_start.items()
            if type(place.value) is torch.Tensor and place.value.layout is torch.strided
        }
        self.opened("start", 1)  # last, so that the first pass finds it in the caches
        self.before.clear()
        self.running.clear()

    def restore(self) -> None:
        """Put back what was replaced, where that still is, and numbers that came of it."""
        while self._replaced:
            place, other = self._replaced.pop()
            if (now := place.now()) is other:
                place.put(place.value)
            elif isinstance(now, Number):
                place.put(plain(now))

    def opened(self, node: str, number: int) -> None:
        """Look around: in the first pass of a node, and shortly in the second."""
        expected, self.expected = self.expected, ()
        if not self._has_begun:
            return
        if number > 1:
            if node in self.before and node not in self.after:
                self.look_at_running(node)
                self.after[node] = self.program.snapshot()
            return
        if self.after:  # others are in their second pass: what was found before their first is old
            self.program = Program()
        is_first = not self.before or bool(self.after)
        if is_first:
            self._look = _trace.running(way_to_compare), {}
            self.program.look_again()
        self.running[node] = self._look
        self.program.visit_frames()
        for value in expected:
            self.program.visit(value, type(value).__name__)
        has_replaced = bool(self.program.replaceable) and self._replace_values()
        if is_first:
            self.before[node] = self.program.snapshot(as_seen=not has_replaced)

    def look_at_running(self, node: str) -> None:
        """See what variables of running functions are now."""
        self.running[node][1].update(_trace.running(way_to_compare))

    def _replace_values(self) -> bool:
        """Put traced arrays in the places of arrays, and own tensors in those of shared ones."""
        places, before = self.program.replaceable, len(self._replaced)
        while places:
            place = places.pop()
            value, other = place.value, place.now()
            if other is not value:
                continue
            if isinstance(value, np.ndarray):
                other = kept(value)
            elif isinstance(value, torch.Tensor):
                with _trace.Unobserved():
                    other = value.detach()
            elif _source.carries(place.holder.of, place.key):
                other = Number(kept(new_array(value)))
            else:
                continue
            place.put(other)
            self._replaced.append((place, other))
        return len(self._replaced) > before

    def held_now(self) -> dict[int, Place]:
        """Return the places that hold tensors, by the tensors' memory."""
        self.program.look_again()
        return {
            leaf.untyped_storage()._cdata: place
            for place in self.program.snapshot().places()
            if place.holder.of is not None or "." in place.name.partition("[")[0]
            for leaf in leaves_of(place.value)
            if isinstance(leaf, torch.Tensor)
        }

    def has_other_memory(self, value: Any) -> bool:
        """Whether a tensor has been given other memory than it had when the session began."""
        before = self._memory.get(id(value))
        return before is not None and value.untyped_storage()._cdata != before

    def trees_around(self, node: str, of: Any) -> list[ast.AST]:
        """Return the source around a node: the files it runs in, and those of an owner."""
        codes = [code for code, _ in _trace.code_in(node)]
        files = {code.co_filename for code in codes} | _source.files_of(of)
        files.update(file for code in codes for file in self.program.files_named_by(code))
        return [_source.tree_of_file(file) for file in sorted(files)]

    def reading_in(self, node: str, holder: Holder) -> _reading.Reading:
        """Return what the code inside a node reads, with what it calls around there.

        What uses an object may call methods of it that it does not name.
        """
        functions, trees = _trace.code_in(node), self.trees_around(node, holder.of)
        reading = _reading.reading_in(functions, trees)
        if not isinstance(holder.of, type) or reading.read.isdisjoint(_reading.words(holder.name)):
            return reading
        return _reading.reading_in([*functions, *_reading.unnamed_in(holder.of)], trees)
