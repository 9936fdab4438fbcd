"""Indexing by a number that may vary: ``ring[head]`` where ``head`` is a 0-d integer tensor.

PyTorch reads such an index as a Python number before any operator runs, so the number of the traced
pass would be exported. These functions say the same with operators that take the index as a tensor.
"""

from __future__ import annotations

from types import EllipsisType
from typing import Any

import torch

from . import _trace

_INTEGERS = frozenset((torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8))


def _is_number(item: Any) -> bool:
    return (
        isinstance(item, torch.Tensor)
        and item.dim() == 0
        and item.dtype in _INTEGERS
        and _trace.may_vary(item)
    )


def split(index: Any) -> tuple[list[Any], list[torch.Tensor]] | None:
    """Take the numbers that may vary out of an index.

    Returns the index with a full slice in their places, and the numbers, or None where nothing is
    to be done: no such number, or other tensors in the index, which PyTorch handles as tensors.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    rest: list[Any] = []
    numbers: list[torch.Tensor] = []
    for item in items:
        is_number = _is_number(item)  # which looks through what was recorded
        rest.append(slice(None) if is_number else item)
        if is_number:
            numbers.append(item)
    if not numbers:
        return None
    if not all(item is None or isinstance(item, int | slice | EllipsisType) for item in rest):
        return None
    return rest, numbers


def _dimensions(index: Any, numbers: list[torch.Tensor], ndim: int) -> list[int]:
    """Where those numbers' dimensions are after the rest of the index was applied."""
    items = list(index) if isinstance(index, tuple) else [index]
    taken = sum(1 for item in items if item is not None and item is not Ellipsis)
    places: list[int] = []
    at = 0
    for item in items:
        if item is Ellipsis:
            at += ndim - taken
        elif any(item is number for number in numbers):
            places.append(at)
            at += 1
        elif item is None or isinstance(item, slice):
            at += 1
    return places


def get(tensor: torch.Tensor, index: Any, rest: list[Any], numbers: list[torch.Tensor]) -> Any:
    """``tensor[index]``."""
    return _trace.pick(tensor[tuple(rest)], _dimensions(index, numbers, tensor.dim()), numbers)


def put(
    tensor: torch.Tensor, index: Any, rest: list[Any], numbers: list[torch.Tensor], value: Any
) -> None:
    """``tensor[index] = value``."""
    if isinstance(value, torch.Tensor):
        _trace.put_back(value, tensor, numbers)  # tensor[number] += 1
    view = tensor[tuple(rest)]
    places = _dimensions(index, numbers, tensor.dim())
    shape = [size for place, size in enumerate(view.shape) if place not in places]
    if not isinstance(value, torch.Tensor):
        value = torch.tensor(value, dtype=view.dtype, device=view.device)
    _trace.put(view, places, numbers, value.to(view.dtype).expand(shape))
