"""What the program holds: its variables, the objects in them, their attributes.

A walk begins at the frames that call LEAPP and follows what they hold, breadth first and innermost
frames first, each with a budget of its own: neither a test runner nor a simulator crowds the rest
of the program out. Everything is looked through when a session starts. When a node opens, in the
middle of the user's control loop, what was found is only copied, dict by dict (:class:`Snapshot`);
what the copies mean is worked out by the detectors when the session ends.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import random
import sys
from collections.abc import Iterator, Mapping, MutableSequence
from types import (
    BuiltinFunctionType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
    NoneType,
)
from typing import Any, NamedTuple

import numpy as np
import torch

from . import _trace
from ._numpy import Number, TracedArray

Generator = np.random.Generator | np.random.RandomState | random.Random

#: How much is looked at: enough for a policy, a moment for a simulator.
_MOST_OBJECTS, _MOST_PER_FRAME, _MOST_ITEMS = 1000, 600, 64

#: What a list held: how much, and the first of it.
Contents = tuple[int, list[Any]]

NUMBERS = (bool, int, float, np.integer, np.floating, np.bool_)
_PLAIN = frozenset((bool, int, float, str, NoneType))
#: Types of values that hold nothing.
_PASSIVE = frozenset(
    (BuiltinFunctionType, ModuleType, str, bytes, type, torch.dtype, torch.device, torch.Size)
)
_NO_OBJECTS = (type, ModuleType, FunctionType, MethodType, torch.Tensor, TracedArray, Number)


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

    def places(self) -> Iterator[Place]:
        """Yield every value, of lists the numbers."""
        for holder, copy in zip(self._holders, self._copies, strict=True):
            for key, value in copy.items():
                if type(value) not in _PASSIVE:
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
        for holder, copy in zip(self._holders, self._copies, strict=True):
            if holder.values is place.holder.values:
                return copy.get(place.key)
        return None

    def leaves_of(self, value: Any) -> list[Any]:
        """Return the tensors and arrays that were in a value."""
        return leaves_of(value, self._contents_by_id)

    def size_of(self, value: Any) -> Any:
        """Return a number as it was, a list as its length and anything else as None."""
        known = self._contents_by_id.get(id(value))
        return size_of(value) if known is None else _length(known[0])


class Program:
    """Everything that was found so far."""

    def __init__(self) -> None:
        self.modules: list[torch.nn.Module] = []
        self.generators: list[tuple[Generator | Iterator[Any], str]] = []
        #: (where it is held, key, the array), not replaced yet.
        self.arrays: list[tuple[Any, Any, np.ndarray[Any, Any]]] = []
        #: (where it is held, key, the number of NumPy's), not replaced yet.
        self.numbers: list[tuple[Any, Any, np.generic[Any]]] = []
        #: (where it is held, key, the tensor), where the same tensor is held elsewhere too.
        self.shared: list[tuple[Any, Any, torch.Tensor]] = []
        self._holders: list[Holder] = []
        self._values: list[Any] = []  # those of the holders
        self._copies: list[dict[Any, Any]] = []  # of them, as they last were; not written
        self._lists: dict[int, tuple[str, Any]] = {}  # by id, with a name for each
        self._contents: list[Contents] = []  # of them, likewise
        self._seen: dict[int, Any] = {}  # held, so that nothing else takes its place
        #: By id, tensors that places hold, with the first place of each.
        self._tensors: dict[int, tuple[tuple[int, Any], torch.Tensor]] = {}
        self._frames = _trace.Frames()
        #: Objects that are to be looked at: (value, name).
        self._todo: collections.deque[tuple[Any, str]] = collections.deque()

    def look_again(self) -> None:
        """Look through holders that have changed since."""
        for index in _trace.refresh(self._values, self._copies):
            self._visit_items(self._holders[index])
        self._follow()

    def class_of(self, values: Any) -> Any:
        """Return the class or module that works with a dict of attributes, or None."""
        return next((holder.of for holder in self._holders if holder.values is values), None)

    def snapshot(self) -> Snapshot:
        """Return what everything holds now."""
        _trace.refresh(self._values, self._copies)
        _trace.refresh_lists(self._lists, self._contents)
        return Snapshot(self._holders, self._copies, self._lists, self._contents)

    def visit_frames(self) -> bool:
        """Look at the program's frames from here outwards; return whether there were new ones."""
        frames = self._frames.unseen()
        for module, variables in frames:
            for name, value in variables.items():
                if type(value) not in _PASSIVE and id(value) not in self._seen:
                    self._meet(value, name)
            self._visit_module(module)
            self._follow()
        return bool(frames)

    def visit(self, value: Any, name: str) -> None:
        """Look at an object that is held elsewhere."""
        self._meet(value, name)
        self._follow()

    def _follow(self) -> None:
        """Look at what was met, and at what that holds, as far as the budget goes."""
        most = min(len(self._seen) + _MOST_PER_FRAME, _MOST_OBJECTS)
        while self._todo and len(self._seen) <= most:
            value, name = self._todo.popleft()
            if self._is_new(value):
                self._look_into(value, name)
        self._todo.clear()

    def _meet(self, value: Any, name: str, holder: Any = None, key: Any = None) -> None:
        """Note a value that is `holder[key]`; `holder` is None where it cannot be replaced."""
        kind = type(value)
        if kind in _PLAIN or issubclass(kind, (type, TracedArray, Number)):
            return
        if kind is np.ndarray:
            if holder is not None and value.dtype.kind in "fiub" and value.flags.writeable:
                self.arrays.append((holder, key, value))
        elif issubclass(kind, torch.Tensor):
            if holder is not None and kind is torch.Tensor and not value.requires_grad:
                place = (id(holder), key)
                first = self._tensors.setdefault(id(value), (place, value))[0]
                if first != place and "_buffers[" not in name:  # those are the module's own
                    self.shared.append((holder, key, value))
        elif issubclass(kind, np.generic):
            if holder is not None and value.dtype.kind in "fiub":
                self.numbers.append((holder, key, value))
        elif id(value) not in self._seen:
            self._todo.append((value, name))

    def _look_into(self, value: Any, name: str) -> None:
        """Meet what an object holds."""
        kind = type(value)
        if issubclass(kind, torch.nn.Module):
            self.modules.append(value)
        if issubclass(kind, Generator) or is_iterator(value):
            self.generators.append((value, name))
        elif kind is dict:
            self._hold(Holder(name, value, None))
        elif issubclass(kind, (list, tuple, collections.deque)):
            self._lists[id(value)] = (name, value)
            inside = value if issubclass(kind, MutableSequence) else None
            for index, item in enumerate(itertools.islice(value, _MOST_ITEMS)):
                self._meet(item, f"{name}[{index}]", inside, index)
        elif issubclass(kind, MethodType):
            self._meet(value.__self__, name)
        elif issubclass(kind, FunctionType):
            if value.__closure__:
                self._hold(Holder("", Cells(value), value))
        elif _is_programs_class(kind):  # type: ignore[arg-type]
            attributes = _attributes_of(value)
            if attributes is None:
                return
            self._hold(Holder(name, attributes, kind))
            for part in kind.__mro__:
                self._visit_class(part)
            self._visit_module(_variables_around(kind))
        elif issubclass(kind, torch.nn.Module):
            for inner, item in value.named_children():
                self._meet(item, f"{name}.{inner}")

    def _visit_class(self, kind: type) -> None:
        """Hold the attributes of a class of the program's, where it has some that may change."""
        if not _is_programs_class(kind):
            return
        for item in list(vars(kind).values()):
            if isinstance(item, FunctionType) and (item.__defaults__ or item.__kwdefaults__):
                self._visit_defaults(item)
        kept = [item for item in vars(kind).values() if isinstance(item, (*NUMBERS, list, dict))]
        if kept and self._is_new(kind):
            self._hold(Holder(kind.__name__, vars(kind), kind))

    def _visit_defaults(self, function: FunctionType) -> None:
        """Hold the lists and dicts that are parameters of every call that names no others."""
        code, values = function.__code__, function.__defaults__ or ()
        first = code.co_argcount - len(values)
        named = dict(zip(code.co_varnames[first : code.co_argcount], values, strict=True))
        named |= function.__kwdefaults__ or {}
        kept = {name: value for name, value in named.items() if isinstance(value, (list, dict))}
        if kept and self._is_new(function):
            self._hold(Holder(f"{function.__qualname__}()", kept, None))

    def _visit_module(self, variables: dict[str, Any] | None) -> None:
        if variables is not None and self._is_new(variables):
            self._hold(Holder("", variables, _module_of(variables)))

    def _hold(self, holder: Holder) -> None:
        self._holders.append(holder)
        self._values.append(holder.values)
        self._copies.append(holder.values.copy())
        self._visit_items(holder)

    def _visit_items(self, holder: Holder) -> None:
        hidden = isinstance(holder.of, ModuleType) or isinstance(holder.values, MappingProxyType)
        inside = holder.values if isinstance(holder.values, dict) else None
        for key, value in list(holder.values.copy().items()):
            if hidden and key.startswith("__"):
                continue  # __builtins__ and the like are Python's
            if type(value) not in _PASSIVE and id(value) not in self._seen:
                self._meet(value, holder.label(key), inside, key)

    def _is_new(self, value: Any) -> bool:
        if id(value) in self._seen:
            return False
        self._seen[id(value)] = value
        return True


def leaves_of(value: Any, lists: dict[int, Contents] | None = None) -> list[Any]:
    """Return the tensors and arrays in a value that may be nested.

    `lists` has the contents of lists where those of another moment are meant.
    """
    if isinstance(value, (torch.Tensor, np.ndarray)):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple, collections.deque)):
        known = None if lists is None else lists.get(id(value))
        items = list(itertools.islice(value, _MOST_ITEMS)) if known is None else known[1]
        if _PLAIN.issuperset(map(type, items)):
            return []
        return [leaf for item in items for leaf in leaves_of(item, lists)]
    return [value._array] if isinstance(value, Number) else []


def size_of(value: Any) -> Any:
    """Return a number as it is, a list as its length and anything else as None."""
    if isinstance(value, NUMBERS):
        return value
    return _length(len(value)) if is_queue(value) else None


def _length(length: int) -> str:
    return f"of length {length}"


def is_iterator(value: Any) -> bool:
    """Whether a value is one of Python's own iterators, or a generator."""
    kind = type(value)
    return kind.__module__ in ("builtins", "itertools") and issubclass(kind, Iterator)


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


def _attributes_of(value: Any) -> dict[str, Any] | None:
    """Return an object's attributes, running no code of its own."""
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return None
    return attributes if isinstance(attributes, dict) else None


@functools.cache
def _is_programs_class(kind: type) -> bool:
    """Whether a class is of the program's code, see ``_trace.is_user_code``."""
    if issubclass(kind, _NO_OBJECTS):
        return False
    module = sys.modules.get(kind.__module__)
    if kind.__module__ == "__main__":
        return True
    # One that a loader of the program's own made need not be registered.
    variables = _variables_around(kind) if module is None else vars(module)
    file = None if variables is None else variables.get("__file__")
    return isinstance(file, str) and _trace.is_user_code(file)


def _variables_around(kind: type) -> dict[str, Any] | None:
    """Return the variables of the module that a class is in: those its functions see."""
    for item in vars(kind).values():
        if isinstance(item, FunctionType) and item.__globals__.get("__name__") == kind.__module__:
            return item.__globals__
    module = sys.modules.get(kind.__module__)
    return None if module is None else vars(module)


def _module_of(variables: dict[str, Any]) -> ModuleType:
    """Return the module with these variables, or one that stands for it where none has them."""
    name = str(variables.get("__name__", ""))
    module = sys.modules.get(name)
    if module is None or vars(module) is not variables:
        module = ModuleType(name)
        module.__file__ = variables.get("__file__")
    return module
