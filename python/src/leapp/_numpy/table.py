"""Which PyTorch function computes what a NumPy function does.

PyTorch brings NumPy-compatible functions under the same names; this table adds what they leave out.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

#: Functions that look at shapes and types, not at values.
NOT_VALUES: frozenset[Any] = frozenset(
    getattr(np, name)
    for name in (
        "shape ndim size result_type can_cast common_type min_scalar_type iscomplexobj isrealobj "
        "may_share_memory shares_memory array_repr array_str array2string"
    ).split()
)

#: Functions that write to their first argument.
WRITERS: frozenset[Any] = frozenset(
    getattr(np, name) for name in "copyto put put_along_axis place putmask fill_diagonal".split()
)

#: Functions that take several arrays in a list.
TAKE_LISTS: frozenset[Any] = frozenset(
    getattr(np, name)
    for name in "choose column_stack concatenate dstack hstack lexsort select stack vstack".split()
) | {np.linalg.multi_dot}

#: Functions whose lists are no arrays, and hold none.
TAKE_OTHER_LISTS: frozenset[Any] = frozenset(
    getattr(np, name) for name in "block piecewise save savez savez_compressed".split()
)

#: What ``ufunc.reduce`` and ``ufunc.accumulate`` are called.
_REDUCE = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "amax",
    "minimum": "amin",
    "logical_and": "all",
    "logical_or": "any",
}
#: The longest kernel that is written out, term by term: ONNX Runtime convolves no float64.
_MOST_TAPS = 64
_ACCUMULATE = {"add": "cumsum", "multiply": "cumprod"}


@functools.cache
def numpy_of_torch() -> Any:
    """Return the NumPy-compatible functions that PyTorch brings; they come without types."""
    return importlib.import_module("torch._numpy")


@functools.cache
def torch_function(function: Any, method: str = "__call__") -> Callable[..., Any] | None:
    """Return the PyTorch function that takes the same arguments, or None.

    It takes and returns arrays of ``torch._numpy``.

    Args:
        function: A NumPy function or ufunc.
        method: For ufuncs: ``__call__``, ``reduce``, ``accumulate`` or ``outer``.
    """
    tnp = numpy_of_torch()
    name = function.__name__
    own = _own_functions()
    if method == "__call__":
        if name in own:
            return own[name]
        module: Any = tnp
        for part in str(getattr(function, "__module__", "numpy") or "numpy").split(".")[1:]:
            module = getattr(module, part, None) if not part.startswith("_") else module
        found = getattr(module, name, None)
        return found if callable(found) and not isinstance(found, type) else None
    if method == "reduce" and name in _REDUCE:
        reduce = getattr(tnp, _REDUCE[name])
        return lambda a, axis=0, dtype=None, **options: reduce(
            a, axis=axis, **({} if dtype is None else {"dtype": dtype}), **options
        )
    if method == "accumulate" and name in _ACCUMULATE:
        accumulate = getattr(tnp, _ACCUMULATE[name])
        return lambda a, axis=0, dtype=None: accumulate(a, axis=axis, dtype=dtype)
    if method == "outer":
        call = torch_function(function)
        if call is not None:
            return lambda a, b: call(a.reshape(a.shape + (1,) * b.ndim), b)
    return None


def torch_method(name: str) -> Callable[..., Any] | None:
    """Return the PyTorch equivalent of that method of ``numpy.ndarray``, or None."""
    found: Callable[..., Any] | None = getattr(numpy_of_torch().ndarray, name, None)
    if name == "astype" and found is not None:
        convert = found
        return lambda a, dtype, *options, **more: convert(
            a, dtype
        )  # how to copy is NumPy's business
    return found


@functools.cache
def _own_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions written here, by NumPy's name."""
    tnp = numpy_of_torch()

    def wrap(tensor: torch.Tensor) -> Any:
        return tnp.ndarray(tensor)

    def tensor_of(value: Any) -> torch.Tensor:
        return value.tensor if isinstance(value, tnp.ndarray) else torch.as_tensor(value)

    def copyto(target: Any, source: Any, casting: str = "same_kind", where: Any = True) -> None:
        value = tensor_of(source).to(target.tensor.dtype)
        if where is not True:
            value = torch.where(tensor_of(where), value, target.tensor)
        target.tensor.copy_(value)

    def putmask(target: Any, mask: Any, values: Any) -> None:
        flat = tensor_of(values).flatten().to(target.tensor.dtype)
        count = target.tensor.numel()
        repeated = flat.repeat(-(-count // max(flat.numel(), 1)))[:count].view(target.tensor.shape)
        target.tensor.copy_(torch.where(tensor_of(mask).bool(), repeated, target.tensor))

    def cross(
        a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
    ) -> Any:
        if axis is not None:
            axisa = axisb = axisc = axis
        x, y = (t.movedim(d, -1) for t, d in ((tensor_of(a), axisa), (tensor_of(b), axisb)))
        return wrap(torch.linalg.cross(x, y, dim=-1).movedim(-1, axisc))

    def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
        tensor = tensor_of(x)
        if ord is None and axis is None:
            result = torch.linalg.vector_norm(tensor)
            return wrap(result.reshape((1,) * tensor.ndim) if keepdims else result)
        return wrap(torch.linalg.norm(tensor, ord=ord, dim=axis, keepdim=keepdims))

    def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
        tensor = tensor_of(a)
        shape = list(tensor.shape)
        shape[axis] = 1
        edges = [None if e is None else tensor_of(e) for e in (prepend, append)]
        first, last = (e.expand(shape) if e is not None and e.ndim == 0 else e for e in edges)
        return wrap(torch.diff(tensor, n, axis, prepend=first, append=last))

    def convolve(a: Any, v: Any, mode: str = "full") -> Any:
        signal, kernel = tensor_of(a), tensor_of(v)
        if signal.numel() < kernel.numel():
            signal, kernel = kernel, signal
        count, taps = signal.numel(), kernel.numel()
        if taps > _MOST_TAPS:
            return tnp.convolve(a, v, mode)
        padded = torch.nn.functional.pad(signal, (taps - 1, taps - 1))
        parts = [padded.narrow(0, taps - 1 - k, count + taps - 1) * kernel[k] for k in range(taps)]
        begin, length = {
            "full": (0, count + taps - 1),
            "same": ((taps - 1) // 2, count),
            "valid": (taps - 1, count - taps + 1),
        }[mode]
        return wrap(functools.reduce(torch.add, parts).narrow(0, begin, length))

    def interp(
        x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
    ) -> Any:
        if period is not None:
            raise NotImplementedError("interp with a period")
        at, known, value = tensor_of(x).double(), tensor_of(xp).double(), tensor_of(fp).double()
        i = torch.searchsorted(known, at.contiguous(), right=True).clamp(1, known.numel() - 1)
        slope = (value[i] - value[i - 1]) / (known[i] - known[i - 1])
        result = value[i - 1] + slope * (at - known[i - 1])
        low = value[0] if left is None else tensor_of(left).double()
        high = value[-1] if right is None else tensor_of(right).double()
        result = torch.where(at < known[0], low, result)
        return wrap(
            torch.where(at > known[-1], high, torch.where(at == known[-1], value[-1], result))
        )

    def select(conditions: Any, choices: Any, default: Any = 0) -> Any:
        result = tensor_of(default)
        for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
            result = torch.where(tensor_of(condition), tensor_of(choice), result)
        return wrap(result)

    def unwrap(p: Any, discont: Any = None, axis: int = -1, *, period: float = 2 * np.pi) -> Any:
        if discont is not None:
            raise NotImplementedError("unwrap with a discontinuity")
        phase = tensor_of(p)
        steps = torch.diff(phase, dim=axis)
        low = -period / 2
        wrapped = torch.remainder(steps - low, period) + low
        wrapped = torch.where((wrapped == low) & (steps > 0), period / 2, wrapped)
        correction = torch.where(steps.abs() < period / 2, 0.0, wrapped - steps)
        first = phase.narrow(axis, 0, 1)
        rest = phase.narrow(axis, 1, phase.shape[axis] - 1) + correction.cumsum(axis)
        return wrap(torch.cat([first, rest], axis))

    def digitize(x: Any, bins: Any, right: bool = False) -> Any:
        return wrap(torch.searchsorted(tensor_of(bins), tensor_of(x).contiguous(), right=not right))

    def polyval(p: Any, x: Any) -> Any:
        coefficients, at = tensor_of(p), tensor_of(x)
        result = torch.zeros_like(at)
        for i in range(coefficients.shape[0]):
            result = result * at + coefficients[i]
        return wrap(result)

    def nan_free(function: Callable[..., Any], fill: float) -> Callable[..., Any]:
        def call(a: Any, axis: Any = None, **options: Any) -> Any:
            tensor = tensor_of(a)
            filled = torch.where(torch.isnan(tensor), torch.full_like(tensor, fill), tensor)
            return function(wrap(filled), axis=axis, **options)

        return call

    def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return wrap(torch.nanmean(tensor_of(a), dim=axis, keepdim=keepdims))

    def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
        if x is None:
            return wrap(torch.trapezoid(tensor_of(y), dx=dx, dim=axis))
        return wrap(torch.trapezoid(tensor_of(y), tensor_of(x), dim=axis))

    def linear(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*values: Any, **options: Any) -> Any:
            return wrap(function(*map(tensor_of, values), **options))

        return call

    def cbrt(x: Any) -> Any:
        value = tensor_of(x)
        return wrap(value.sign() * value.abs().pow(1.0 / 3.0))

    def vecdot(a: Any, b: Any, axis: int = -1) -> Any:
        return wrap(torch.linalg.vecdot(tensor_of(a), tensor_of(b), dim=axis))

    return {
        "acos": tnp.arccos,
        "acosh": tnp.arccosh,
        "asin": tnp.arcsin,
        "asinh": tnp.arcsinh,
        "atan": tnp.arctan,
        "atan2": tnp.arctan2,
        "atanh": tnp.arctanh,
        "bitwise_invert": tnp.invert,
        "cbrt": cbrt,
        "concat": tnp.concatenate,
        "convolve": convolve,
        "copyto": copyto,
        "cross": cross,
        "diff": diff,
        "digitize": digitize,
        "interp": interp,
        "matrix_transpose": linear(lambda x: x.transpose(-1, -2)),
        "nancumsum": nan_free(tnp.cumsum, 0.0),
        "nanmax": nan_free(tnp.amax, -np.inf),
        "nanmean": nanmean,
        "nanmin": nan_free(tnp.amin, np.inf),
        "nanprod": nan_free(tnp.prod, 1.0),
        "nansum": nan_free(tnp.sum, 0.0),
        "norm": norm,
        "permute_dims": tnp.transpose,
        "polyval": polyval,
        "pow": tnp.power,
        "putmask": putmask,
        "select": select,
        "trapezoid": trapezoid,
        "unwrap": unwrap,
        "vecdot": vecdot,
        "vector_norm": norm,
    }
