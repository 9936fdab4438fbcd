"""PyTorch equivalents of NumPy functions.

PyTorch has NumPy-compatible functions with the same names (``torch._numpy``); this module adds
missing ones. Callers compare each result with NumPy's own.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .memory import new_array, torch_type


def _functions(names: str) -> frozenset[Any]:
    return frozenset(getattr(np, name) for name in names.split())


#: Functions that depend on shapes and types only, not on values.
NOT_VALUES = _functions(
    "shape ndim size result_type can_cast common_type min_scalar_type iscomplexobj isrealobj "
    "may_share_memory shares_memory array_repr array_str array2string"
)
#: Functions that write to their first argument.
WRITERS = _functions("copyto put put_along_axis place putmask fill_diagonal")
#: Functions that take several arrays in a list.
TAKE_LISTS = _functions(
    "choose column_stack concatenate dstack hstack lexsort select stack vstack"
) | {np.linalg.multi_dot}
#: Functions whose list arguments are not arrays and contain none.
TAKE_OTHER_LISTS = _functions("block piecewise save savez savez_compressed")

#: Names of ufunc methods that PyTorch supports.
_OF_UFUNCS = {
    "add.reduce": "sum", "multiply.reduce": "prod", "maximum.reduce": "amax",
    "minimum.reduce": "amin", "logical_and.reduce": "all", "logical_or.reduce": "any",
    "add.accumulate": "cumsum", "multiply.accumulate": "cumprod",
}  # fmt: skip
#: The maximum length of an unrolled kernel: ONNX Runtime has no float64 convolution.
_MOST_TAPS = 64


@functools.cache
def numpy_of_torch() -> Any:
    """Return PyTorch's NumPy-compatible functions, which have no type annotations."""
    return importlib.import_module("torch._numpy")


@functools.cache
def torch_function(function: Any, method: str = "__call__") -> Callable[..., Any] | None:
    """Return the PyTorch function with the same parameters, or None.

    It takes and returns arrays of ``torch._numpy``.

    Args:
        function: A NumPy function or ufunc.
        method: For ufuncs: ``__call__``, ``reduce``, ``accumulate`` or ``outer``.
    """
    tnp = numpy_of_torch()
    name = function.__name__
    if method == "__call__":
        if name in _own:
            return _own[name]
        module: Any = tnp
        for part in str(getattr(function, "__module__", "numpy") or "numpy").split(".")[1:]:
            module = getattr(module, part, None) if not part.startswith("_") else module
        found = getattr(module, name, None)
        return found if callable(found) and not isinstance(found, type) else None
    if method == "outer":
        call = torch_function(function)
        return call and (lambda a, b: call(a.reshape(a.shape + (1,) * b.ndim), b))
    known = _OF_UFUNCS.get(f"{name}.{method}")
    if known is None:
        return None

    along: Any = _own.get(known) or getattr(tnp, known)

    def along_axis(a: Any, axis: Any = 0, **options: Any) -> Any:
        given = {key: value for key, value in options.items() if value is not None}
        return along(a, axis=axis, **given)

    return along_axis


def torch_method(name: str) -> Callable[..., Any] | None:
    """Return the PyTorch equivalent of that method of ``numpy.ndarray``, or None."""
    return _own.get(name) or getattr(numpy_of_torch().ndarray, name, None)


def _on_tensors(function: Callable[..., Any], *tensors: str) -> Callable[..., Any]:
    """Return a function of arrays that passes their tensors to ``function``."""
    signature = inspect.signature(function)

    def call(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        given = {name: bound.arguments.get(name) for name in tensors}
        found = {name: _tensors_in(value) for name, value in given.items() if value is not None}
        bound.arguments.update(found)
        result = function(*bound.args, **bound.kwargs)
        return result if result is None else numpy_of_torch().ndarray(result)

    return call


def _tensors_in(value: Any) -> Any:
    ndarray = numpy_of_torch().ndarray
    if isinstance(value, list) and any(isinstance(item, ndarray) for item in value):
        return [_tensors_in(item) for item in value]
    if isinstance(value, ndarray):
        return value.tensor
    return torch.as_tensor(value, dtype=torch_type(new_array(value).dtype))


def _copyto(target: Any, source: Any, casting: str = "same_kind", where: Any = None) -> None:
    value = source.to(target.dtype)
    target.copy_(value if where is None else torch.where(where, value, target))


def _putmask(target: Any, mask: Any, values: Any) -> None:
    flat, count = values.flatten().to(target.dtype), target.numel()
    repeated = flat.repeat(-(-count // max(flat.numel(), 1)))[:count].view(target.shape)
    target.copy_(torch.where(mask.bool(), repeated, target))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if ord is None and axis is None:
        return torch.linalg.vector_norm(x, keepdim=keepdims)
    return torch.linalg.norm(x, ord=ord, dim=axis, keepdim=keepdims)


def _convolve(a: Any, v: Any, mode: str = "full") -> Any:
    signal, kernel = (a, v) if a.numel() >= v.numel() else (v, a)
    count, taps = signal.numel(), kernel.numel()
    if taps > _MOST_TAPS:
        return numpy_of_torch().convolve(a, v, mode).tensor
    padded = torch.nn.functional.pad(signal, (taps - 1, taps - 1))
    parts = [padded.narrow(0, taps - 1 - k, count + taps - 1) * kernel[k] for k in range(taps)]
    begin, length = {
        "full": (0, count + taps - 1),
        "same": ((taps - 1) // 2, count),
        "valid": (taps - 1, count - taps + 1),
    }[mode]
    return functools.reduce(torch.add, parts).narrow(0, begin, length)


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    at, known, value = x.double(), xp.double(), fp.double()
    i = torch.searchsorted(known, at.contiguous(), right=True).clamp(1, known.numel() - 1)
    slope = (value[i] - value[i - 1]) / (known[i] - known[i - 1])
    result = value[i - 1] + slope * (at - known[i - 1])
    result = torch.where(at < known[0], value[0] if left is None else left.double(), result)
    result = torch.where(at == known[-1], value[-1], result)
    return torch.where(at > known[-1], value[-1] if right is None else right.double(), result)


def _select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    result = _tensors_in(default)
    for condition, choice in zip(reversed([*conditions]), reversed([*choices]), strict=True):
        result = torch.where(condition, choice, result)
    return result


def _unwrap(p: Any, *, axis: int = -1, period: float = 2 * np.pi) -> Any:
    steps = torch.diff(p, dim=axis)
    low = -period / 2
    wrapped = torch.remainder(steps - low, period) + low
    wrapped = torch.where((wrapped == low) & (steps > 0), period / 2, wrapped)
    correction = torch.where(steps.abs() < period / 2, 0.0, wrapped - steps)
    rest = p.narrow(axis, 1, p.shape[axis] - 1) + correction.cumsum(axis)
    return torch.cat([p.narrow(axis, 0, 1), rest], axis)


def _polyval(p: Any, x: Any) -> Any:
    result = torch.zeros_like(x)
    for i in range(p.shape[0]):
        result = result * x + p[i]
    return result


def _trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    if x is None:
        return torch.trapezoid(y, dx=dx, dim=axis)
    return torch.trapezoid(y, x, dim=axis)


def _without_nan(name: str, fill: float) -> Callable[..., Any]:
    """Return a function that replaces NaN, and only NaN, by another number."""

    def call(a: Any, axis: Any = None, **options: Any) -> Any:
        tnp = numpy_of_torch()
        missing = tnp.isnan(a)
        result = getattr(tnp, name)(tnp.where(missing, fill, a), axis=axis, **options)
        if np.isfinite(fill):
            return result
        return tnp.where(tnp.all(missing, axis=axis, **options), np.nan, result)

    return call


def _reduction(name: str, ufunc: str, identity: Any) -> Callable[..., Any]:
    """Return a reduction that also supports ``initial=`` and ``where=``."""

    def call(a: Any, *args: Any, initial: Any = None, where: Any = None, **options: Any) -> Any:
        tnp = numpy_of_torch()
        if where is not None:
            a = tnp.where(where, a, identity if initial is None else initial)
        result = getattr(tnp, name)(a, *args, **options)
        return result if initial is None else getattr(tnp, ufunc)(result, initial)

    return call


def _running(name: str) -> Callable[..., Any]:
    """Return a cumulative sum or product, also for bools."""

    def call(a: Any, *args: Any, **options: Any) -> Any:
        tnp = numpy_of_torch()
        return getattr(tnp, name)(a.astype(int) if a.dtype == bool else a, *args, **options)

    return call


def _moving(function: Callable[..., Any], *parameters: str) -> Callable[..., Any]:
    """Return a function of tensors for a NumPy function that only moves elements.

    It applies the NumPy function to numbered elements, to find their new positions.
    """
    signature = inspect.signature(function)

    def call(*args: Any, **options: Any) -> Any:
        bound = signature.bind(*args, **options)
        found = {name: _tensors_in(bound.arguments[name]) for name in parameters}
        count = 0
        for name, tensor in found.items():
            places = np.arange(count, count + tensor.numel()).reshape(tensor.shape)
            bound.arguments[name] = places
            count += tensor.numel()
        places = function(*bound.args, **bound.kwargs)
        elements = torch.cat([tensor.reshape(-1) for tensor in found.values()])
        return numpy_of_torch().ndarray(elements[torch.tensor(places.tolist(), dtype=torch.int64)])

    return call


_pad_by_moving = _moving(np.pad, "array")


def _pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    moves = mode in ("edge", "reflect", "symmetric", "wrap")
    pad = _pad_by_moving if moves else numpy_of_torch().pad
    return pad(array, pad_width, mode, **options)


def _flat(a: Any, order: str = "C") -> Any:
    return a.T.ravel() if order == "F" else a.ravel(order)


def _nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    return torch.nanmean(a, axis, keepdims)


def _digitize(x: Any, bins: Any, right: bool = False) -> Any:
    return torch.searchsorted(bins, x.contiguous(), right=not right)


#: Functions that are implemented here, by NumPy name. They take and return arrays of
#: ``torch._numpy``.
_own: dict[str, Callable[..., Any]] = {
    "amax": _reduction("max", "maximum", -np.inf),
    "amin": _reduction("min", "minimum", np.inf),
    "astype": lambda a, dtype, *_, **__: a.astype(dtype),  # NumPy itself handles copying
    "cbrt": _on_tensors(lambda x: x.sign() * x.abs().pow(1.0 / 3.0), "x"),
    "compress": _moving(np.compress, "a"),
    "convolve": _on_tensors(_convolve, "a", "v"),
    "copy": _on_tensors(lambda a, order="K", subok=False: a.clone(), "a"),
    "copyto": _on_tensors(_copyto, "target", "source", "where"),
    "cumprod": _running("cumprod"),
    "cumsum": _running("cumsum"),
    "delete": _moving(np.delete, "arr"),
    "digitize": _on_tensors(_digitize, "x", "bins"),
    "flatten": _flat,
    "insert": _moving(np.insert, "arr", "values"),
    "interp": _on_tensors(_interp, "x", "xp", "fp", "left", "right"),
    "matrix_transpose": _on_tensors(lambda x: x.transpose(-1, -2), "x"),
    "modf": lambda x: (numpy_of_torch().fmod(x, 1), numpy_of_torch().trunc(x)),
    "nancumsum": _without_nan("cumsum", 0.0),
    "nanmax": _without_nan("max", -np.inf),
    "nanmean": _on_tensors(_nanmean, "a"),
    "nanmin": _without_nan("min", np.inf),
    "nanprod": _without_nan("prod", 1.0),
    "nansum": _without_nan("sum", 0.0),
    "norm": _on_tensors(_norm, "x"),
    "pad": _pad,
    "polyval": _on_tensors(_polyval, "p", "x"),
    "prod": _reduction("prod", "multiply", 1),
    "putmask": _on_tensors(_putmask, "target", "mask", "values"),
    "ravel": _flat,
    "select": _on_tensors(_select, "conditions", "choices"),
    "sum": _reduction("sum", "add", 0),
    "trapezoid": _on_tensors(_trapezoid, "y", "x"),
    "unwrap": _on_tensors(_unwrap, "p"),
    "vecdot": _on_tensors(lambda a, b, axis=-1: torch.linalg.vecdot(a, b, dim=axis), "a", "b"),
}
_own |= {"max": _own["amax"], "min": _own["amin"], "vector_norm": _own["norm"]}
