"""Methods of ``torch.Tensor`` during tracing.

Traced tensors become traced arrays, indexing by variable numbers stays in the graph, functions that
take values out of it are reported, and the session records the tensors whose size is read. Printing
a value does not count as a use.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from . import _trace
from ._function_patches import Patch, in_node, replaced, wrapped
from ._numpy import Number, Traced, attached, exposed, note_escape, to_used_tensor


def patches() -> Iterator[Patch]:
    yield replaced(torch.Tensor, "numpy", _numpy)
    yield replaced(torch.Tensor, "__array__", _array)
    yield replaced(torch.Tensor, "tolist", _tolist)
    yield replaced(torch.Tensor, "__deepcopy__", _deepcopy)
    yield replaced(torch.Tensor, "data_ptr", _data_ptr)
    yield replaced(torch.Tensor, "__dlpack__", _dlpack)
    yield replaced(torch.Tensor, "__reduce_ex__", _reduce)
    yield replaced(torch.Tensor, "__len__ size numel nelement", _noting_size)
    shape: Any = torch._C.TensorBase.shape
    yield torch.Tensor, {"shape": property(wrapped(shape.__get__, _noting_size))}
    yield replaced(torch.Tensor, "__repr__ __format__", unobserved)
    yield replaced(torch.Tensor, "__getitem__", _getitem)
    yield replaced(torch.Tensor, "__setitem__", _setitem)
    yield torch.utils, {"swap_tensors": _swap_tensors}
    # Checks in PyTorch's code are not branches of the program.
    yield replaced(torch.distributions.Distribution, "__init__ _validate_sample", unobserved)


def _swap_tensors(t1: torch.Tensor, t2: torch.Tensor) -> None:
    """Swap the contents of the tensors: PyTorch does not swap tensors that the recorder knows."""
    t1.data, t2.data = t2.data, t1.data


def _numpy(original: Any, self: torch.Tensor, *, force: bool = False) -> Any:
    array = original(self, force=force)
    # While a node is open, traced values may be written to the memory of any tensor.
    return attached(array, self) if _trace.any_open() or _trace.is_traced(self) else array


def _array(original: Any, self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    if _trace.is_traced(self):
        note_escape(self, "A NumPy function on a tensor")
    return np.ndarray.view(original(self, *args, **kwargs), np.ndarray)


def _tolist(original: Any, self: torch.Tensor) -> Any:
    if _trace.is_traced(self):
        note_escape(self, ".tolist()")
    with _trace.Unobserved():
        return original(self)


def _deepcopy(original: Any, self: torch.Tensor, memo: dict[int, Any]) -> Any:
    # PyTorch copies the memory directly, without an operator.
    followed = _trace.any_open() or _trace.is_traced(self)
    if id(self) in memo or not self.is_leaf or not followed:
        return original(self, memo)
    made = self.detach().clone().requires_grad_(self.requires_grad)
    memo[id(self)] = made
    return made


def _data_ptr(original: Any, self: torch.Tensor) -> int:
    if in_node() and _trace.is_traced(self):
        note_escape(self, ".data_ptr()")
    return int(original(self))


def _dlpack(original: Any, self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    if in_node():
        exposed(self)
    return original(self, *args, **kwargs)


def _reduce(original: Any, self: torch.Tensor, protocol: Any) -> Any:
    # Pickle creates a new tensor of unknown origin. copy.copy() uses the same method, but creates a
    # tensor over the same memory.
    if _trace.any_open() and sys._getframe(2).f_code is not copy.copy.__code__:
        note_escape(self, "Pickling", pickled=True)
    return original(self, protocol)


def _noting_size(original: Any, self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    if _trace.any_open():
        # Sizes that the code uses may become part of the model, including those in PyTorch's code.
        asking = sys._getframe(2).f_globals.get("__name__", "")
        if not asking.startswith(("leapp.", "torch._numpy")):
            _trace.note_size(self)
    return original(self, *args, **kwargs)


def unobserved(original: Any, *args: Any, **options: Any) -> Any:
    """Call a function without recording its operators."""
    with _trace.Unobserved():
        return original(*args, **options)


def _as_index(index: Any) -> Any:
    """Return an index with tensors instead of traced arrays, their elements and lists of them."""
    if isinstance(index, tuple):
        return tuple(map(_as_index, index))
    if isinstance(index, list) and any(isinstance(item, Number) for item in index):
        index = np.array(index)  # PyTorch would treat each as a separate index
    return to_used_tensor(index) if isinstance(index, Traced) else index


def _getitem(original: Any, self: torch.Tensor, index: Any) -> Any:
    index = _as_index(index)
    found = _trace.get_item(self, index)
    return original(self, index) if found is NotImplemented else found


def _setitem(original: Any, self: torch.Tensor, index: Any, value: Any) -> None:
    index = _as_index(index)
    value = to_used_tensor(value) if isinstance(value, Traced) else value
    if not _trace.set_item(self, index, value):
        original(self, index, value)
