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
    numbers = [item for item in items if _is_number(item)]
    if not numbers:
        return None
    rest = [slice(None) if _is_number(item) else item for item in items]
    if not all(item is None or isinstance(item, int | slice | EllipsisType) for item in rest):
        return None
    return rest, numbers


def _dimensions(index: Any, ndim: int) -> list[int]:
    """Where those numbers' dimensions are after the rest of the index was applied."""
    items = list(index) if isinstance(index, tuple) else [index]
    taken = sum(1 for item in items if item is not None and item is not Ellipsis)
    places: list[int] = []
    at = 0
    for item in items:
        if item is Ellipsis:
            at += ndim - taken
        elif _is_number(item):
            places.append(at)
            at += 1
        elif item is None or isinstance(item, slice):
            at += 1
    return places


def get(tensor: torch.Tensor, index: Any, rest: list[Any], numbers: list[torch.Tensor]) -> Any:
    """``tensor[index]``."""
    result = tensor[tuple(rest)]
    # From the last dimension on, so that the earlier places stay what they are.
    for place, number in reversed(
        list(zip(_dimensions(index, tensor.dim()), numbers, strict=True))
    ):
        wrapped = _non_negative(number, result.shape[place])
        result = result.index_select(place, wrapped).squeeze(place)
    _trace.pick(result)  # plain indexing gives a view
    return result


def put(
    tensor: torch.Tensor, index: Any, rest: list[Any], numbers: list[torch.Tensor], value: Any
) -> None:
    """``tensor[index] = value``."""
    view = tensor[tuple(rest)]
    places = _dimensions(index, tensor.dim())
    indices: list[torch.Tensor | None] = [None] * view.dim()
    shape = list(view.shape)
    for place, number in zip(places, numbers, strict=True):
        indices[place] = _non_negative(number, view.shape[place])
    for place in reversed(places):
        del shape[place]
    if isinstance(value, torch.Tensor):
        _trace.put_back(value)  # tensor[number] += 1
    else:
        value = torch.tensor(value, dtype=view.dtype, device=view.device)
    value = value.to(view.dtype).expand(shape)
    if places[-1] - places[0] == len(places) - 1:
        value = value.unsqueeze(places[0])  # the numbers broadcast to one dimension, in place
    else:
        value = value.unsqueeze(0)
    torch.ops.aten.index_put_(view, indices, value)


def _non_negative(number: torch.Tensor, size: int) -> torch.Tensor:
    number = number.to(torch.int64).reshape(1)
    return torch.where(number < 0, number + size, number)
