"""Arrays and numbers of NumPy that the program holds, replaced by traced ones in a session.

So a buffer that is written inside a node becomes state like any other. When a node opens, what the
calling code can reach is looked through; the session puts everything back when it ends.
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
#: What the next node to open will use.
_expected: Sequence[Any] = ()
#: Where arrays and numbers were, and what is there instead.
_replaced: list[tuple[Place, Any]] = []
_is_on = False


def start() -> None:
    """Look through what the program holds."""
    global _is_on
    _is_on = True
    _program.visit_frames()
    _replace_values()


def include(*objects: Any) -> None:
    """Say that the next node to open will use these."""
    global _expected
    _expected = objects


def opened() -> None:
    """Look around: a node opens for the first time."""
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
    """Put back what was replaced, where that still is, and numbers that came of it."""
    global _program, _is_on
    while _replaced:
        place, other = _replaced.pop()
        if (now := place.now()) is other:
            place.put(place.value)
        elif isinstance(now, Number):
            place.put(plain(now))
    _program, _is_on = Program(), False


def _replace_values() -> None:
    """Put traced arrays in the places of arrays, and traced numbers in those of numbers."""
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
