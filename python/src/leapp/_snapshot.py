"""What the program held at one moment, dict by dict and list by list, for detectors to compare."""

from __future__ import annotations

import array
import collections
import dataclasses
import datetime
import enum
import fractions
import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ._held import IMMUTABLE, LISTS, attributes_of, is_a, items_of, plain_kind
from ._numpy import ARRAYS, array_of, leaves

#: What a dict held, or a list: how much, and the first of it.
Copy = dict[Any, Any] | tuple[int, list[Any]]
#: No copies of lists, by their ids: what they hold now is meant.
NOW: Mapping[int, Any] = {}
#: So much of a list is looked at.
_MOST_ITEMS = 64

NUMBERS = (bool, int, float, np.integer, np.floating, np.bool_)
#: Types of values that hold nothing of a node's.
PASSIVE = frozenset((*IMMUTABLE, ModuleType))
_PLAIN = (*NUMBERS, complex, bytes, enum.Enum, fractions.Fraction, datetime.timedelta)
_MUTABLE = (list, collections.deque, bytearray, array.array)
#: Of these the length is all that is compared.
UNORDERED = (dict, set)
_NESTING = (dict, list, tuple, collections.deque)


def copy_of(values: Any) -> Copy:
    """Return what a holder's dict or list has in it now."""
    if type(values) is dict:  # most often
        return values.copy()
    if is_a(values, LISTS):
        length = plain_kind(values).__len__(values)
        return length, [] if is_a(values, (set,)) else _first_of(values)
    return dict(dict.items(values) if is_a(values, (dict,)) else values)


def _first_of(values: Iterable[Any]) -> list[Any]:
    return list(itertools.islice(items_of(values), _MOST_ITEMS))


def items_in(copy: Copy) -> Iterable[tuple[Any, Any]]:
    """Return (key or index, value) of what is in a copy."""
    return copy.items() if isinstance(copy, dict) else enumerate(copy[1])


class Holder(NamedTuple):
    """A dict of variables or attributes, or a list."""

    name: str  # of the object; empty for a module
    values: Any  # dict-like: attributes may be those of a class, or Fields
    #: The class or function whose code works with them, or the file of a module; None for a dict
    #: or list.
    of: Any

    def label(self, key: Any) -> str:
        """Return a name for what is held under a key."""
        if self.of is None:
            return f"{self.name}[{key!r}]"
        return f"{self.name}.{key}" if self.name else str(key)


class Place(NamedTuple):
    """A value as a snapshot found it."""

    holder: Holder
    key: Any
    value: Any

    @property
    def name(self) -> str:
        return self.holder.label(self.key)

    def now(self) -> Any:
        """Return what is there now; None where the program has let go of the place."""
        values = self.holder.values
        try:
            if is_a(values, (dict,)):
                return dict.get(values, self.key)  # makes no entry, as a defaultdict would
            return plain_kind(values).__getitem__(values, self.key)
        except (KeyError, IndexError):
            return None

    def put(self, value: Any) -> None:
        self.holder.values[self.key] = value


class Snapshot:
    """What every holder held at one moment."""

    def __init__(self, holders: list[Holder], copies: list[Copy]) -> None:
        self._held = holders[:], copies[:]

    @functools.cached_property
    def _copies(self) -> list[tuple[Holder, Copy]]:
        # Lists last: what is also held elsewhere is called after that.
        pairs = zip(*self._held, strict=True)
        return sorted(pairs, key=lambda pair: isinstance(pair[1], tuple))

    @functools.cached_property
    def by_id(self) -> dict[int, Any]:
        """What dicts and lists held, by their ids."""
        return {id(holder.values): copy for holder, copy in self._copies}

    def items(self) -> Iterator[Place]:
        """Yield every value."""
        for holder, copy in self._copies:
            for key, value in items_in(copy):
                yield Place(holder, key, value)

    def places(self) -> Iterator[Place]:
        """Yield every value, of lists the plain: others are looked at where they are held."""
        for place in self.items():
            if not is_a(place.holder.values, LISTS) or plain(place.value) is not None:
                yield place

    def new_places(self) -> Iterator[Place]:
        """Yield the places in dicts that came up since, with what an object's class has there."""
        for holder, copy in self._copies:
            for key, now in items_in(copy_of(holder.values)) if isinstance(copy, dict) else ():
                if key not in copy:
                    of = holder.of if isinstance(holder.of, type) else None
                    default = inspect.getattr_static(of, key, None) if of else None
                    yield Place(holder, key, None if default is now else default)

    def find(self, place: Place) -> Any:
        """Return what a place in a dict, of another snapshot, held at this one."""
        copy = self.by_id.get(id(place.holder.values))
        return copy.get(place.key) if isinstance(copy, dict) else None

    def former(self, place: Place) -> Place:
        """Return a place as it was at this snapshot, which is an earlier one, if it was there."""
        value = self.find(place)
        return place if value is None else place._replace(value=value)


def leaves_of(value: Any, copies: Mapping[int, Any] = NOW) -> list[Any]:
    """Return the tensors and arrays in a value, which may be nested."""
    if not is_a(value, _NESTING):  # most often
        return [array_of(value)] if isinstance(value, ARRAYS) else []

    def look(container: Any) -> list[Any]:
        items = copies[id(container)][1] if id(container) in copies else _first_of(container)
        return [] if PASSIVE.issuperset(map(type, items)) else items

    return [array_of(leaf) for leaf in leaves(value, look) if isinstance(leaf, ARRAYS)]


def leaves_inside(value: Any, depth: int = 3) -> list[Any]:
    """Return the tensors and arrays in a value or, where it has none, in what it is made of."""
    found = leaves_of(value)
    if found or depth == 0 or type(value) in PASSIVE:
        return found
    parts = [value] if is_a(value, LISTS) else attributes_of(value)
    items = [item for part in parts for _, item in items_in(copy_of(part))]
    return [leaf for item in items for leaf in leaves_inside(item, depth - 1)]


@functools.cache
def way_to_compare(kind: type) -> Callable[[Any], Any] | None:
    """Return what makes something to compare and show of values that never change."""
    if issubclass(kind, _PLAIN):
        return lambda value: value
    if issubclass(kind, str):
        return lambda value: repr(value) if len(value) <= _MOST_ITEMS else None
    if issubclass(kind, tuple):
        return _plain_items
    if issubclass(kind, functools.partial):
        return lambda value: _plain_items((*value.args, *value.keywords.values()))
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is not None and parameters.frozen:
        names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
        return lambda value: _plain_items([getattr(value, name) for name in names])
    return None


def _plain_items(values: Sequence[Any]) -> tuple[Any, ...] | None:
    items = tuple(map(plain, values[:_MOST_ITEMS]))
    return None if not items or any(item is None for item in items) else items


def plain(value: Any) -> Any:
    """Return a value that never changes as something to compare and show; of others, None."""
    way = way_to_compare(type(value))  # type: ignore[arg-type]
    return None if way is None else way(value)


def size_of(value: Any, copies: Mapping[int, Any] = NOW, *, whole: bool = False) -> Any:
    """Return a plain value as it is, a container as its length and anything else as None.

    A short list is asked for as a whole where another took its place.
    """
    if not is_a(value, (*_MUTABLE, *UNORDERED)):
        return plain(value)
    copy = copies.get(id(value), None)
    copy = copy_of(value) if copy is None else copy
    if isinstance(copy, dict):
        return f"of length {len(copy)}"
    items = plain(tuple(copy[1])) if whole and copy[0] == len(copy[1]) else None
    return f"of length {copy[0]}" if items is None else items


def holds_numbers(value: Any) -> bool:
    """Whether a value is plain, or a list of such values."""
    items = items_of(value) if is_a(value, _MUTABLE) else [value]
    return all(plain(item) is not None for item in items)
