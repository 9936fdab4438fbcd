"""The dicts and lists that contain the program's objects, and copies of their contents."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from types import ModuleType
from typing import Any, NamedTuple

from ._members import IMMUTABLE, LISTS, is_a, items_of, plain_kind

#: The content of a dict or list: its size, and its first items.
Copy = dict[Any, Any] | tuple[int, list[Any]]
#: Maximum number of items of a list that are read.
_MOST_ITEMS = 64

#: Types whose values contain no objects of a node.
PASSIVE = frozenset((*IMMUTABLE, ModuleType))


def copy_of(values: Any) -> Copy:
    """Return the current content of a holder's dict or list."""
    if type(values) is dict:  # most often
        return values.copy()
    if is_a(values, LISTS):
        length = plain_kind(values).__len__(values)
        return length, [] if is_a(values, (set,)) else _first_of(values)
    return dict(dict.items(values) if is_a(values, (dict,)) else values)


def _first_of(values: Iterable[Any]) -> list[Any]:
    return list(itertools.islice(items_of(values), _MOST_ITEMS))


def items_in(copy: Copy) -> Iterable[tuple[Any, Any]]:
    """Return (key or index, value) of the items of a copy."""
    return copy.items() if isinstance(copy, dict) else enumerate(copy[1])


class Holder(NamedTuple):
    """A dict of variables or attributes, or a list."""

    name: str  # class of the object; empty for a module
    values: Any  # dict-like, because attributes may be those of a class, or Fields
    #: The class or function whose code uses them, or the file of a module; None for a dict or list.
    of: Any

    def label(self, key: Any) -> str:
        """Return a name for the value under a key."""
        if self.of is None:
            return f"{self.name}[{key!r}]"
        return f"{self.name}.{key}" if self.name else str(key)


class Place(NamedTuple):
    """A value, as found by a snapshot."""

    holder: Holder
    key: Any
    value: Any

    @property
    def name(self) -> str:
        return self.holder.label(self.key)

    def now(self) -> Any:
        """Return the current value; None if the program has released the holder."""
        values = self.holder.values
        try:
            if is_a(values, (dict,)):
                return dict.get(
                    values, self.key
                )  # does not create an entry, as a defaultdict would
            return plain_kind(values).__getitem__(values, self.key)
        except (KeyError, IndexError):
            return None

    def put(self, value: Any) -> None:
        self.holder.values[self.key] = value
