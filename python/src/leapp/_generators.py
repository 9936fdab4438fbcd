"""Draws of Python's and NumPy's global generators inside nodes, noticed by the generators' state.

LEAPP cannot observe these draws without replacing functions of the program, so it only compares the
states of a pass's begin and end.
"""

from __future__ import annotations

import collections
import ctypes
import random
import sys
from typing import Any

from . import _trace

_States = dict[str, object]
_at_begin: dict[str, _States] = {}
_reported: set[tuple[str, str]] = set()
#: Number of passes of each node that were looked at. More than the first ones would cost time.
_looked_at: collections.Counter[str] = collections.Counter()
_MOST = 3
#: Of NumPy's Mersenne Twister: 624 words, and the position in them.
_BYTES_OF_STATE = 4 * 625


def reset() -> None:
    """Forget the passes of an earlier session."""
    _at_begin.clear()
    _reported.clear()
    _looked_at.clear()


def begin(node: str) -> None:
    """Note the states at the begin of a pass, if it is one of the first."""
    if _looked_at[node] < _MOST:
        _at_begin[node] = _states()


def end(node: str) -> None:
    """Warn once for each generator that drew since the begin of the pass."""
    before = _at_begin.pop(node, None)
    if before is None:
        return
    _looked_at[node] += 1
    for name, state in _states().items():
        if state == before.get(name, state) or (node, name) in _reported:
            continue
        _reported.add((node, name))
        _trace.diagnose(
            "LP204",
            f"{name} drew random numbers in node '{node}'. LEAPP does not see these draws: numbers "
            f"computed from them are exported as constants. Draw with PyTorch, or pass the numbers "
            f"through annotate.input_tensors().",
            node,
        )


def _states() -> _States:
    states: _States = {"Python's random module": random.getstate()}
    # NumPy imports it on first use. A pass must not do that for the program.
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        states["numpy.random"] = _state_of(numpy_random.mtrand._rand._bit_generator)
    return states


def _state_of(generator: Any) -> bytes:
    """Return the state of NumPy's usual generator, without the array that NumPy would create.

    The session would record the creation of that array.
    """
    if type(generator).__name__ != "MT19937":
        return b""
    return ctypes.string_at(generator.ctypes.state_address, _BYTES_OF_STATE)
