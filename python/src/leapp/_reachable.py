"""What the code that calls LEAPP can reach: its variables, the objects in them, their attributes.

Everything is looked through when a session starts. When a node opens, in the middle of the user's
control loop, what was found is only copied, dict by dict; what the copies mean is worked out when
the session ends.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import random
import sys
import sysconfig
from collections.abc import Iterable, Iterator, MutableSequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
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
_MOST_OBJECTS, _MOST_ITEMS = 1000, 64

#: What a list held: how much, and the first of it.
Contents = tuple[int, list[Any]]

_LIBRARIES = tuple(
    {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
)
_NOT_USERS = (*_LIBRARIES, "<")
_NUMBERS = (bool, int, float, np.integer, np.floating, np.bool_)
_PLAIN = frozenset((bool, int, float, str, NoneType))
#: Types of values that hold nothing.
_PASSIVE = frozenset(
    (BuiltinFunctionType, ModuleType, str, bytes, type, torch.dtype, torch.device, torch.Size)
)


class Cells:
    """The variables that a function shares with the one around it, as a dict of them."""

    def __init__(self, function: FunctionType) -> None:
        """Take those of a function that has some."""
        self._cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )

    def copy(self) -> dict[str, Any]:
        """Return what they hold now; those not filled yet are left out."""
        found = {}
        for name, cell in self._cells.items():
            with contextlib.suppress(ValueError):
                found[name] = cell.cell_contents
        return found

    def __len__(self) -> int:
        """Return how many hold something."""
        return len(self.copy())

    def values(self) -> Iterable[Any]:
        """Return what they hold."""
        return self.copy().values()

    def get(self, name: str) -> Any:
        """Return what one of them holds."""
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
        """Take what there is, with copies of it."""
        self._holders, self._copies = holders[:], copies[:]
        self._lists, self._contents = lists.copy(), contents[:]

    @functools.cached_property
    def _contents_by_id(self) -> dict[int, Contents]:
        return dict(zip(self._lists, self._contents, strict=True))

    def places(self) -> Iterator[Place]:
        """Yield every value."""
        for holder, copy in zip(self._holders, self._copies, strict=True):
            for key, value in copy.items():
                if type(value) not in _PASSIVE:
                    yield Place(holder.label(key), holder, key, value)
        for (name, inside), (_, items) in zip(self._lists.values(), self._contents, strict=True):
            if not isinstance(inside, MutableSequence):
                continue
            for index, value in enumerate(items):
                if isinstance(value, _NUMBERS):
                    yield Place(f"{name}[{index}]", Holder(name, inside, None), index, value)

    def new_places(self) -> Iterator[Place]:
        """Yield the places that came up since, without a value."""
        for holder, copy in zip(self._holders, self._copies, strict=True):
            for key in list(holder.values.copy()):
                if key not in copy:
                    yield Place(holder.label(key), holder, key, None)

    def modules(self) -> Iterator[ModuleType]:
        """Yield the modules of the program's code."""
        for holder in self._holders:
            if isinstance(holder.of, ModuleType):
                yield holder.of

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


class Reachable:
    """Everything that was found so far."""

    def __init__(self) -> None:
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
        self._frames = _trace.Frames(_is_users_code)

    def look_again(self) -> None:
        """Look through holders that have changed since."""
        for index in _trace.refresh(self._values, self._copies):
            self._visit_items(self._holders[index])

    def modules(self) -> Iterator[dict[str, Any]]:
        """Yield the variables of each module."""
        for holder in self._holders:
            if isinstance(holder.of, ModuleType):
                yield holder.values

    def class_of(self, values: Any) -> Any:
        """Return the class or module that works with a dict of attributes, or None."""
        return next((holder.of for holder in self._holders if holder.values is values), None)

    def snapshot(self) -> Snapshot:
        """Return what everything holds now."""
        _trace.refresh(self._values, self._copies)
        _trace.refresh_lists(self._lists, self._contents)
        return Snapshot(self._holders, self._copies, self._lists, self._contents)

    def visit_frames(self) -> bool:
        """Look at the user's frames from here on outwards; return whether there were new ones."""
        frames = self._frames.unseen()
        for module, variables in frames:
            self._visit_module(module)
            for name, value in variables.items():
                if type(value) not in _PASSIVE and id(value) not in self._seen:
                    self.visit(value, name)
        return bool(frames)

    def visit(self, value: Any, name: str, holder: Any = None, key: Any = None) -> None:
        """Look at a value that is `holder[key]`; `holder` is None where it cannot be replaced."""
        if type(value) is np.ndarray:
            if holder is not None and value.dtype.kind in "fiub" and value.flags.writeable:
                self.arrays.append((holder, key, value))
            return
        if type(value) in _PLAIN or isinstance(value, type):
            return
        if isinstance(value, torch.Tensor):
            if holder is not None and type(value) is torch.Tensor and not value.requires_grad:
                place = (id(holder), key)
                first = self._tensors.setdefault(id(value), (place, value))[0]
                if first != place and "_buffers[" not in name:  # those are the module's own
                    self.shared.append((holder, key, value))
            return
        if isinstance(value, np.generic):
            if holder is not None and value.dtype.kind in "fiub":
                self.numbers.append((holder, key, value))
            return
        if len(self._seen) > _MOST_OBJECTS or not self._is_new(value):
            return
        if isinstance(value, Generator) or is_iterator(value):
            self.generators.append((value, name))
        elif type(value) is dict:
            self._hold(Holder(name, value, None))
        elif isinstance(value, (list, tuple, collections.deque)):
            self._lists[id(value)] = (name, value)
            inside = value if isinstance(value, MutableSequence) else None
            for index, item in enumerate(itertools.islice(value, _MOST_ITEMS)):
                self.visit(item, f"{name}[{index}]", inside, index)
        elif _is_users_object(value):
            self._visit_module(_variables_around(type(value)))
            for kind in type(value).__mro__:
                self._visit_class(kind)
            self._hold(Holder(name, vars(value), type(value)))
        elif isinstance(value, torch.nn.Module):
            for inner, item in value.named_children():
                self.visit(item, f"{name}.{inner}")
        elif isinstance(value, MethodType):
            self.visit(value.__self__, name)
        elif isinstance(value, FunctionType) and value.__closure__:
            self._hold(Holder("", Cells(value), value))

    def _visit_class(self, kind: type) -> None:
        """Hold the attributes of a class of the user's, where it has some that may change."""
        if not _is_users_class(kind):
            return
        for item in list(vars(kind).values()):
            if isinstance(item, FunctionType) and (item.__defaults__ or item.__kwdefaults__):
                self._visit_defaults(item)
        kept = [item for item in vars(kind).values() if isinstance(item, (*_NUMBERS, list, dict))]
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
                self.visit(value, holder.label(key), inside, key)

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
    if isinstance(value, Number):
        return [value._array]
    inner = getattr(value, "ref", None)  # TensorSemantics
    return [inner] if isinstance(inner, (torch.Tensor, np.ndarray)) else []


def size_of(value: Any) -> Any:
    """Return a number as it is, a list as its length and anything else as None."""
    if isinstance(value, _NUMBERS):
        return value
    return _length(len(value)) if is_queue(value) else None


def _length(length: int) -> str:
    return f"of length {length}"


def is_iterator(value: Any) -> bool:
    """Whether a value is one of Python's own iterators, or a generator."""
    return isinstance(value, Iterator) and type(value).__module__ in ("builtins", "itertools")


def is_queue(value: Any) -> bool:
    """Whether a value is a list or deque."""
    return isinstance(value, (list, collections.deque))


def holds_numbers(value: Any) -> bool:
    """Whether a value is a number or a list of them."""
    return all(isinstance(item, _NUMBERS) for item in (value if is_queue(value) else [value]))


def may_hold_state(value: Any) -> bool:
    """Whether a value is one that state is kept in, or will be."""
    return value is None or isinstance(
        value, (torch.Tensor, np.ndarray, Number, list, tuple, dict, collections.deque, *_NUMBERS)
    )


def is_users(frame: FrameType | None) -> bool:
    """Whether a frame runs code of neither a library nor a string."""
    return frame is not None and not frame.f_code.co_filename.startswith(_NOT_USERS)


def _is_users_object(value: Any) -> bool:
    if isinstance(value, (type, ModuleType, FunctionType, MethodType, torch.Tensor, TracedArray)):
        return False
    if not hasattr(value, "__dict__"):
        return False
    return _is_users_class(type(value))


def _is_users_class(kind: type) -> bool:
    name = kind.__module__
    if name not in sys.modules:  # loaded by a loader of the program's own, which did not say so
        variables = _variables_around(kind)
        return variables is not None and not str(variables.get("__file__", "")).startswith(
            _LIBRARIES
        )
    file = getattr(sys.modules[name], "__file__", None)
    return name == "__main__" or (file is not None and not file.startswith(_LIBRARIES))


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


def _is_users_code(code: CodeType, variables: dict[str, Any]) -> bool:
    own = variables.get("__name__", "").partition(".")[0] == __package__
    return not own and not code.co_filename.startswith(_NOT_USERS)
