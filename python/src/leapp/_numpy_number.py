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

from . import _state
from ._numpy import Number, TracedArray, left, plain, to_tensor


class TracedNumber(Number, np.lib.mixins.NDArrayOperatorsMixin):
    """A number that is traced: computes like NumPy's, and its use is recorded."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Run a ufunc on NumPy and on PyTorch."""
        return _calls().ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Run any other NumPy function on NumPy and on PyTorch."""
        return _calls().function(func, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Leave the graph."""
        array = left(self._array, "A NumPy number or array made of a traced element")
        return array.astype(dtype or array.dtype)

    def __bool__(self) -> bool:
        """Leave the graph."""
        return bool(self._array)

    def __int__(self) -> int:
        """Leave the graph."""
        return int(self._array)

    def __float__(self) -> float:
        """Leave the graph."""
        return float(self._array)

    def __complex__(self) -> complex:
        """Leave the graph."""
        return complex(self._array)

    def __index__(self) -> int:
        """Leave the graph."""
        return self._array.__index__()

    def __hash__(self) -> int:
        """Leave the graph."""
        return hash(self._array)

    def __round__(self, digits: int = 0) -> Any:
        """Round as NumPy's numbers do, staying traced."""
        return self._array.round(digits)

    def __getitem__(self, index: Any) -> Any:
        """Index as NumPy's numbers do: with nothing, or for more dimensions."""
        return self if index == () else self._array[index]

    def __getattr__(self, name: str) -> Any:
        """Be and do what an array of one element is and does."""
        if name.startswith("__") or name in ("data", "ctypes"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")
        return getattr(self._array, name)

    def __format__(self, spec: str) -> str:
        """Format as NumPy does; showing a value is not using it."""
        return format(self._array, spec)

    def __repr__(self) -> str:
        """Show as NumPy does."""
        return repr(plain(self))

    def __str__(self) -> str:
        """Show as NumPy does."""
        return str(plain(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle as a plain number."""
        return plain(self).__reduce_ex__(protocol)

    def __copy__(self) -> Any:
        """Return itself: a number does not change."""
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None) -> Any:
        """Return itself: a number does not change."""
        return self


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


for _name in "add sub mul truediv floordiv mod pow".split():
    setattr(TracedNumber, f"__{_name}__", _with_tensors(_name))
    setattr(TracedNumber, f"__r{_name}__", _with_tensors(f"r{_name}"))
for _name in "lt le eq ne gt ge".split():
    setattr(TracedNumber, f"__{_name}__", _with_tensors(_name))


def number_of(array: TracedArray) -> TracedNumber:
    """Return the only element of an array."""
    return TracedNumber(array)


def _calls() -> Any:
    from . import _numpy_calls

    return _numpy_calls
