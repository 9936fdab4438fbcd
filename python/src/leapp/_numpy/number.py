"""An element of a traced array, or what was reduced to one: a number that stays traced.

NumPy reads the memory of an array without asking it, whatever its class, so that
``np.float32(array[0])`` would be a number that nobody saw leave. An element is therefore no array:
whoever wants its value has to ask for it, and is named with the user's line.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .. import _state
from .arrays import Number, left, plain, to_tensor


class TracedNumber(Number, np.lib.mixins.NDArrayOperatorsMixin):
    """A number that is traced: computes like NumPy's, and its use is recorded."""

    __slots__ = ()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = left(self, "A NumPy number or array made of a traced element")
        return array.astype(dtype or array.dtype)

    def __hash__(self) -> int:
        return hash(left(self, "use as a key")[()])

    def __getitem__(self, index: Any) -> Any:
        return self if index == () else self._array[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("data", "ctypes"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
        return getattr(self._array, name)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None) -> Any:
        return self


def _with_tensors(name: str, of_tensors: Callable[[Any, Any], Any], reflected: bool) -> Any:
    """Return an operator that leaves it to PyTorch where the other operand is a tensor."""
    of_arrays = getattr(np.lib.mixins.NDArrayOperatorsMixin, name)

    def compute(self: TracedNumber, other: Any) -> Any:
        if not isinstance(other, torch.Tensor):
            return of_arrays(self, other)
        own = to_tensor(self) if _state.is_active() else plain(self).item()
        return of_tensors(other, own) if reflected else of_tensors(own, other)

    return compute


for _name in "add sub mul truediv floordiv mod pow lt le eq ne gt ge".split():
    _of_tensors = getattr(operator, _name)
    setattr(TracedNumber, f"__{_name}__", _with_tensors(f"__{_name}__", _of_tensors, False))
    if hasattr(TracedNumber, f"__r{_name}__"):
        setattr(TracedNumber, f"__r{_name}__", _with_tensors(f"__r{_name}__", _of_tensors, True))
