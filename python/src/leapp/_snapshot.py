"""What the program held at one moment, dict by dict and list by list, for detectors to compare."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
from collections.abc import Iterator, MutableSequence
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import Any, NamedTuple

import numpy as np
import torch

from ._numpy import Number, array_of, leaves

#: What a list held: how much, and the first of it.
Contents = tuple[int, list[Any]]
#: So much of a list is looked at.
MOST_ITEMS = 64

NUMBERS = (bool, int, float, np.integer, np.floating, np.bool_)
PLAIN = frozenset((bool, int, float, str, NoneType))
#: Types of values that hold nothing.
PASSIVE = frozenset(
    (BuiltinFunctionType, ModuleType, str, bytes, type, torch.dtype, torch.device, torch.Size)
)
_LISTS = (list, tuple, collections.deque)
_ARRAYS = (torch.Tensor, np.ndarray, Number)


class Cells:
    """The variables that a function shares with the one around it, as a dict to look into."""

    def __init__(self, function: FunctionType) -> None:
        names = function.__code__.co_freevars
        self._cells = dict(zip(names, function.__closure__ or (), strict=True))

    def copy(self) -> dict[str, Any]:
        """Return what they hold now; those not filled yet are left out."""
        found = {}
        for name, cell in self._cells.items():
            with contextlib.suppress(ValueError):
                found[name] = cell.cell_contents
        return found

    def get(self, name: str) -> Any:
        return self.copy().get(name)


class Holder(NamedTuple):
    """A dict of variables or attributes."""

    name: str  # of the object; empty for a module
    values: Any  # dict-like: attributes may be those of a class, variables those of a closure
    of: Any  # the class, module or function whose code works with them; None for a plain dict

    def label(self, key: Any) -> str:
        """Return a name for what is held under a key."""
        if self.of is None:
            return f"{self.name}[{key!r}]"
        return f"{self.name}.{key}" if self.name else str(key)


class Place(NamedTuple):
    """A value as a snapshot found it."""

    name: str
    holder: Holder
    key: Any
    value: Any

    def now(self) -> Any:
        values = self.holder.values
        if isinstance(values, MutableSequence):
            return values[self.key] if self.key < len(values) else None
        return values.get(self.key)


class Snapshot:
    """What every holder and list held at one moment."""

    def __init__(
        self,
        holders: list[Holder],
        copies: list[dict[Any, Any]],
        lists: dict[int, tuple[str, Any]],
        contents: list[Contents],
    ) -> None:
        self._holders, self._copies = holders[:], copies[:]
        self._lists, self._contents = lists.copy(), contents[:]

    @functools.cached_property
    def _contents_by_id(self) -> dict[int, Contents]:
        return dict(zip(self._lists, self._contents, strict=True))

    @functools.cached_property
    def _copies_by_id(self) -> dict[int, dict[Any, Any]]:
        pairs = zip(self._holders, self._copies, strict=True)
        return {id(holder.values): copy for holder, copy in pairs}

    def places(self) -> Iterator[Place]:
        """Yield every value, of lists the numbers."""
        for place in self._items_of_dicts():
            if type(place.value) not in PASSIVE:
                yield place
        for place in self._items_of_lists():
            if isinstance(place.value, NUMBERS) and isinstance(
                place.holder.values, MutableSequence
            ):
                yield place

    def tensors(self) -> Iterator[tuple[str, Any]]:
        """Yield the tensors and arrays, each with the path by which the program reaches it."""
        for place in itertools.chain(self._items_of_dicts(), self._items_of_lists()):
            if isinstance(place.value, _ARRAYS):
                yield place.name, place.value

    def _items_of_dicts(self) -> Iterator[Place]:
        for holder, copy in zip(self._holders, self._copies, strict=True):
            for key, value in copy.items():
                yield Place(holder.label(key), holder, key, value)

    def _items_of_lists(self) -> Iterator[Place]:
        for named, (_, items) in zip(self._lists.values(), self._contents, strict=True):
            holder = Holder(*named, None)
            for index, value in enumerate(items):
                yield Place(holder.label(index), holder, index, value)

    def new_places(self) -> Iterator[Place]:
        """Yield the places that came up since, without a value."""
        for holder, copy in zip(self._holders, self._copies, strict=True):
            for key in holder.values.copy():
                if key not in copy:
                    yield Place(holder.label(key), holder, key, None)

    def find(self, place: Place) -> Any:
        """Return what a place of an earlier snapshot held at this one."""
        return self._copies_by_id.get(id(place.holder.values), {}).get(place.key)

    def leaves_of(self, value: Any) -> list[Any]:
        """Return the tensors and arrays that were in a value."""
        return leaves_of(value, self._contents_by_id)

    def size_of(self, value: Any) -> Any:
        """Return a number as it was, a list as its length and anything else as None."""
        known = self._contents_by_id.get(id(value))
        return size_of(value) if known is None else _length(known[0])


def leaves_of(value: Any, lists: dict[int, Contents] | None = None) -> list[Any]:
    """Return the tensors and arrays in a value, which may be nested.

    `lists` has the contents of lists where those of another moment are meant.
    """

    def items_of(container: Any) -> list[Any]:
        known = None if lists is None else lists.get(id(container))
        items = list(itertools.islice(container, MOST_ITEMS)) if known is None else known[1]
        return [] if PLAIN.issuperset(map(type, items)) else items

    return [array_of(leaf) for leaf in leaves(value, items_of) if isinstance(leaf, _ARRAYS)]


def size_of(value: Any) -> Any:
    """Return a number as it is, a list as its length and anything else as None."""
    if isinstance(value, NUMBERS):
        return value
    return _length(len(value)) if isinstance(value, (list, collections.deque)) else None


def _length(length: int) -> str:
    return f"of length {length}"


def holds_numbers(value: Any) -> bool:
    """Whether a value is a number or a list of them."""
    items = value if isinstance(value, (list, collections.deque)) else [value]
    return all(isinstance(item, NUMBERS) for item in items)


def may_hold_state(value: Any) -> bool:
    """Whether a value is one that state is kept in, or will be."""
    return value is None or isinstance(value, (*_ARRAYS, dict, *_LISTS, *NUMBERS))
