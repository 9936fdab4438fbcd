"""NumPy functions on lists of traced values.

NumPy lets arrays override its functions, but not lists that contain arrays: ``np.mean([a, b])``
copies their memory unnoticed. During tracing, a few functions therefore receive an array that is
built from the list.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

from .. import _trace
from .._function_patches import Patch, replaced
from .arrays import ARRAYS, Number, TracedArray, array_of, is_traced, note_escape
from .table import TAKE_LISTS, TAKE_OTHER_LISTS

#: Types that NumPy treats as a list of items.
LISTS = (list, tuple, collections.deque)


def patches() -> Iterator[Patch]:
    """Yield the patches: functions that are often called with a list of arrays.

    Lists that other functions receive are read unseen; their results count as foreign values.
    """
    yield replaced(np, "dot max mean min sum", _of_function)
    yield replaced(np.linalg, "norm", _of_function)
    yield replaced(np.vectorize, "__call__", _of_vectorize)
    yield replaced(type(np.r_).__base__, "__getitem__", _of_concatenator)  # also np.c_


def holds_traced(value: Any) -> bool:
    """Return whether the value, which may be nested, contains a traced value."""
    return any(map(is_traced, leaves(value)))


def _is_a(value: Any, kinds: tuple[type, ...]) -> bool:
    """Return whether a value is of these types, whatever class it claims to have."""
    return issubclass(type(value), kinds)


def leaves(value: Any, look: Callable[[Any], Sequence[Any]] | None = None) -> list[Any]:
    """Return the leaves of nested lists, tuples and dicts, which may contain themselves.

    `look` returns the items of a list, or the values of a dict.
    """
    found: list[Any] = []
    todo, seen = [value], set[int]()
    while todo:
        value = todo.pop()
        if not _is_a(value, (dict, *LISTS)):
            found.append(value)
        elif id(value) not in seen:
            seen.add(id(value))
            values = dict.values(value) if _is_a(value, (dict,)) else value
            todo += reversed(look(values) if look else [*_items_of(values)])
    return found


def _items_of(values: Any) -> Iterator[Any]:
    """Return the items of a list, without methods of a subclass."""
    kind = next((kind for kind in LISTS if _is_a(values, (kind,))), type(values))
    return iter(kind.__iter__(values))


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Apply the function to every leaf of nested lists, tuples and dicts."""
    if isinstance(value, LISTS):
        return like(value, [mapped(change, item) for item in value])
    if isinstance(value, dict):
        return {key: mapped(change, item) for key, item in value.items()}
    return change(value)


def like(value: Any, items: list[Any]) -> Any:
    """Return items as a tuple or list of the same class; named tuples keep their fields."""
    if not isinstance(value, tuple):
        return items
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def may_hold_traced(data: Any) -> bool:
    """Return whether the value may contain a traced value; fast for numbers."""
    if isinstance(data, LISTS):
        kinds = set(map(type, data))
        if not any(issubclass(kind, (*ARRAYS, *LISTS)) for kind in kinds):
            return False
    return any(isinstance(leaf, (TracedArray, Number, torch.Tensor)) for leaf in leaves(data))


def as_array(value: Any) -> Any:
    """Return a list that contains traced values as an array; anything else unchanged."""
    if type(value) in LISTS and may_hold_traced(value):
        return np.array(value)  # which is patched as well
    return value


def as_arrays(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a function's arguments, with arrays for lists that contain traced values."""
    if function in TAKE_LISTS:
        return tuple(
            like(value, [*map(as_array, value)]) if type(value) in LISTS else value
            for value in args
        )
    return args if function in TAKE_OTHER_LISTS else tuple(map(as_array, args))


def apply_along_axis(function: Any, axis: int, array: Any, *args: Any, **options: Any) -> Any:
    """Do the same as NumPy's function, on slices that stay traced."""
    slices = np.moveaxis(array, axis, -1)
    outer = slices.shape[:-1]
    items = np.array([function(slices[at], *args, **options) for at in np.ndindex(outer)])
    result = items.reshape((*outer, *items.shape[1:]))
    inner = [*range(len(outer), result.ndim)]
    return np.moveaxis(result, inner, [at - len(outer) + axis % array.ndim for at in inner])


def _of_function(original: Any, *args: Any, **options: Any) -> Any:
    return original(*map(as_array, args), **options)


def _of_concatenator(original: Any, self: Any, key: Any) -> Any:
    if _trace.any_open() and isinstance(key, tuple):
        key = tuple(array_of(as_array(item)) for item in key)
    return original(self, key)


def _of_vectorize(original: Any, self: Any, /, *args: Any, **options: Any) -> Any:
    args = tuple(map(as_array, args))
    traced = [value for value in args if isinstance(value, TracedArray)]
    if not _trace.any_open() or not traced:
        return original(self, *args, **options)
    shape = np.broadcast_shapes(*map(np.shape, args))
    if not options and self.signature is None and not self.excluded and 0 not in shape:
        spread = [np.broadcast_to(value, shape) for value in args]
        items = [self.pyfunc(*(value[at] for value in spread)) for at in np.ndindex(shape)]
        if not isinstance(items[0], tuple):
            dtype = self.otypes or getattr(items[0], "dtype", None) or np.array(items[0]).dtype
            return np.array(items).astype(dtype).reshape(shape)
    for value in filter(is_traced, traced):
        note_escape(value, "np.vectorize")
    return original(self, *args, **options)
