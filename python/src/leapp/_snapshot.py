"""What the program held at one moment, dict by dict and list by list, for detectors to compare."""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
from collections.abc import Iterator, Mapping, MutableSequence
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import Any, NamedTuple

import numpy as np
import torch

from ._numpy import Number

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


class Cells(Mapping[str, Any]):
    """The variables that a function shares with the one around it."""

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

    def __getitem__(self, name: str) -> Any:
        return self.copy()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.copy())

    def __len__(self) -> int:
        return len(self.copy())


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
        """Return what is there now."""
        try:
            return self.holder.values.get(self.key)
        except AttributeError:  # a list
            return self.holder.values[self.key] if self.key < len(self.holder.values) else None


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
        for holder, copy in zip(self._holders, self._copies, strict=True):
            for key, value in copy.items():
                if type(value) not in PASSIVE:
                    yield Place(holder.label(key), holder, key, value)
        for name, inside, items in self._list_items():
            if isinstance(inside, MutableSequence):
                for index, value in enumerate(items):
                    if isinstance(value, NUMBERS):
                        yield Place(f"{name}[{index}]", Holder(name, inside, None), index, value)

    def _list_items(self) -> Iterator[tuple[str, Any, list[Any]]]:
        for (name, inside), (_, items) in zip(self._lists.values(), self._contents, strict=True):
            yield name, inside, items

    def tensors(self) -> Iterator[tuple[str, Any]]:
        """Yield the tensors and arrays, each with the path by which the program reaches it."""
        for holder, copy in zip(self._holders, self._copies, strict=True):
            for key, value in copy.items():
                if isinstance(value, (torch.Tensor, np.ndarray, Number)):
                    yield holder.label(key), value
        for name, _, items in self._list_items():
            for index, value in enumerate(items):
                if isinstance(value, (torch.Tensor, np.ndarray, Number)):
                    yield f"{name}[{index}]", value

    def new_places(self) -> Iterator[Place]:
        """Yield the places that came up since, without a value."""
        for holder, copy in zip(self._holders, self._copies, strict=True):
            for key in list(holder.values.copy()):
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
    """Return the tensors and arrays in a value that may be nested, or contain itself.

    `lists` has the contents of lists where those of another moment are meant.
    """
    leaves, seen, todo = [], set(), [value]
    while todo:  # a value may contain itself, or be nested deeper than Python recurses
        value = todo.pop()
        if isinstance(value, (torch.Tensor, np.ndarray)):
            leaves.append(value)
        elif isinstance(value, Number):
            leaves.append(value._array)
        elif isinstance(value, (dict, list, tuple, collections.deque)) and id(value) not in seen:
            seen.add(id(value))
            known = None if lists is None else lists.get(id(value))
            inside = value.values() if isinstance(value, dict) else value
            items = list(itertools.islice(inside, MOST_ITEMS)) if known is None else known[1]
            if not PLAIN.issuperset(map(type, items)):
                todo.extend(reversed(items))
    return leaves


def size_of(value: Any) -> Any:
    """Return a number as it is, a list as its length and anything else as None."""
    if isinstance(value, NUMBERS):
        return value
    return _length(len(value)) if is_queue(value) else None


def _length(length: int) -> str:
    return f"of length {length}"


def is_queue(value: Any) -> bool:
    """Whether a value is a list or deque."""
    return isinstance(value, (list, collections.deque))


def holds_numbers(value: Any) -> bool:
    """Whether a value is a number or a list of them."""
    return all(isinstance(item, NUMBERS) for item in (value if is_queue(value) else [value]))


def may_hold_state(value: Any) -> bool:
    """Whether a value is one that state is kept in, or will be."""
    return value is None or isinstance(
        value, (torch.Tensor, np.ndarray, Number, list, tuple, dict, collections.deque, *NUMBERS)
    )
