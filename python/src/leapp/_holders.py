"""The objects of the program that hold tensors, arrays and numbers, with the path to each.

The walk reads ``__dict__``, slots, closures and Python's own containers, with Python's own
functions. It never runs a property, ``__getattr__``, ``__eq__``, ``__len__``, ``__iter__`` or any
other code of the program, and it keeps no object alive: variables of functions that have returned
by :func:`look` are followed through weak references.
"""

from __future__ import annotations

import collections
import functools
import types
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from . import _trace

PARAMETER, BUFFER, OTHER = range(3)

#: How many objects are looked at. Those that are near the program's variables come first.
_MOST_OBJECTS = 50_000
#: How many items of one list or dict are looked at.
_MOST_ITEMS = 256
#: Names by which an object calls itself: other names are preferred.
_OWN_NAMES = ("self", "cls")
_CONTAINERS = (list, tuple, set, frozenset, collections.deque)
_PLAIN = frozenset((str, bytes, bytearray, bool, complex, type(None), type(...), range, slice))

_dict_of_class = type.__dict__["__dict__"].__get__
_mro_of = type.__dict__["__mro__"].__get__
_name_of = type.__dict__["__name__"].__get__


class Held(NamedTuple):
    """A tensor or array that an object holds."""

    address: int
    bytes: int
    path: str
    kind: int
    module: str


class _Found:
    """What one walk found."""

    def __init__(self) -> None:
        self.tensors: list[Held] = []
        #: By value, the path of the first number found, and how many objects hold one.
        self.numbers: dict[float, tuple[str, int]] = {}


#: Variables of the program's functions when a node first opened: (name, weak reference).
_variables: list[tuple[str, weakref.ref[Any]]] = []
#: Tensors among those variables, which need no walk.
_direct: list[Held] = []
_found = _Found()


def forget() -> None:
    """Begin a session."""
    global _found
    _variables.clear()
    _direct.clear()
    _found = _Found()


def note_variables() -> None:
    """Note the variables around a node that opens for the first time."""
    for _, variables in _trace.Frames().unseen():
        for name, value in variables:
            if issubclass(type(value), (torch.Tensor, np.ndarray)):
                if held := _held(value, name, OTHER, ""):
                    _direct.append(held)
                continue
            try:
                _variables.append((name, weakref.ref(value)))
            except TypeError:
                continue  # a number or a list: found while its function runs, or through others


def look() -> None:
    """Find what the program holds now, at the end of a session."""
    global _found
    frames = _trace.Frames().unseen()[::-1]  # outermost first
    roots = [(name, value) for _, variables in frames for name, value in variables]
    roots += [(name, ref()) for name, ref in _variables]
    for variables, _ in frames:
        roots += [(name, value) for name, value in variables.items() if name[:2] != "__"]
    named = [root for root in roots if root[0] not in _OWN_NAMES]
    walk = _Walk(_Found())
    walk.run(named)
    walk.run([root for root in roots if root[0] in _OWN_NAMES])
    walk.found.tensors += _direct
    _variables.clear()
    _found = walk.found


def held_tensors() -> list[Held]:
    """Return the tensors and arrays that were found, those to be preferred first."""
    return _found.tensors


def path_of_number(value: float) -> str:
    """Return the path of the only number of that value that the program holds; else ``""``.

    If there is none, one of the opposite sign counts: ``-env.limit``.
    """
    for sign, number in (("", value), ("-", -value)):
        path, count = _found.numbers.get(number, ("", 0))
        if count > 0:
            return sign + path if count == 1 else ""
    return ""


def attributes_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that an object has in its dict and its slots."""
    getter, slots = _layout_of(type(value))  # type: ignore[arg-type]
    if getter is not None:
        attributes = getter.__get__(value)
        if issubclass(type(attributes), dict):
            yield from list(dict.items(attributes))
    for name, slot in slots:
        try:
            yield name, slot.__get__(value)
        except AttributeError:
            continue  # not filled


@functools.cache
def _layout_of(kind: type) -> tuple[Any, list[tuple[str, Any]]]:
    """Return the descriptor of a type's instance dict, or None, and those of its slots."""
    getter, slots = None, []
    for part in _mro_of(kind):
        for name, item in _dict_of_class(part).items():
            if name == "__dict__" and type(item) is types.GetSetDescriptorType:
                getter = getter or item
            elif type(item) is types.MemberDescriptorType and not name.startswith("__"):
                slots.append((name, item))
    return getter, slots


class _Walk:
    """A breadth-first walk over objects, each visited once."""

    def __init__(self, found: _Found) -> None:
        self.found = found
        self._seen: dict[int, Any] = {}  # held while the walk runs, so that no id comes back
        #: Objects to look at: (value, path, path of the module around it, what a module has it as).
        self._todo: collections.deque[tuple[Any, str, str, int]] = collections.deque()

    def run(self, roots: Iterable[tuple[str, Any]]) -> None:
        for name, value in roots:
            self._meet(value, name, "", OTHER)
        while self._todo and len(self._seen) < _MOST_OBJECTS:
            self._visit(*self._todo.popleft())
        self._todo.clear()

    def _meet(self, value: Any, path: str, module: str, kind: int) -> None:
        of = type(value)
        if of is float or of is int or issubclass(of, (np.integer, np.floating)):
            first, count = self.found.numbers.get(float(value), (path, 0))
            self.found.numbers[float(value)] = (first, count + 1)
        elif of not in _PLAIN and id(value) not in self._seen:
            self._seen[id(value)] = value
            if issubclass(of, (torch.Tensor, np.ndarray)):
                kind = PARAMETER if kind == OTHER and issubclass(of, torch.nn.Parameter) else kind
                if held := _held(value, path, kind, module):
                    self.found.tensors.append(held)
            elif not issubclass(of, types.ModuleType):
                self._todo.append((value, path, module, kind))

    def _visit(self, value: Any, path: str, module: str, kind: int) -> None:
        of = type(value)
        if issubclass(of, torch.jit.ScriptModule):
            self._visit_script(value, path, module or path)
        elif issubclass(of, torch.nn.Module):
            self._visit_module(value, path, module or path)
        elif issubclass(of, dict):
            self._visit_dict(value, path, module, kind)
        elif issubclass(of, _CONTAINERS):
            base = next(base for base in _CONTAINERS if issubclass(of, base))
            for index, item in zip(range(_MOST_ITEMS), base.__iter__(value), strict=False):
                self._meet(item, f"{path}[{index}]", "", OTHER)
        elif issubclass(of, types.FunctionType):
            self._visit_function(value)
        elif issubclass(of, types.MethodType):
            self._meet(value.__self__, path, "", OTHER)
        elif issubclass(of, functools.partial):
            for item in (value.func, value.args, value.keywords):
                self._meet(item, path, "", OTHER)
        elif issubclass(of, type):
            self._visit_class(value, path)
        else:
            for name, item in attributes_of(value):
                self._meet(item, f"{path}.{name}", "", OTHER)
            self._meet(of, _name_of(of), "", OTHER)

    def _visit_dict(self, value: Any, path: str, module: str, kind: int) -> None:
        for _, (key, item) in zip(range(_MOST_ITEMS), list(dict.items(value)), strict=False):
            shown = repr(key) if type(key) in (str, int) else ".."
            self._meet(item, f"{path}[{shown}]", module, kind)

    def _visit_module(self, value: Any, path: str, module: str) -> None:
        for name, item in attributes_of(value):
            if name in _TABLES and not issubclass(type(item), dict):
                continue
            if name in ("_parameters", "_buffers"):
                kind = PARAMETER if name == "_parameters" else BUFFER
                for key, tensor in list(dict.items(item)):
                    self._meet(tensor, f"{path}.{key}", module, kind)
            elif name == "_modules":
                for key, inner in list(dict.items(item)):
                    inside = path if key == "_orig_mod" else f"{path}.{key}"
                    self._meet(inner, inside, module, OTHER)
            elif name not in _OF_MODULES:
                self._meet(item, f"{path}.{name}", "", OTHER)
        self._meet(type(value), _name_of(type(value)), "", OTHER)

    def _visit_script(self, value: Any, path: str, module: str) -> None:
        for name, tensor in torch.nn.Module.named_parameters(value):
            self._meet(tensor, f"{path}.{name}", module, PARAMETER)
        for name, buffer in torch.nn.Module.named_buffers(value):
            self._meet(buffer, f"{path}.{name}", module, BUFFER)

    def _visit_function(self, function: Any) -> None:
        if not _trace.is_user_code(function.__code__):
            return
        names = function.__code__.co_freevars
        for name, cell in zip(names, function.__closure__ or (), strict=True):
            try:
                self._meet(cell.cell_contents, name, "", OTHER)
            except ValueError:
                continue  # not filled
        for item in (function.__defaults__, function.__kwdefaults__):
            self._meet(item, f"{function.__name__}()", "", OTHER)

    def _visit_class(self, kind: type, path: str) -> None:
        """Look at the attributes of a class of the program."""
        functions = (types.FunctionType, staticmethod, classmethod, property)
        items = list(_dict_of_class(kind).items())
        methods = [item for _, item in items if type(item) is types.FunctionType]
        if not any(_trace.is_user_code(method.__code__) for method in methods):
            return
        for name, item in items:
            if not name.startswith("__") and type(item) not in functions:
                self._meet(item, f"{path}.{name}", "", OTHER)
        for method in methods:
            self._meet(method, path, "", OTHER)
        for part in _mro_of(kind)[1:]:
            self._meet(part, _name_of(part), "", OTHER)


#: Where modules hold what is theirs.
_TABLES = ("_parameters", "_buffers", "_modules")
#: What every module has that is PyTorch's: hooks, for one.
_OF_MODULES = frozenset(torch.nn.Module().__dict__)


def _held(value: Any, path: str, kind: int, module: str) -> Held | None:
    """Return where the elements of a tensor or array are; None if they are in no memory."""
    if issubclass(type(value), np.ndarray):
        address = np.ndarray.__array_interface__.__get__(value)["data"][0]
        return Held(address, np.ndarray.nbytes.__get__(value), path, kind, module)
    tensor = torch._C.TensorBase
    try:
        address = tensor.data_ptr(value)
        elements = tensor.numel(value) and 1 + sum(
            (size - 1) * stride
            for size, stride in zip(tensor.size(value), tensor.stride(value), strict=True)
        )
        return Held(address, elements * tensor.element_size(value), path, kind, module)
    except (RuntimeError, ValueError, NotImplementedError):  # lazy, fake and sparse tensors
        return None
