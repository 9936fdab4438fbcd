"""Methods of ``torch.Tensor`` while a session is tracing.

Traced tensors become traced arrays, indexing by numbers that may vary stays in the graph, and what
takes values out of it is named. Showing a value is not using it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from . import _indexing, _trace
from ._detect.detector import in_node
from ._numpy import Number, TracedArray, attached, note_escape, to_tensor


def patches() -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield (owner, what to put there by name)."""
    tensor: Any = torch.Tensor
    yield tensor, {name: wrap(getattr(tensor, name)) for name, wrap in _METHODS.items()}
    yield torch.utils, {"swap_tensors": _swap_tensors}
    checks: Any = torch.distributions.Distribution
    for name in ("__init__", "_validate_sample"):  # whose checks are no branches of the program
        yield checks, {name: unobserved(getattr(checks, name))}


def _swap_tensors(t1: torch.Tensor, t2: torch.Tensor) -> None:
    """Exchange what the tensors hold: PyTorch exchanges no tensor that the recorder knows."""
    t1.data, t2.data = t2.data, t1.data


def _method(wrap: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return wrap() such that one original always gets the same replacement."""

    @functools.cache
    def wrapped(original: Any) -> Any:
        return functools.wraps(original)(wrap(original))

    return wrapped


@_method
def _numpy(original: Any) -> Any:
    def numpy(self: torch.Tensor, *, force: bool = False) -> Any:
        array = original(self, force=force)
        # While a node is open, traced values may be written to the memory of any tensor.
        return attached(array, self) if _trace.any_open() or _trace.is_traced(self) else array

    return numpy


@_method
def _array(original: Any) -> Any:
    def __array__(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
        if _trace.is_traced(self):
            note_escape(self, "A NumPy function on a tensor")
        return original(self, *args, **kwargs).view(np.ndarray)

    return __array__


@_method
def _tolist(original: Any) -> Any:
    def tolist(self: torch.Tensor) -> Any:
        if _trace.is_traced(self):
            note_escape(self, ".tolist()")
        with _trace.Unobserved():
            return original(self)

    return tolist


@_method
def _deepcopy(original: Any) -> Any:
    def __deepcopy__(self: torch.Tensor, memo: dict[int, Any]) -> Any:  # noqa: N807
        # PyTorch copies the memory itself, which no operator shows.
        if id(self) in memo or not self.is_leaf or not _trace.is_traced(self):
            return original(self, memo)
        made = self.detach().clone().requires_grad_(self.requires_grad)
        memo[id(self)] = made
        return made

    return __deepcopy__


@_method
def _data_ptr(original: Any) -> Any:
    def data_ptr(self: torch.Tensor) -> int:
        if in_node() and _trace.is_traced(self):
            note_escape(self, ".data_ptr()")
        return int(original(self))

    return data_ptr


@_method
def unobserved(original: Any) -> Any:
    """Return the function such that the recorder sees nothing of what it does."""

    def look(*args: Any, **options: Any) -> Any:
        with _trace.Unobserved():
            return original(*args, **options)

    return look


@_method
def _getitem(original: Any) -> Any:
    def __getitem__(self: torch.Tensor, index: Any) -> Any:  # noqa: N807
        dynamic = _indexing.split(index)
        return original(self, index) if dynamic is None else _indexing.get(self, index, *dynamic)

    return __getitem__


@_method
def _setitem(original: Any) -> Any:
    def __setitem__(self: torch.Tensor, index: Any, value: Any) -> None:  # noqa: N807
        if isinstance(value, (TracedArray, Number)):
            value = to_tensor(value)
        dynamic = _indexing.split(index)
        if dynamic is None:
            original(self, index, value)
        else:
            _indexing.put(self, index, *dynamic, value)

    return __setitem__


_METHODS: dict[str, Callable[[Any], Any]] = {
    "numpy": _numpy,
    "__array__": _array,
    "tolist": _tolist,
    "__deepcopy__": _deepcopy,
    "data_ptr": _data_ptr,
    "__repr__": unobserved,
    "__format__": unobserved,
    "__getitem__": _getitem,
    "__setitem__": _setitem,
}
