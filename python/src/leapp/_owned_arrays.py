"""NumPy arrays and numbers of the program, replaced by traced ones during a session.

So a buffer that is written inside a node becomes state like any other. When a node opens, the
objects that the calling code can reach are searched; the end of the session restores everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _source
from ._numpy import Number, kept, new_array, plain
from ._program import Program
from ._snapshot import Place

_program = Program()
#: Objects that the next opened node will use.
_expected: Sequence[Any] = ()
#: Positions of arrays and numbers, and their replacements.
_replaced: list[tuple[Place, Any]] = []
_is_on = False


def start() -> None:
    """Search the program's objects."""
    global _is_on
    _is_on = True
    _program.visit_frames()
    _replace_values()


def include(*objects: Any) -> None:
    """Register objects that the next opened node will use."""
    global _expected
    _expected = objects


def opened() -> None:
    """Search when a node opens for the first time."""
    global _expected
    expected, _expected = _expected, ()
    if not _is_on:
        return
    _program.look_again()
    _program.visit_frames()
    for value in expected:
        _program.visit(value, type(value).__name__)
    _replace_values()


def restore() -> None:
    """Restore replaced values that are still there, and numbers derived from them."""
    global _program, _is_on
    while _replaced:
        place, other = _replaced.pop()
        if (now := place.now()) is other:
            place.put(place.value)
        elif isinstance(now, Number):
            place.put(plain(now))
    _program, _is_on = Program(), False


def _replace_values() -> None:
    """Replace arrays by traced arrays, and numbers by traced numbers."""
    while _program.replaceable:
        place = _program.replaceable.pop()
        value = place.value
        if place.now() is not value:
            continue
        if isinstance(value, np.ndarray):
            other: Any = kept(value)
        elif _source.carries(place.holder.of, place.key):
            other = Number(kept(new_array(value)))
        else:
            continue
        place.put(other)
        _replaced.append((place, other))
