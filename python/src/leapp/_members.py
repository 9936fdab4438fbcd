"""Values that objects hold, by type of object."""

from __future__ import annotations

import array
import collections
import contextlib
import functools
import queue
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import partial
from typing import Any

import numpy as np
import torch


class Fields(MutableMapping[str, Any]):
    """Variables that are not in a dict, with the interface of one: cells of a closure, slots."""

    def __init__(self, fields: Mapping[str, tuple[Any, Any]]) -> None:
        self._fields = fields  # by name: the descriptor and its owner

    def now(self) -> dict[str, Any]:
        """Return their values, without those that are not set yet."""
        found: dict[str, Any] = {}
        for name, (descriptor, owner) in self._fields.items():
            try:
                found[name] = descriptor.__get__(owner)
            except (AttributeError, ValueError):
                continue
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.now())

    def __len__(self) -> int:
        return len(self.now())

    def __getitem__(self, name: str) -> Any:
        descriptor, owner = self._fields[name]
        try:
            return descriptor.__get__(owner)
        except (AttributeError, ValueError) as error:
            raise KeyError(name) from error

    def __setitem__(self, name: str, value: Any) -> None:
        descriptor, owner = self._fields[name]
        descriptor.__set__(owner, value)

    def __delitem__(self, name: str) -> None:
        descriptor, owner = self._fields[name]
        descriptor.__delete__(owner)


#: Types whose values contain nothing that can change.
IMMUTABLE = (
    bool, int, float, complex, str, bytes, types.NoneType, types.EllipsisType, range, slice,
    torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format, np.dtype, np.generic,
    types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType,
    types.ClassMethodDescriptorType, types.GetSetDescriptorType, types.MemberDescriptorType,
    types.MethodWrapperType,
)  # fmt: skip
#: Types of the functions of a class.
FUNCTIONS = (types.FunctionType, staticmethod, classmethod, property)
#: Python's own lists and similar containers.
LISTS = (list, collections.deque, bytearray, array.array, tuple, set)


def is_a(value: Any, kinds: tuple[type, ...]) -> bool:
    """Return whether a value is of these types, whatever class it claims to have."""
    return issubclass(type(value), kinds)


def plain_kind(container: Any) -> Any:
    """Return the class whose methods to call: Python's own, not those of a subclass."""
    kinds = (kind for kind in (dict, *LISTS) if is_a(container, (kind,)))
    return next(kinds, type(container))


def items_of(container: Any) -> Iterator[Any]:
    """Return the items of a list, or the keys of a dict."""
    found: Iterator[Any] = plain_kind(container).__iter__(container)
    return found


def cells_of(function: types.FunctionType) -> Fields:
    """Return the variables that a function shares with the enclosing one, without super()'s."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells.pop("__class__", None)
    return Fields({name: (types.CellType.cell_contents, cell) for name, cell in cells.items()})


def attributes_of(value: Any) -> list[dict[str, Any] | Fields]:
    """Return an object's attributes from its dict and slots, without running its code."""
    found: list[dict[str, Any] | Fields] = []
    with contextlib.suppress(AttributeError, TypeError):
        attributes = object.__getattribute__(value, "__dict__")
        found += [attributes] if isinstance(attributes, dict) else []
    if slots := _slots_of(type(value)):  # type: ignore[arg-type]
        found.append(Fields({name: (slot, value) for name, slot in slots.items()}))
    return found


@functools.cache
def _slots_of(kind: type) -> dict[str, types.MemberDescriptorType]:
    parts = [vars(part) for part in kind.__mro__ if "__slots__" in vars(part)]
    items = [item for part in parts for item in part.items()]
    return {name: item for name, item in items if isinstance(item, types.MemberDescriptorType)}


#: By type: the object inside a wrapper, such as the function of a bound method.
_WRAPPED: dict[type, Callable[[Any], list[Any]]] = {
    types.MethodType: lambda value: [value.__func__, value.__self__],
    partial: lambda value: [value.func, value.args, value.keywords],
    collections.ChainMap: lambda value: [value.maps],
    queue.Queue: lambda value: [value.queue],
    weakref.ReferenceType: lambda value: [value()],
    weakref.WeakKeyDictionary: lambda value: [value.data],
    threading.local: lambda value: [value.__dict__],
    staticmethod: lambda value: [value.__func__],
    classmethod: lambda value: [value.__func__],
    property: lambda value: [value.fget, value.fset],
}
STANDING = tuple(_WRAPPED)


def wrapped_objects(value: Any) -> list[Any]:
    """Return the object inside a wrapper; nothing for other objects."""
    return next((of(value) for kind, of in _WRAPPED.items() if isinstance(value, kind)), [])
