"""Single elements of traced arrays.

NumPy's own functions read the memory of an array without asking it, whatever its class, so that
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
from .arrays import Number, TracedArray, left, plain, to_tensor


class TracedNumber(Number, np.lib.mixins.NDArrayOperatorsMixin):
    """A number that is traced: computes like NumPy's, and its use is recorded."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return _calls().ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _calls().function(func, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = left(self._array, "A NumPy number or array made of a traced element")
        return array.astype(dtype or array.dtype)

    def __round__(self, digits: int = 0) -> Any:
        return self._array.round(digits)

    def __getitem__(self, index: Any) -> Any:
        return self if index == () else self._array[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("data", "ctypes"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
        return getattr(self._array, name)

    def __format__(self, spec: str) -> str:
        return format(self._array, spec)

    def __repr__(self) -> str:
        return repr(plain(self))

    def __str__(self) -> str:
        return str(plain(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        return plain(self).__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None) -> Any:
        return self


def _as_array(name: str) -> Callable[..., Any]:
    """Return a method that leaves the graph as that of an array does."""
    return lambda self: getattr(self._array, name)()


def _with_tensors(name: str) -> Callable[[Any, Any], Any]:
    """Return an operator that leaves it to PyTorch where the other operand is a tensor."""
    of_arrays = getattr(np.lib.mixins.NDArrayOperatorsMixin, f"__{name}__")
    reflected = name.startswith("r") and name not in ("rshift",)
    of_tensors = getattr(operator, name[1:] if reflected else name)

    def compute(self: TracedNumber, other: Any) -> Any:
        if not isinstance(other, torch.Tensor):
            return of_arrays(self, other)
        own = to_tensor(self) if _state.is_active() else plain(self).item()
        return of_tensors(other, own) if reflected else of_tensors(own, other)

    return compute


for _name in "bool int float complex index hash".split():
    setattr(TracedNumber, f"__{_name}__", _as_array(f"__{_name}__"))
for _name in "add sub mul truediv floordiv mod pow".split():
    setattr(TracedNumber, f"__{_name}__", _with_tensors(_name))
    setattr(TracedNumber, f"__r{_name}__", _with_tensors(f"r{_name}"))
for _name in "lt le eq ne gt ge".split():
    setattr(TracedNumber, f"__{_name}__", _with_tensors(_name))


def number_of(array: TracedArray) -> TracedNumber:
    """Return the only element of an array."""
    return TracedNumber(array)


def _calls() -> Any:
    from . import calls

    return calls
