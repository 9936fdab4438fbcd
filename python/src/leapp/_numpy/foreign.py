"""Arrays and numbers of NumPy that enter a node from code that LEAPP does not see.

Compiled code reads and writes the memory of arrays directly: SciPy, OpenCV, MuJoCo, and NumPy for
a list of arrays or an assignment to one. What it computes from traced values would become a
constant without notice. Therefore, when a first or second pass first exposes a traced array, the
arrays that the program holds are noted, with checksums. An array that the node uses afterwards
must be one of them and unchanged, or made by a recorded call. All others are reported (``LP223``,
``LP224``); compile_graph() refuses those that reach an output and may vary.
"""

from __future__ import annotations

import sys
from types import CodeType, NoneType
from typing import Any

import numpy as np
import torch

from .. import _trace
from .._numbers import is_literal_of
from ..errors import describe_line
from .memory import is_followed

#: True in a first or second pass that has not exposed a traced array yet.
_pending = False
_held: _trace.HeldArrays | None = None
#: The code and line of the program at which the last traced value became an array.
_left: tuple[CodeType, int] | None = None
#: An array of the program that the pass used, and the tensor over it.
_Used = tuple[np.ndarray[Any, Any], torch.Tensor]
_used: list[_Used] = []
#: By the address of its memory: a new array of constants before its first use, and its content.
_unused: dict[int, tuple[torch.Tensor, bytes]] = {}


#: Types of Python's values that contain no memory of compiled code.
_OF_PYTHON = (bool, int, float, complex, str, bytes, range, NoneType)


def opened() -> None:
    """Begin a first or second pass of a node while no other node is open."""
    global _pending
    _end()
    _pending = True


def closing(alone: bool) -> tuple[_trace.HeldArrays | None, list[_Used], str]:
    """End a first or second pass of a node; `alone`: no other node is open.

    Returns the arrays that the program held, those of them that the pass used, and the line at
    which a traced value became an array.
    """
    found = _held, list(_used), _left_at()
    if alone:
        _end()
    return found


def _end() -> None:
    global _pending, _held, _left
    _pending, _held, _left = False, None, None
    _used.clear()
    _unused.clear()


def exposed(tensor: torch.Tensor | None) -> None:
    """Note that code which LEAPP does not see may now read this tensor's memory."""
    global _pending, _held, _left
    if not _pending and _held is None:
        return
    if tensor is not None and not _trace.is_traced(tensor):
        return
    if frame := _frame_of_program():
        _left = frame.f_code, frame.f_lineno
    if _pending:
        _pending, _held = False, _trace.HeldArrays()


def check(value: Any, tensor: torch.Tensor) -> None:
    """Report a value that the session does not follow and that a node uses as `tensor`.

    Does nothing for Python's numbers, and if the program held the array or NumPy number before
    anything could be computed from traced values. Other objects expose the memory of compiled code.
    """
    if _held is None or _trace.in_operator() or _trace.is_traced(tensor):
        return
    if isinstance(value, np.ndarray):
        if is_followed(value):
            return
        verdict = _held.verdict_on(value)
        if verdict == "held":
            _used.append((value, tensor))
            return
        _trace.note_foreign(tensor, verdict == "changed", _left_at())
    elif isinstance(value, np.generic):
        frame = _frame_of_program()
        is_literal = frame is not None and is_literal_of(frame.f_code, frame.f_lasti, value)
        if not is_literal and not _held.holds_number(value):
            _trace.note_foreign(tensor, False, _left_at())
    elif type(value) not in _OF_PYTHON:
        _trace.note_foreign(tensor, False, _left_at())


def written(tensor: torch.Tensor) -> None:
    """Report that the node writes to an array of the program, of which `tensor` is the memory."""
    _trace.note_foreign(tensor, True, _left_at())


def made(tensor: torch.Tensor, array: np.ndarray[Any, Any]) -> None:
    """Note a new array of constants, to notice if unseen code fills it."""
    if _pending or _held is not None:
        _unused[torch._C.TensorBase.data_ptr(tensor)] = tensor, array.tobytes()


def check_first_use(tensor: torch.Tensor) -> None:
    """Report a new array of constants if unseen code has written to it before its first use."""
    if not _unused:
        return
    address = torch._C.TensorBase.untyped_storage(tensor).data_ptr()
    array, content = _unused.pop(address, (None, b""))
    if array is None:
        return
    with _trace.Unobserved():
        now = torch._C.TensorBase.numpy(array).tobytes()
    if now != content:
        _trace.note_foreign(array, False, _left_at())


def _frame_of_program() -> Any:
    frame: Any = sys._getframe(1)
    while frame is not None and not _trace.is_user_code(frame.f_code):
        frame = frame.f_back
    return frame


def _left_at() -> str:
    """Return the line at which the last traced value became an array, or ``""``."""
    return describe_line(*_left) if _left else ""
