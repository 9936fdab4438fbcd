"""The plain values in the variables of the program's functions that are running at a moment.

Values only: neither a frame nor what it holds is kept, for a tensor must go when the program lets
go of it.
"""

from __future__ import annotations

import functools
import inspect
import sys
from types import CodeType, FrameType
from typing import Any

from . import _trace
from ._snapshot import plain

#: How far outwards frames are looked at, whoever's they are; the innermost are LEAPP's own.
_MOST_FRAMES = 16

#: By the id of code, and how many calls of it are further in: the code, and values by names.
Running = dict[tuple[int, int], tuple[CodeType, dict[str, Any]]]


def look() -> Running:
    """Return the plain values that the functions around the caller have in their variables."""
    found: Running = {}
    frame: FrameType | None = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        code = frame.f_code
        if _has_variables(code):
            further_in = sum(1 for known, _ in found.values() if known is code)
            found[id(code), further_in] = code, _plain_in(frame)
        frame = frame.f_back
    return found


@functools.cache
def _has_variables(code: CodeType) -> bool:
    """Whether code is a function of the program's; others have their variables elsewhere."""
    return bool(code.co_flags & inspect.CO_OPTIMIZED) and _trace.is_user_code(code)


def _plain_in(frame: FrameType) -> dict[str, Any]:
    variables = frame.f_locals
    values = {name: plain(value) for name, value in variables.items()}
    # Before Python 3.13 it is a copy that the frame keeps. The program may have it too: locals().
    if type(variables) is dict and sys.getrefcount(variables) <= 3:
        variables.clear()
    return {name: value for name, value in values.items() if value is not None}
