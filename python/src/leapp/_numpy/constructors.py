"""What makes arrays and tensors while a session is tracing: of traced values, traced ones.

NumPy's constructors are given what traced lists and tensors hold, put together by PyTorch; the
constants that they make inside a node lie in memory that the node knows as its own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from .. import _detect, _trace
from .._replacing import Patch, replaced
from .arrays import (
    Number,
    TracedArray,
    attached,
    fresh,
    is_traced,
    note_escape,
    plain,
    to_tensor,
    traced_view,
)
from .lists import LISTS, holds_traced, leaves, may_hold_traced
from .memory import from_numpy

#: The order of elements in memory that a constructor stands for.
_ORDERS = {"ascontiguousarray": "C", "asfortranarray": "F"}


def patches() -> Iterator[Patch]:
    yield replaced(np, "array asarray asanyarray", _array_constructor)
    yield replaced(np, " ".join(_ORDERS), _array_constructor)
    yield replaced(np, "asarray_chkfinite frombuffer nditer require", _reader)
    yield replaced(np, "zeros ones empty eye identity arange linspace", _constant_constructor)
    yield replaced(np, "full", _full_constructor)
    yield replaced(np, "from_dlpack", _from_dlpack)
    yield replaced(torch, "tensor as_tensor", _tensor_constructor)
    yield replaced(torch, "from_numpy", _from_numpy)


def _array_constructor(original: Any, *args: Any, **options: Any) -> Any:
    """Call NumPy's ``array`` or a relative of it; traced values stay traced."""
    if not args or type(args[0]) is np.ndarray:
        return original(*args, **options)
    data = args[0]
    if not may_hold_traced(data):
        made = original(*args, **options)
        # What has an __array__ or __array_interface__ may lend traced memory.
        lent = type(made) is np.ndarray and not made.flags.owndata and is_traced(made)
        return attached(made, None) if lent else fresh(made)
    if isinstance(data, LISTS):
        return _array_of(data, original(_numbers(data), *args[1:], **options))
    if isinstance(data, Number):
        data = data._array
    if isinstance(data, torch.Tensor):
        if not _trace.any_open() and not is_traced(data):
            return original(*args, **options)
        data = data.numpy()
    dtype = args[1] if len(args) > 1 else options.get("dtype")
    result = data if dtype is None else data.astype(dtype, copy=False)
    order = _ORDERS.get(original.__name__) or (args[2] if len(args) > 2 else options.get("order"))
    copies = options.get("copy", original.__name__ == "array")
    laid_out = order not in ("C", "F") or result.flags[f"{order}_CONTIGUOUS"]
    if not laid_out or (result is data and copies in (True, np._CopyMode.ALWAYS)):
        result = result.copy(order=order or "K")
    while result.ndim < options.get("ndmin", int(original.__name__ in _ORDERS)):
        result = result[None]
    return result


def _reader(original: Any, data: Any, /, *args: Any, **options: Any) -> Any:
    """Call what reads memory by itself; traced values that it reads are named."""
    for value in leaves(data):
        if isinstance(value, (TracedArray, Number)):
            note_escape(value, f"np.{original.__name__}")
    return original(data, *args, **options)


def _array_of(data: Sequence[Any], made: np.ndarray[Any, Any]) -> Any:
    """Return the array NumPy made of a list, put together out of the traced values in it."""
    if not _trace.any_open() and not holds_traced(data):
        return made
    try:
        stacked = _stacked(data, from_numpy(made))
    except TypeError:  # a type that PyTorch does not have
        stacked = None
    if stacked is not None:
        return traced_view(stacked)
    for value in leaves(data):
        if is_traced(value):
            note_escape(value, "An array made of a list")
            return made
    return fresh(made)


def _constant_constructor(original: Any, *args: Any, **options: Any) -> Any:
    made = original(*args, **options)
    # What linspace() returns is a view of memory that nobody else has.
    is_view = type(made) is np.ndarray and not made.flags.owndata
    return fresh(made.copy() if is_view else made)


def _full_constructor(
    original: Any, shape: Any, fill_value: Any, dtype: Any = None, **options: Any
) -> Any:
    if not isinstance(fill_value, (TracedArray, Number)) and not is_traced(fill_value):
        return fresh(original(shape, fill_value, dtype, **options))
    result = np.empty(shape, fill_value.dtype if dtype is None else dtype, **options)
    result[...] = fill_value
    return result


def _tensor_constructor(original: Any, *args: Any, **options: Any) -> Any:
    """Call ``torch.tensor`` or ``torch.as_tensor``; traced values in lists stay traced."""
    data = args[0] if args else options.get("data")
    if _trace.any_open() and isinstance(data, (np.ndarray, np.generic)):
        _detect.drawn()
    if isinstance(data, (TracedArray, Number)):
        made = to_tensor(data).to(dtype=options.get("dtype"), device=options.get("device"))
        if original.__name__ == "as_tensor":
            return made
        made = made.detach().clone()
        return made.requires_grad_() if options.get("requires_grad") else made
    if not isinstance(data, LISTS) or not may_hold_traced(data):
        made = original(*args, **options)
        if isinstance(data, np.ndarray) and not _trace.any_open():
            _trace.note_made(made)
        return made
    # Elements of arrays may be state that is in its first pass.
    elements = any(isinstance(leaf, (TracedArray, Number)) for leaf in leaves(data))
    if not elements and not holds_traced(data):
        return original(*args, **options)
    with _trace.Unobserved():  # raises what it would raise without LEAPP
        options.pop("data", None)
        made = original(_numbers(data), *args[1:], **options)
    stacked = _stacked(data, made)
    if stacked is None:
        return original(data, *args[1:], **options)  # reads numbers, each with its warning
    stacked = stacked.to(made.device)
    return stacked.requires_grad_() if options.get("requires_grad") else stacked


def _from_numpy(original: Any, array: Any) -> Any:
    if _trace.any_open():
        _detect.drawn()
        if isinstance(array, TracedArray) and min(array.strides, default=0) >= 0:
            return to_tensor(array).detach()  # which the recorder sees being made
        return original(array)
    made = original(array)
    _trace.note_made(made)
    return made


def _from_dlpack(original: Any, given: Any, /, **options: Any) -> Any:
    array = original(given, **options)
    if isinstance(given, torch.Tensor) and (_trace.any_open() or is_traced(given)):
        return attached(array, given)
    return array


def _numbers(data: Any) -> Any:
    """Return nested lists with NumPy's own numbers where elements of traced arrays were."""
    if isinstance(data, LISTS):
        return [_numbers(item) for item in data]
    return plain(data)[()] if isinstance(data, (TracedArray, Number)) else data


def _stacked(data: Sequence[Any], made: torch.Tensor) -> torch.Tensor | None:
    """Return what was made of a list, put together out of its values; None if that fails."""
    try:
        found = _stack(data).to(made.dtype)
        if found.shape != made.shape:
            found = found.reshape(made.shape)
    except (RuntimeError, TypeError):
        return None
    with _trace.Unobserved():
        same = torch.allclose(found.detach().cpu(), made.detach().cpu(), equal_nan=True)
    return found if same else None


def _stack(data: Any) -> torch.Tensor:
    if isinstance(data, LISTS):
        items = [_stack(item) for item in data]
        dtype = functools.reduce(torch.promote_types, (item.dtype for item in items))
        return torch.stack([i if i.dtype == dtype else i.to(dtype) for i in items])
    if isinstance(data, (np.ndarray, Number)):
        return to_tensor(data)
    return data if isinstance(data, torch.Tensor) else torch.scalar_tensor(data)
