"""Computations with traced arrays, on NumPy and on PyTorch at the same time.

Each NumPy call also runs on PyTorch's NumPy-compatible functions (``torch._numpy``), and those are
recorded. The caller receives NumPy's own result, bit for bit: it is copied to the memory of the
recorded tensor if both agree. A call without an equivalent, or with a different result, is reported
with the user's line; its result is a constant.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from .. import _state, _trace
from ..errors import LeappError
from . import foreign
from .arrays import (
    ARRAYS,
    Number,
    Traced,
    TracedArray,
    array_of,
    attached,
    fresh,
    is_traced,
    note_escape,
    note_written,
    plain,
    tensor_or_none,
    to_tensor,
    to_used_tensor,
    to_written_tensor,
    traced_view,
)
from .lists import apply_along_axis, as_array, as_arrays, holds_traced, leaves, like, mapped
from .memory import backwards_in, covers, from_numpy, laid_out_alike, new_array, torch_type
from .table import NOT_VALUES, WRITERS, numpy_of_torch, torch_function, torch_method

#: The tolerance within which NumPy and PyTorch compute the same function.
_RTOL = {np.dtype(np.float16): 2e-2, np.dtype(np.float32): 1e-3, np.dtype(np.complex64): 1e-3}


#: The types with the highest precision.
_WIDE = (np.dtype(np.float64), np.dtype(np.complex128))


class _DisagreementError(Exception):
    """PyTorch's result differs from NumPy's."""


def ufunc(function: Any, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a ufunc or one of its methods."""
    call = getattr(function, method)
    if not _state.is_active():
        return _with_each(plain, call, inputs, kwargs)
    name = f"np.{function.__name__}" + ("" if method == "__call__" else f".{method}")
    if method == "at":
        return Call(name, call, None, inputs, kwargs).write()
    inputs = tuple(map(as_array, inputs))
    where = kwargs.pop("where", True) if method == "__call__" else True
    twice = Call(name, call, torch_function(function, method), inputs, kwargs)
    if where is True:
        return twice.compute()
    with np.errstate(all="ignore"):  # elsewhere any value may be state
        return twice.compute(where)


def of_torch(call: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a PyTorch function with elements of arrays among its arguments."""

    def given(value: Any) -> Any:
        if not isinstance(value, Number):
            return value
        return to_tensor(value) if _state.is_active() else plain(value._array).item()

    return _with_each(given, call, args, kwargs)


def function(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if not _state.is_active() or func in NOT_VALUES:
        return _with_each(plain, func, args, kwargs)
    if func.__name__ == "empty_like":
        return fresh(_with_each(plain, func, args, kwargs))
    if func.__name__ == "apply_along_axis":
        return apply_along_axis(*args, **kwargs)
    name = f"{func.__module__}.{func.__name__}".replace("numpy", "np", 1)
    call = Call(name, func, torch_function(func), as_arrays(func, args), kwargs)
    return call.write() if func in WRITERS else call.compute()


def method(name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    original = getattr(np.ndarray, name)
    if not _state.is_active():
        return _with_each(plain, original, args, kwargs)
    if name != "choose":
        args = tuple(map(as_array, args))
    call = Call(f".{name}()", original, torch_method(name), args, kwargs)
    return call.write() if name in ("fill", "partition", "put", "sort") else call.compute()


def get_item(array: TracedArray, index: Any) -> Any:
    """Index an array. An element is returned as a number, which later writes do not change."""
    at = mapped(_numpy_value, index)
    result = plain(array)[at]
    if not _state.is_active():
        return result
    if not isinstance(result, np.ndarray) and not holds_traced(index):
        at = (*(at if isinstance(at, tuple) else (at,)), ...)
        return Number(traced_view(to_used_tensor(array)[at].clone()))
    if np.may_share_memory(result, plain(array)) and not holds_traced(index):
        with contextlib.suppress(IndexError, TypeError, ValueError):
            tensor = to_used_tensor(array)  # nodes use whole arrays before parts of them
            return attached(result, array._tensor if backwards_in(array) else tensor[at])
        return attached(result, array._tensor)  # PyTorch does not support negative steps

    def get(of: Any, at: Any) -> Any:
        return of[at].copy()  # not a view: its position may vary

    return Call("indexing", get, _get, (array, index), {}).compute()


def _get(array: Any, index: Any) -> Any:
    """Index an array of torch._numpy, also by numbers that may vary."""
    found = _trace.get_item(array.tensor, mapped(_inner, index))
    return array[index] if found is NotImplemented else found


def set_item(array: TracedArray, index: Any, value: Any) -> None:
    if not _state.is_active():
        plain(array)[mapped(plain, index)] = plain(value)
        return
    part = plain(array)[mapped(_numpy_value, index)]
    if isinstance(part, np.ndarray) and backwards_in(part) and not holds_traced(index):
        array, index = get_item(array, index), ...  # PyTorch has no such views, but LEAPP does
    args = (array, index, as_array(value))
    Call("item assignment", operator.setitem, _set, args, {}).write()


def _set(array: Any, index: Any, value: Any) -> None:
    """Write to an array of torch._numpy, also at indices that may vary."""
    if not _trace.set_item(array.tensor, mapped(_inner, index), _inner(value)):
        array[index] = value


class Call(NamedTuple):
    """A NumPy call, with its equivalent on PyTorch if there is one."""

    name: str
    on_numpy: Callable[..., Any]
    on_torch: Callable[..., Any] | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def compute(self, where: Any = True) -> Any:
        """Call NumPy and PyTorch; return NumPy's values in memory that PyTorch recorded.

        They are written to ``out=`` if that is given; elements excluded by ``where=`` keep their
        values.
        """
        rest = {key: value for key, value in self.kwargs.items() if key != "out"}
        result = self._replace(kwargs=rest)._computed()
        out = self.kwargs.get("out")
        if out is None and where is True:
            return result
        results = result if isinstance(result, tuple) else (result,)
        targets = out if isinstance(out, tuple) else (out,) * len(results)

        def written(value: Any, target: Any) -> Any:
            if where is not True:
                target = np.zeros_like(value) if target is None else target  # NumPy: undefined
                value = np.where(where, value, target)
            return value if target is None else _put_out(self.name, target, value)

        values = tuple(map(written, results, targets))
        return values if isinstance(result, tuple) else values[0]

    def _computed(self) -> Any:
        args, kwargs = self.args, self.kwargs
        given = mapped(_numpy_value, args)
        try:
            expected = self.on_numpy(*given, **mapped(_numpy_value, kwargs))
        except (ArithmeticError, IndexError, np.linalg.LinAlgError) as error:
            self._note_escape(f"it raises {type(error).__name__}, which the program may catch")
            raise
        if args and isinstance(args[0], TracedArray) and expected is given[0]:
            return args[0]
        traced = holds_traced((args, kwargs))
        if not traced and not _trace.any_open():
            return mapped(_untraced, expected)

        # A value that is not traced may be state in its first pass, so it is recorded too, for the
        # comparison of passes.
        def record(on_torch: Callable[..., Any]) -> Any:
            is_wide = isinstance(expected, (np.ndarray, np.generic)) and expected.dtype in _WIDE
            value_of = _wide_value if is_wide else _torch_value
            return _reconciled(expected, _with_each(value_of, on_torch, args, kwargs), args)

        found, reason = self._recorded(record)
        if not reason:
            return found
        if isinstance(expected, np.ndarray) and (of := _viewed(expected, args)) is not None:
            return attached(expected, getattr(of, "_tensor", None))
        self._note_escape(reason)
        return expected if traced else mapped(fresh, expected)

    def write(self) -> None:
        """Run a function that writes to its first argument, so that the write is recorded."""
        target, kwargs = self.args[0], self.kwargs
        note_written(target)

        def apart(value: Any) -> Any:  # NumPy reads views of the target before it writes
            is_view = isinstance(value, TracedArray) and _viewed(value, target) is not None
            return value.copy() if is_view else value

        rest = [*map(apart, self.args[1:])]
        expected = new_array(plain(target))
        _with_each(_numpy_value, self.on_numpy, (expected, *rest), kwargs)

        def record(on_torch: Callable[..., Any]) -> None:
            work = to_written_tensor(target)
            with torch.no_grad():
                _with_each(_torch_value, on_torch, (work, *rest), kwargs)
            if not _agree(expected, work):
                raise _DisagreementError("its PyTorch equivalent returns other values")
            if not np.array_equal(plain(target), expected, equal_nan=True):
                _assign(
                    target, traced_view(work)
                )  # memory with negative strides, of which `work` is a copy
                np.copyto(plain(target), expected)

        _, reason = self._recorded(record)
        if reason:
            self._note_escape(reason)
            _assign(target, expected)

    def _recorded(self, record: Callable[[Callable[..., Any]], Any]) -> tuple[Any, str]:
        """Return record()'s result for the PyTorch function, or why there is none."""
        if self.on_torch is None:
            return None, "PyTorch has no equivalent"
        try:
            return record(self.on_torch), ""
        except LeappError:
            raise
        except _DisagreementError as disagreement:
            return None, str(disagreement)
        except Exception as error:  # NumPy has already succeeded, so errors of PyTorch are ignored
            return None, f"PyTorch says: {error}"

    def _note_escape(self, reason: str) -> None:
        """Report that the call was not traced, if an argument was traced."""
        for value in leaves((self.args, self.kwargs)):
            if isinstance(value, Traced) or is_traced(value):
                note_escape(value, self.name, reason)


def _untraced(value: Any) -> Any:
    """Return a result from between nodes as an array whose use in a node is recorded."""
    return attached(value, tensor_or_none(value)) if type(value) is np.ndarray else value


def _assign(target: Any, value: Any) -> None:
    """Write to an array's memory by an operator that is recorded."""
    backwards = backwards_in(target)
    source = to_tensor(value)
    if backwards:
        target = np.flip(plain(target), backwards)
        source = torch.flip(source, backwards)
    with torch.no_grad():
        to_written_tensor(target).copy_(source)


def _put_out(name: str, target: Any, value: Any) -> Any:
    """Write a result to ``out=`` with NumPy's rules, and return the target."""
    if not np.can_cast(value.dtype, target.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast {name} output from {value.dtype!r} to {target.dtype!r} with casting rule "
            f"'same_kind'"
        )
    note_written(target)
    _assign(target, value if isinstance(value, Traced) else new_array(value))
    return target


def _reconciled(expected: Any, found: Any, args: Any) -> Any:
    """Return PyTorch's results with NumPy's values in them; raise if they differ."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(found) != len(expected):
            raise _DisagreementError("its PyTorch equivalent returns a different number of results")
        pairs = zip(expected, found, strict=True)
        return like(expected, [_reconciled(*pair, args) for pair in pairs])
    if not isinstance(expected, (np.ndarray, np.generic)):
        raise _DisagreementError(f"it returns a {type(expected).__name__}")
    values = new_array(expected)
    tensor = _tensor_of(found)
    if isinstance(expected, np.ndarray) and (of := _viewed(expected, args)) is not None:
        known = tensor is not None and covers(tensor, expected)
        return attached(expected, tensor if known else getattr(of, "_tensor", None))
    if tensor is None or _sizes(tensor) != _sizes(values):
        raise _DisagreementError("its PyTorch equivalent returns a different shape")
    if tuple(tensor.shape) != values.shape:
        tensor = tensor.reshape(values.shape)
    dtype = torch_type(values.dtype)
    if tensor.dtype != dtype:
        tensor = tensor.to(dtype)
    elif tensor.requires_grad or _viewed(_numpy_value(tensor), args) is not None:
        tensor = tensor.detach().clone()
    if not laid_out_alike(tensor, values):
        outermost_first = sorted(range(values.ndim), key=lambda axis: -values.strides[axis])
        back = sorted(range(values.ndim), key=outermost_first.__getitem__)
        tensor = tensor.permute(outermost_first).contiguous().permute(back)
    if not _agree(values, tensor):
        raise _DisagreementError("its PyTorch equivalent returns other values")
    array = traced_view(tensor)
    np.copyto(plain(array), values)
    return Number(array) if isinstance(expected, np.generic) else array


def _sizes(value: Any) -> list[int]:
    """Return a shape without dimensions of size one, for which NumPy and PyTorch differ."""
    return [size for size in value.shape if size != 1]


def _agree(values: np.ndarray[Any, Any], tensor: torch.Tensor) -> bool:
    """Return whether the tensor has NumPy's values up to rounding."""
    found = _numpy_value(tensor)
    if np.array_equal(values, found):  # the most common case, and fast to check
        return True
    if values.dtype.kind not in "fc":
        return False
    rtol = _RTOL.get(values.dtype, 1e-6)
    finite = np.abs(values[np.isfinite(values)])
    scale = float(finite.max()) if finite.size else 1.0
    return bool(np.allclose(values, found, rtol=rtol, atol=rtol * 1e-2 * scale, equal_nan=True))


def _viewed(result: np.ndarray[Any, Any], args: Any) -> Any:
    """Return the argument array whose memory contains the result, if there is one."""
    for value in map(array_of, leaves(args)):
        if isinstance(value, np.ndarray) and np.may_share_memory(result, plain(value)):
            return value
    return None


def _with_each(change: Any, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function with a conversion applied to every leaf of its arguments."""
    return function(*mapped(change, args), **mapped(change, kwargs))


def _numpy_value(value: Any) -> Any:
    """Return the value for NumPy itself."""
    if isinstance(value, torch.Tensor):
        with _trace.Unobserved():
            return torch._C.TensorBase.numpy(value.detach())
    return plain(value)


def _torch_value(value: Any) -> Any:
    """Return the value for PyTorch's NumPy-compatible functions."""
    tnp = numpy_of_torch()
    if isinstance(value, ARRAYS):
        return tnp.ndarray(to_used_tensor(value))
    if isinstance(value, np.generic):
        tensor = from_numpy(new_array(value))
        foreign.check(value, tensor)
        return tnp.ndarray(tensor)
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return tnp.dtype(np.dtype(value).name)
    return value


def _wide_value(value: Any) -> Any:
    """Return that value in full precision, because PyTorch may reject mixed NumPy types."""
    value = _torch_value(value)
    tensor = _inner(value)
    dtype = getattr(tensor, "dtype", None)
    if not isinstance(dtype, torch.dtype) or not (dtype.is_floating_point or dtype.is_complex):
        return value
    wide = torch.promote_types(dtype, torch.float64)
    return value if dtype == wide else numpy_of_torch().ndarray(tensor.to(wide))


def _inner(value: Any) -> Any:
    """Return the tensor inside an array of torch._numpy; anything else unchanged."""
    return getattr(value, "tensor", value)


def _tensor_of(value: Any) -> torch.Tensor | None:
    """Return the tensor inside a result of PyTorch's NumPy-compatible functions."""
    inner = _inner(value)
    if isinstance(inner, torch.Tensor):
        return inner
    return torch.tensor(inner) if isinstance(inner, (bool, int, float, complex)) else None
