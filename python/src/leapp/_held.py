"""What objects hold, kind by kind: to look at around a node, or to put back after a call."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from types import CellType, FunctionType, MemberDescriptorType, MethodType
from typing import Any


class Fields(MutableMapping[str, Any]):
    """Variables that lie in no dict, as if they did: cells of a closure, slots of an object."""

    def __init__(self, fields: Mapping[str, tuple[Any, Any]]) -> None:
        self._fields = fields  # by name: the descriptor of it, and what has it

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._fields if name in self)  # others are not filled yet

    def __len__(self) -> int:
        return len(list(self))

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


def cells_of(function: FunctionType) -> Fields:
    """Return the variables that a function shares with the one around it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return Fields({name: (CellType.cell_contents, cell) for name, cell in cells})


def attributes_of(value: Any) -> list[dict[str, Any] | Fields]:
    """Return an object's attributes, by dict and by slots, running no code of its own."""
    found: list[dict[str, Any] | Fields] = []
    with contextlib.suppress(AttributeError, TypeError):
        attributes = object.__getattribute__(value, "__dict__")
        found += [attributes] if isinstance(attributes, dict) else []
    if slots := _slots_of(type(value)):
        found.append(Fields({name: (slot, value) for name, slot in slots.items()}))
    return found


@functools.cache
def _slots_of(kind: type) -> dict[str, MemberDescriptorType]:
    parts = [vars(part) for part in kind.__mro__ if "__slots__" in vars(part)]
    items = [item for part in parts for item in part.items()]
    return {name: item for name, item in items if isinstance(item, MemberDescriptorType)}


def behind(value: Any) -> list[Any]:
    """Return what an object merely stands for, as a method does for a function of an object."""
    match value:
        case MethodType():
            return [value.__func__, value.__self__]
        case functools.partial():
            return [value.func, value.args, value.keywords]
        case weakref.ReferenceType():
            return [value()]
        case staticmethod() | classmethod():
            return [value.__func__]
        case property():
            return [value.fget, value.fset]
    return []
