"""NumPy arrays whose memory is traced.

``Tensor.numpy()`` of a traced tensor gives a :class:`TracedArray` over the same memory. The
compiled module knows traced memory by its address, so views, transposes and round trips through
``torch.from_numpy`` need no help. What computes does: each NumPy call on such an array also runs on
PyTorch, through the NumPy-compatible functions PyTorch brings (``torch._numpy``), and that is what
gets recorded. The caller receives NumPy's own result, bit for bit: it is laid into the memory of
the recorded tensor after both were found to agree. A call without an equivalent, or with one that
disagrees, is named with the user's line, and its result is a constant.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from . import _state, _trace
from ._numpy_table import NOT_VALUES, WRITERS, numpy_of_torch, torch_function, torch_method

#: How far NumPy and PyTorch may be apart before they count as different functions.
_RTOL = {np.dtype(np.float16): 2e-2, np.dtype(np.float32): 1e-3, np.dtype(np.complex64): 1e-3}


class TracedArray(np.ndarray[Any, Any]):
    """A NumPy array in traced memory: behaves like any other, and its use is recorded."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Run a ufunc on NumPy and on PyTorch."""
        out = kwargs.pop("out", None)
        if not _state.is_active():
            if out is not None:
                kwargs["out"] = tuple(map(plain, out))
            return getattr(ufunc, method)(*map(plain, inputs), **kwargs)
        name = f"np.{ufunc.__name__}" + ("" if method == "__call__" else f".{method}")
        if method == "at":
            return _write(name, ufunc.at, None, inputs, kwargs)
        result = _compute(
            name, getattr(ufunc, method), torch_function(ufunc, method), inputs, kwargs
        )
        if out is None:
            return result
        results = result if isinstance(result, tuple) else (result,)
        for target, value in zip(out, results, strict=True):
            if target is not None:
                _assign_same_kind(name, target, value)
        written = tuple(r if t is None else t for t, r in zip(out, results, strict=True))
        return written if isinstance(result, tuple) else written[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Run any other NumPy function on NumPy and on PyTorch."""
        if not _state.is_active():
            return func(*_map(plain, args), **_map(plain, kwargs))
        name = f"{func.__module__}.{func.__name__}".replace("numpy", "np", 1)
        if func in NOT_VALUES:
            result = func(*_map(plain, args), **_map(plain, kwargs))
            # Memory made alike is watched too, so that traced values written to it are seen.
            return result.view(TracedArray) if type(result) is np.ndarray else result
        if func in WRITERS:
            return _write(name, func, torch_function(func), args, kwargs)
        kwargs = dict(kwargs)
        out = kwargs.pop("out", None)
        result = _compute(name, func, torch_function(func), args, kwargs)
        if out is None:
            return result
        _assign_same_kind(name, out, result)
        return out

    def __getitem__(self, index: Any) -> Any:
        """Index; an element comes back as a 0-d array so that it stays traced."""
        array = plain(self)
        at = _map(plain, index)
        result = array[at]
        if not _state.is_active():
            return result
        if not isinstance(result, np.ndarray):
            at = at if isinstance(at, tuple) else (at,)
            result = array[(*at, ...)]
        if np.may_share_memory(result, array) and not _holds_traced(index):
            return result.view(TracedArray)
        return _compute("indexing", lambda a, i: a[i], lambda a, i: a[i], (self, index), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        """Write; PyTorch does it, so that it is recorded."""
        array = plain(self)
        if not _state.is_active():
            array[_map(plain, index)] = plain(value)
            return

        def put(target: Any, at: Any, what: Any) -> None:
            target[at] = what

        _write("item assignment", put, put, (self, index, value), {})

    def __bool__(self) -> bool:
        """Leave the graph."""
        return bool(_left(self, "if array"))

    def __int__(self) -> int:
        """Leave the graph."""
        return int(_left(self, "int()"))

    def __float__(self) -> float:
        """Leave the graph."""
        return float(_left(self, "float()"))

    def __complex__(self) -> complex:
        """Leave the graph."""
        return complex(_left(self, "complex()"))

    def __index__(self) -> int:
        """Leave the graph."""
        return _left(self, "use as an index").__index__()

    def __contains__(self, value: Any) -> bool:
        """Leave the graph."""
        return plain(value) in _left(self, "in")

    def item(self, *args: Any) -> Any:
        """Return an element as a Python number, which leaves the graph."""
        return _left(self, ".item()").item(*args)

    def tolist(self) -> Any:
        """Return the elements as Python numbers, which leaves the graph."""
        return _left(self, ".tolist()").tolist()

    def tobytes(self, *args: Any, **kwargs: Any) -> bytes:
        """Return the elements as bytes, which leaves the graph."""
        return _left(self, ".tobytes()").tobytes(*args, **kwargs)

    @property
    def flat(self) -> Any:
        """An iterator over the elements, which leaves the graph."""
        return _left(self, ".flat").flat

    def __format__(self, spec: str) -> str:
        """Format as NumPy does; showing a value is not using it."""
        array = plain(self)
        return format(array[()] if array.ndim == 0 else array, spec)

    def __repr__(self) -> str:
        """Show as NumPy does."""
        return repr(plain(self))

    def __str__(self) -> str:
        """Show as NumPy does."""
        return str(plain(self))

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle as a plain array."""
        return plain(self).__reduce_ex__(protocol)

    def __deepcopy__(self, memo: dict[int, Any] | None) -> Any:
        """Copy, staying traced."""
        return self.copy()


def plain(value: Any) -> Any:
    """Return the array without its class; anything else as it is."""
    return value.view(np.ndarray) if isinstance(value, TracedArray) else value


def to_tensor(value: Any) -> torch.Tensor:
    """Return a tensor over the array's memory; a tensor is returned as it is."""
    if isinstance(value, torch.Tensor):
        return value
    array = plain(value)
    backwards = tuple(axis for axis, stride in enumerate(array.strides) if stride < 0)
    if backwards:  # PyTorch knows no negative strides
        return torch.flip(to_tensor(np.flip(array, backwards)), backwards)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # read-only memory: nobody writes to it here
        return torch.from_numpy(array)


def traced_view(tensor: torch.Tensor) -> TracedArray:
    """Return an array over the tensor's memory whose use is recorded."""
    array: np.ndarray[Any, Any] = torch._C.TensorBase.numpy(tensor.detach())
    return array.view(TracedArray)


def is_traced(value: Any) -> bool:
    """Whether the value is a tensor or an array that the session knows."""
    if isinstance(value, torch.Tensor):
        return _trace.is_traced(value)
    if isinstance(value, np.ndarray):
        try:
            return _trace.is_traced(to_tensor(value))
        except TypeError:  # a type that PyTorch does not have
            return False
    return False


def note_escape(value: Any, how: str, reason: str = "") -> None:
    """Warn that a traced value leaves the graph."""
    because = f" ({reason})" if reason else ""
    _trace.note_escape(
        to_tensor(value),
        f"{how} takes a traced value out of the graph{because}: whatever is computed from it is "
        f"exported as a constant. Stay with PyTorch to keep it in the model.",
    )


def _holds_traced(value: Any) -> bool:
    """Whether anything traced is in the value, which may be nested."""
    if isinstance(value, (list, tuple)):
        return any(map(_holds_traced, value))
    if isinstance(value, dict):
        return any(map(_holds_traced, value.values()))
    return is_traced(value)


def _compute(
    name: str,
    numpy_call: Callable[..., Any],
    torch_call: Callable[..., Any] | None,
    args: Any,
    kwargs: dict[str, Any],
) -> Any:
    """Call NumPy, and PyTorch beside it; return NumPy's values in memory PyTorch recorded."""
    expected = numpy_call(*_map(plain_value, args), **_map(plain_value, kwargs))
    if not (_holds_traced(args) or _holds_traced(kwargs)):
        return _map(_watched, expected)
    if isinstance(expected, np.ndarray) and _is_view(expected, args):
        return expected.view(TracedArray)
    if torch_call is not None:
        try:
            found = torch_call(*_map(_tnp, args), **_map(_tnp, kwargs))
            return _reconciled(expected, found)
        except _DisagreementError as reason:
            return _escaped(name, args, kwargs, expected, str(reason))
        except Exception as error:  # whatever PyTorch objects to, NumPy has answered already
            return _escaped(name, args, kwargs, expected, f"PyTorch says: {error}")
    return _escaped(name, args, kwargs, expected, "PyTorch has no equivalent")


def _write(
    name: str,
    numpy_call: Callable[..., Any],
    torch_call: Callable[..., Any] | None,
    args: Any,
    kwargs: dict[str, Any],
) -> None:
    """Call a function that writes to its first argument, so that the write is recorded."""
    target, rest = args[0], args[1:]
    expected = np.array(plain(target))
    numpy_call(expected, *_map(plain_value, rest), **_map(plain_value, kwargs))
    if torch_call is None or not (_holds_traced(args) or _holds_traced(kwargs)):
        if torch_call is None and _holds_traced(args):
            _escaped(name, args, kwargs, None, "PyTorch has no equivalent")
        _assign(target, expected)
        return
    tnp = numpy_of_torch()
    array = plain(target)
    work = to_tensor(target)
    aliased = not any(stride < 0 for stride in array.strides)
    try:
        torch_call(tnp.ndarray(work), *_map(_tnp, rest), **_map(_tnp, kwargs))
        if not _agree(expected, work):
            raise _DisagreementError("its PyTorch equivalent gives other values")
        if not aliased:
            _assign(target, traced_view(work))
    except Exception as error:
        _escaped(name, args, kwargs, None, str(error))
        _assign(target, expected)


def _assign(target: Any, value: Any) -> None:
    """Write to an array's memory with an operator that is recorded."""
    array = plain(target)
    backwards = tuple(axis for axis, stride in enumerate(array.strides) if stride < 0)
    source = to_tensor(value)
    if backwards:
        array = np.flip(array, backwards)
        source = torch.flip(source, backwards)
    with torch.no_grad():
        to_tensor(array).copy_(source)


def _assign_same_kind(name: str, target: Any, value: Any) -> None:
    """Write a result to ``out=`` as NumPy allows it."""
    if isinstance(value, np.ndarray) and not np.can_cast(value.dtype, target.dtype, "same_kind"):
        raise TypeError(
            f"Cannot cast {name} output from {value.dtype!r} to {target.dtype!r} with casting rule "
            f"'same_kind'"
        )
    _assign(target, np.asarray(plain(value)) if not isinstance(value, np.ndarray) else value)


class _DisagreementError(Exception):
    """PyTorch's result is not NumPy's."""


def _reconciled(expected: Any, found: Any) -> Any:
    """Return PyTorch's results with NumPy's values in them; raise where they differ."""
    if isinstance(expected, (list, tuple)):
        if not isinstance(found, (list, tuple)) or len(found) != len(expected):
            raise _DisagreementError("its PyTorch equivalent gives another number of results")
        items = [_reconciled(e, f) for e, f in zip(expected, found, strict=True)]
        if isinstance(expected, list):
            return items
        return type(expected)(*items) if hasattr(expected, "_fields") else tuple(items)
    if not isinstance(expected, (np.ndarray, np.generic)):
        raise _DisagreementError(f"it returns a {type(expected).__name__}")
    values = np.asarray(expected)
    tensor = _tensor_of(found)
    if tensor is not None and tensor.squeeze().shape == np.squeeze(values).shape:
        tensor = tensor.reshape(values.shape)  # they differ on dimensions of one element
    if tensor is None or tuple(tensor.shape) != values.shape:
        raise _DisagreementError("its PyTorch equivalent gives another shape")
    dtype = _torch_dtype(values.dtype)
    if tensor.dtype != dtype:
        tensor = tensor.to(dtype)
    elif not tensor.is_contiguous() or tensor._is_view() or tensor.requires_grad:
        tensor = tensor.detach().clone(memory_format=torch.contiguous_format)
    if not _agree(values, tensor):
        raise _DisagreementError("its PyTorch equivalent gives other values")
    array = traced_view(tensor)
    np.copyto(plain(array), values)
    return array


def _agree(values: np.ndarray[Any, Any], tensor: torch.Tensor) -> bool:
    """Whether the tensor holds NumPy's values, but for rounding."""
    with _trace.Unobserved():
        found = torch._C.TensorBase.numpy(tensor.detach())
    if values.dtype.kind not in "fc":
        return bool(np.array_equal(values, found))
    rtol = _RTOL.get(values.dtype, 1e-6)
    finite = np.abs(values[np.isfinite(values)])
    scale = float(finite.max()) if finite.size else 1.0
    return bool(np.allclose(values, found, rtol=rtol, atol=rtol * 1e-2 * scale, equal_nan=True))


def _escaped(name: str, args: Any, kwargs: dict[str, Any], result: Any, reason: str) -> Any:
    """Say that a NumPy call was not traced, and return its result."""
    for value in _leaves((args, kwargs)):
        if is_traced(value):
            note_escape(value, name, reason)
            break
    return result


def _left(array: TracedArray, how: str) -> np.ndarray[Any, Any]:
    """Say that the array's values leave the graph, and return it without its class."""
    if _state.is_active() and is_traced(array):
        note_escape(array, how)
    return array.view(np.ndarray)


def _is_view(result: np.ndarray[Any, Any], args: Any) -> bool:
    """Whether the result lies in the memory of an argument."""
    return any(
        isinstance(value, np.ndarray) and np.may_share_memory(result, value)
        for value in _leaves(args)
    )


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def plain_value(value: Any) -> Any:
    """Return what NumPy itself should compute with."""
    if isinstance(value, torch.Tensor):
        with _trace.Unobserved():
            return torch._C.TensorBase.numpy(value.detach())
    return plain(value)


def _watched(value: Any) -> Any:
    """Return a fresh array so that traced values written to it later are seen."""
    return value.view(TracedArray) if type(value) is np.ndarray else value


def _tnp(value: Any) -> Any:
    """Return what PyTorch's NumPy-compatible functions take."""
    tnp = numpy_of_torch()
    if isinstance(value, (np.ndarray, torch.Tensor)):
        return tnp.ndarray(to_tensor(value))
    if isinstance(value, np.generic):
        return tnp.ndarray(torch.from_numpy(np.array(value)))
    if isinstance(value, np.dtype):
        return tnp.dtype(value.name)
    if isinstance(value, type) and issubclass(value, np.generic):
        return tnp.dtype(np.dtype(value).name)
    return value


def _tensor_of(value: Any) -> torch.Tensor | None:
    """Return the tensor inside what PyTorch's NumPy-compatible functions return."""
    inner = getattr(value, "tensor", value)
    if isinstance(inner, torch.Tensor):
        return inner
    if isinstance(inner, (bool, int, float, complex)):
        return torch.tensor(inner)
    return None


def _torch_dtype(dtype: np.dtype[Any]) -> torch.dtype:
    return torch.from_numpy(np.empty(0, dtype)).dtype


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply the function to every leaf of nested lists, tuples and dicts."""
    if isinstance(value, tuple):
        items = [_map(function, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [_map(function, item) for item in value]
    if isinstance(value, dict):
        return {key: _map(function, item) for key, item in value.items()}
    return function(value)


def _method(name: str) -> Callable[..., Any]:
    """Return a method of TracedArray that does on NumPy and PyTorch what ndarray's does."""
    original = getattr(np.ndarray, name)

    def method(self: TracedArray, *args: Any, **kwargs: Any) -> Any:
        if not _state.is_active():
            return original(plain(self), *_map(plain, args), **_map(plain, kwargs))
        out = kwargs.pop("out", None)
        result = _compute(f".{name}()", original, torch_method(name), (self, *args), kwargs)
        if out is None:
            return result
        _assign_same_kind(f".{name}()", out, result)
        return out

    method.__name__ = name
    method.__doc__ = original.__doc__
    return method


def _writing_method(name: str) -> Callable[..., Any]:
    """Return a method of TracedArray that writes to the array as ndarray's does."""
    original = getattr(np.ndarray, name)

    def method(self: TracedArray, *args: Any, **kwargs: Any) -> None:
        if not _state.is_active():
            original(plain(self), *_map(plain, args), **_map(plain, kwargs))
            return
        _write(f".{name}()", original, torch_method(name), (self, *args), kwargs)

    method.__name__ = name
    method.__doc__ = original.__doc__
    return method


for _name in (
    "all any argmax argmin argpartition argsort astype byteswap choose clip compress conj "
    "conjugate copy cumprod cumsum diagonal dot flatten max mean min nonzero prod ravel repeat "
    "reshape round searchsorted squeeze std sum swapaxes take trace transpose var"
).split():
    setattr(TracedArray, _name, _method(_name))
for _name in ("fill", "partition", "put", "sort"):
    setattr(TracedArray, _name, _writing_method(_name))
