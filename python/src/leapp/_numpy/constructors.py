"""Constructors of arrays and tensors during tracing: traced values give traced results.

For traced lists and tensors, PyTorch assembles the array for NumPy's constructors. Constants that
they create inside a node are in memory that belongs to the node.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.jit import _builtins

from .. import _trace
from .._function_patches import Patch, replaced
from . import foreign
from .arrays import (
    ARRAYS,
    Traced,
    TracedArray,
    array_of,
    attached,
    fresh,
    is_traced,
    plain,
    to_tensor,
    to_used_tensor,
)
from .calls import Call
from .lists import LISTS, leaves, mapped, may_hold_traced
from .memory import backwards_in, torch_type


def patches() -> Iterator[Patch]:
    constructors = "array asarray asanyarray ascontiguousarray asfortranarray"
    yield replaced(np, constructors, _array_constructor)
    yield replaced(np, "zeros ones empty eye identity arange linspace", _constant_constructor)
    yield replaced(np, "full", _full_constructor)
    yield replaced(np, "from_dlpack", _from_dlpack)
    yield _known_to_scripts(replaced(torch, "tensor as_tensor", _tensor_constructor))
    yield _known_to_scripts(replaced(torch, "from_numpy", _from_numpy))
    yield replaced(torch, "asarray frombuffer from_dlpack", _other_constructor)
    yield replaced(torch.Tensor, "new_tensor", _new_tensor)
    yield replaced(torch.Tensor, "__init__", _initialised)


def _known_to_scripts(patch: Patch) -> Patch:
    """Let TorchScript treat a replacement as the operator when it compiles a function."""
    table: dict[int, str] = _builtins._get_builtin_table()  # type: ignore[no-untyped-call]
    for call in patch[1].values():
        table[id(call)] = table[id(call.__wrapped__)]
    return patch


def _array_constructor(original: Any, *args: Any, **options: Any) -> Any:
    """Call NumPy's ``array`` or a similar function; traced values stay traced."""
    if not args:
        return original(*args, **options)
    made: Any
    data = args[0]
    if type(data) is np.ndarray:
        made = original(*args, **options)
        # A copy inside a node is recorded, because traced values may be written to it.
        if not _trace.any_open() or np.may_share_memory(made, data):
            return made
    elif not may_hold_traced(data):
        made = original(*args, **options)
        # An object with __array__ or __array_interface__ may expose traced memory, as as_strided()
        # does.
        if type(made) is not np.ndarray or made.flags.owndata:
            array = fresh(made)
            for leaf in leaves(data) if isinstance(array, TracedArray) else ():
                foreign.check(leaf, to_tensor(array))
            return array
        over = getattr(getattr(data, "base", None), "_tensor", None)
        return made if over is None and not is_traced(made) else attached(made, over)
    if isinstance(data, torch.Tensor):
        if not _trace.any_open() and not is_traced(data):
            return original(*args, **options)
        data = data.numpy()
    name = "An array made of a list" if isinstance(data, LISTS) else f"np.{original.__name__}"

    def construct(*args: Any, **options: Any) -> Any:
        nonlocal made
        made = original(*args, **options)
        return made

    def stack(data: Any, *_: Any, **__: Any) -> torch.Tensor:
        # NumPy's own result shows the effect on type, order and dimensions.
        return _stack(data, torch_type(made.dtype))

    return Call(name, construct, stack, (array_of(data), *args[1:]), options).compute()


def _constant_constructor(original: Any, *args: Any, **options: Any) -> Any:
    made = original(*args, **options)
    if original.__name__ == "empty" and made.dtype.kind in "iufc" and _trace.any_open():
        # Memory that is used again may already contain what compiled code writes to it.
        made.ravel(order="K").view(np.uint8).fill(0xA5)
    return mapped(fresh, made)


def _full_constructor(
    original: Any, shape: Any, fill_value: Any, dtype: Any = None, **options: Any
) -> Any:
    if not isinstance(fill_value, Traced) and not is_traced(fill_value):
        return fresh(original(shape, fill_value, dtype, **options))
    fill_value = np.asarray(fill_value)  # a tensor has no NumPy type
    result = np.empty(shape, fill_value.dtype if dtype is None else dtype, **options)
    result[...] = fill_value
    return result


def _tensor_constructor(original: Any, *args: Any, **options: Any) -> Any:
    """Call ``torch.tensor`` or ``torch.as_tensor``; traced values in lists stay traced."""
    data = args[0] if args else options.get("data")
    # Elements of arrays may be state in its first pass.
    if (
        isinstance(data, torch.Tensor)
        or not may_hold_traced(data)
        or not any(isinstance(leaf, Traced) or is_traced(leaf) for leaf in leaves(data))
    ):
        made = original(*args, **options)
        if not _trace.any_open():
            if isinstance(data, np.ndarray):
                _trace.note_made(made)
            return made
        for leaf in leaves(data):
            if isinstance(leaf, (np.ndarray, np.generic)):
                foreign.check(leaf, made)
        return made
    with _trace.Unobserved():  # raises the same error as without LEAPP
        options.pop("data", None)
        made = original(mapped(plain, data), *args[1:], **options)
    stacked = _stacked(data, made)
    if stacked is None:
        return original(data, *args[1:], **options)  # reads numbers, each with its warning
    if original.__name__ == "tensor" and isinstance(data, Traced):
        stacked = stacked.detach().clone()
    return stacked.requires_grad_() if options.get("requires_grad") else stacked


def _from_numpy(original: Any, array: Any) -> Any:
    if _trace.any_open():
        if isinstance(array, TracedArray) and not backwards_in(array):
            return to_used_tensor(array).detach()  # which the recorder sees at its creation
        made = original(array)
        foreign.check(array, made)
        return made
    made = original(array)
    _trace.note_made(made)
    return made


def _other_constructor(original: Any, *args: Any, **options: Any) -> Any:
    """Call another constructor of tensors; arrays of other code are reported."""
    made = original(*args, **options)
    _check_data(args[0] if args else next(iter(options.values()), None), made)
    return made


def _new_tensor(original: Any, self: torch.Tensor, *args: Any, **options: Any) -> Any:
    made = original(self, *args, **options)
    _check_data(args[0] if args else options.get("data"), made)
    return made


def _initialised(_original: Any, made: torch.Tensor, *args: Any, **_: Any) -> None:
    """Check the data of ``torch.Tensor(data)``, which ``__new__`` has copied."""
    if args:
        _check_data(args[0], made)


def _check_data(data: Any, made: torch.Tensor) -> None:
    """Report data of other code that a constructor has copied or shares."""
    if not _trace.any_open():
        return
    for leaf in leaves(data):
        if not isinstance(leaf, (torch.Tensor, Traced)):
            foreign.check(leaf, made)


def _from_dlpack(original: Any, given: Any, /, **options: Any) -> Any:
    array = original(given, **options)
    if isinstance(given, torch.Tensor) and (_trace.any_open() or is_traced(given)):
        return attached(array, given)
    return array


def _stacked(data: Any, made: torch.Tensor) -> torch.Tensor | None:
    """Return the result for a list or array, built from the values in it; None if that fails."""
    try:
        found = _stack(data, made.dtype).to(made.dtype).to(made.device)
        if found.shape != made.shape:
            found = found.reshape(made.shape)
    except (RuntimeError, TypeError):
        return None
    with _trace.Unobserved():
        same = torch.allclose(found.detach(), made.detach(), rtol=0, atol=0, equal_nan=True)
    return found if same else None


def _stack(data: Any, dtype: torch.dtype) -> torch.Tensor:
    """Return the items of a list or array, for a tensor of that type."""
    if isinstance(data, LISTS):
        items = [_stack(item, dtype) for item in data]
        if len({item.dtype for item in items}) > 1:
            items = [item.to(dtype) for item in items]
        return torch.stack(items)
    data = getattr(data, "tensor", data)  # for arrays of torch._numpy
    return (
        to_used_tensor(data) if isinstance(data, ARRAYS) else torch.scalar_tensor(data, dtype=dtype)
    )
