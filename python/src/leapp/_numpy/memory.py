"""Memory of arrays, as far as PyTorch can describe it without their class."""

from __future__ import annotations

import contextlib
import functools
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from .. import _trace

#: Names in NumPy and PyTorch that create traced arrays during tracing.
new_array, new_empty, from_numpy = np.array, np.empty, torch.from_numpy

#: By the id of an array that owns memory, the array and the tensor over it. All tensors over that
#: memory share its storage, whichever part of it a node uses first. It stays known for the rest of
#: the session, because tensors for single operations are released before the next one.
_owners: dict[int, tuple[np.ndarray[Any, Any], torch.Tensor]] = {}


def reset() -> None:
    """Clear the memory of the previous session."""
    _owners.clear()


@functools.cache
def torch_type(dtype: np.dtype[Any]) -> torch.dtype:
    """Return PyTorch's name for an element type; raise TypeError if it has none."""
    if dtype.itemsize == 0:  # as np.broadcast_shapes() returns; PyTorch 2.7 divides by it
        raise TypeError(f"PyTorch has no type like {dtype}")
    with _trace.Unobserved():
        return from_numpy(new_empty(0, dtype)).dtype


def backwards_in(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Return the dimensions with negative strides."""
    return tuple(axis for axis, stride in enumerate(array.strides) if stride < 0)


@contextlib.contextmanager
def quietly(*, unobserved: bool) -> Iterator[None]:
    """Create tensors over read-only memory without a warning, because they are never written to."""
    with warnings.catch_warnings(), _trace.Unobserved() if unobserved else contextlib.nullcontext():
        warnings.simplefilter("ignore", UserWarning)
        yield


def owner_of(array: np.ndarray[Any, Any]) -> Any:
    """Return the tensor that owns an array's memory, or else the array of which it is a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.base if isinstance(array.base, torch.Tensor) else array


def covers(tensor: torch.Tensor, array: np.ndarray[Any, Any]) -> bool:
    """Return whether the tensor is over exactly the array's elements."""
    try:
        same_type = torch_type(array.dtype) == tensor.dtype
    except TypeError:  # a type that PyTorch does not support
        same_type = False
    if not same_type or tuple(tensor.shape) != array.shape:
        return False
    same_place = torch._C.TensorBase.data_ptr(tensor) == array.__array_interface__["data"][0]
    return not array.size or (same_place and laid_out_alike(tensor, array))


def laid_out_alike(tensor: torch.Tensor, array: np.ndarray[Any, Any]) -> bool:
    """Return whether a tensor with the array's shape has the same element order in memory."""
    return not array.size or all(
        stride * array.itemsize == step or size == 1
        for stride, step, size in zip(tensor.stride(), array.strides, array.shape, strict=True)
    )


def layout_in(
    tensor: torch.Tensor, array: np.ndarray[Any, Any]
) -> tuple[tuple[int, ...], list[int], int] | None:
    """Return shape, strides and offset of an array in a tensor's memory, or None."""
    size = array.itemsize
    if not size or any(step < 0 or step % size for step in array.strides):
        return None
    with _trace.Unobserved():
        memory = tensor.untyped_storage()
        distance = array.__array_interface__["data"][0] - memory.data_ptr()
        if not 0 <= distance < max(memory.nbytes(), 1) or distance % size:
            return None
    return array.shape, [step // size for step in array.strides], distance // size


def keep(array: np.ndarray[Any, Any]) -> None:
    """Keep a tensor over the memory of a NumPy array, so that passes can recognise the array."""
    owner = owner_of(array)
    if isinstance(owner, np.ndarray) and id(owner) not in _owners:
        # PyTorch may not support its type or layout.
        with quietly(unobserved=True), contextlib.suppress(TypeError, ValueError):
            _owners[id(owner)] = (owner, from_numpy(owner))


def is_followed(array: np.ndarray[Any, Any]) -> bool:
    """Return whether the array is in memory of a tensor, or of an array that is kept."""
    owner = owner_of(array)
    return isinstance(owner, torch.Tensor) or id(owner) in _owners


def tensor_of_memory(array: np.ndarray[Any, Any]) -> torch.Tensor | None:
    """Return a tensor over an array in memory of a tensor, or of an array that is kept."""
    owner = owner_of(array)
    if not isinstance(owner, torch.Tensor):
        owner = _owners.get(id(owner), (None, None))[1]
    if owner is None or (layout := layout_in(owner, array)) is None:
        return None
    shape, steps, begin = layout
    with _trace.Unobserved():
        made = torch.empty(0, dtype=torch_type(array.dtype))
        return made.set_(owner.untyped_storage(), begin, shape, steps)
