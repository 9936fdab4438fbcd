"""A walk over the program's objects, to the tensors, arrays and numbers in them.

It reads ``__dict__``, slots, closures and Python's own containers, with Python's own functions. It
never runs a property, ``__getattr__``, ``__eq__``, ``__len__``, ``__iter__`` or any other code of
the program, and it changes nothing.
"""

from __future__ import annotations

import collections
import functools
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from . import _trace

PARAMETER, BUFFER, OTHER = range(3)

#: Maximum number of items of one list or dict that are visited.
_MOST_ITEMS = 256
_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)
ARRAYS = (torch.Tensor, np.ndarray)
_CONTAINERS = (list, tuple, set, frozenset, collections.deque)
#: By id, because a class of the program may have a metaclass with its own ``__eq__`` or
#: ``__hash__``.
_PLAIN = frozenset(
    map(id, (str, bytes, bytearray, bool, complex, type(None), type(...), range, slice))
)

_dict_of_class = type.__dict__["__dict__"].__get__
_mro_of = type.__dict__["__mro__"].__get__
name_of_class = type.__dict__["__name__"].__get__


class Held(NamedTuple):
    """A tensor or array that an object holds."""

    address: int
    bytes: int
    path: str
    kind: int
    module: str


class Found:
    """The result of a walk."""

    def __init__(self) -> None:
        self.tensors: list[Held] = []
        #: By value, the path of the first number found, and the number of objects that hold one.
        self.numbers: dict[float, tuple[str, int]] = {}
        #: By address, the name of a parameter or buffer in its outermost module.
        self.weights: dict[int, str] = {}


def attributes_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes that an object has in its dict and its slots."""
    getter, slots = _layout_of(type(value))
    if getter is not None:
        attributes = getter.__get__(value)
        if issubclass(type(attributes), dict):
            yield from list(dict.items(attributes))
    for name, slot in slots:
        try:
            yield name, slot.__get__(value)
        except AttributeError:
            continue  # not filled


#: By the id of a type, the type and what :func:`_layout_of` returns for it.
_layouts: dict[int, tuple[type, tuple[Any, list[tuple[str, Any]]]]] = {}


def _layout_of(kind: type) -> tuple[Any, list[tuple[str, Any]]]:
    """Return the descriptor of a type's instance dict, or None, and those of its slots."""
    if known := _layouts.get(id(kind)):
        return known[1]
    getter, slots = None, []
    for part in _mro_of(kind):
        for name, item in _dict_of_class(part).items():
            if name == "__dict__" and issubclass(type(item), _DESCRIPTORS):
                getter = item if getter is None else getter
            elif type(item) is types.MemberDescriptorType and not name.startswith("__"):
                slots.append((name, item))
    _layouts[id(kind)] = kind, (getter, slots)
    return getter, slots


class Walk:
    """A breadth-first walk over objects, which visits each once."""

    def __init__(self, found: Found, noting: list[tuple[Any, Held]] | None = None) -> None:
        self.found = found
        self._noting = noting
        self._seen: dict[int, Any] = {}  # held during the walk, so that no id is reused
        self._known: set[int] = set()  # ids that earlier runs visited
        self._revisited: set[int] = set()  # ids that are visited again
        self._counts = True  # true if numbers count: not those of an object visited again
        #: Objects to visit: (value, path, path of the enclosing module, name in the module).
        self._todo: collections.deque[tuple[Any, str, str, int]] = collections.deque()

    def run(self, roots: Iterable[tuple[str, Any]], most: int, *, again: bool = False) -> None:
        """Walk from named values over a number of objects; `again` also visits known ones."""
        with torch._C.DisableTorchFunction():  # the program's classes may run code
            self._counts = True
            for name, value in roots:
                if again and id(value) in self._known:
                    self._known.remove(id(value))
                    self._revisited.add(id(value))
                self._meet(value, name, "", OTHER)
            while self._todo and len(self._seen) < most:
                self._visit(*self._todo.popleft())
        self._todo.clear()
        self._known.update(self._seen)
        self._seen.clear()
        self._revisited.clear()

    def _meet(self, value: Any, path: str, module: str, kind: int) -> None:
        of = type(value)
        if of is float or of is int or issubclass(of, (np.integer, np.floating)):
            try:
                number = float(value)
            except OverflowError:  # an integer that no element type holds
                return
            first, count = self.found.numbers.get(number, (path, 0))
            self.found.numbers[number] = (first, count + int(self._counts))
        elif id(of) not in _PLAIN and id(value) not in self._seen and id(value) not in self._known:
            self._seen[id(value)] = value
            if issubclass(of, (torch.Tensor, np.ndarray)):
                kind = PARAMETER if kind == OTHER and issubclass(of, torch.nn.Parameter) else kind
                if held := _entry_of(value, path, kind, module):
                    self._add(held, value)
            elif not issubclass(of, types.ModuleType):
                self._todo.append((value, path, module, kind))

    def _add(self, held: Held, value: Any) -> None:
        if self._noting is None:
            self.found.tensors.append(held)
        elif issubclass(type(value), torch.Tensor):
            memory = torch._C.TensorBase.untyped_storage(value)
            self._noting.append((StorageWeakRef(memory), held))  # type: ignore[no-untyped-call]

    def _visit(self, value: Any, path: str, module: str, kind: int) -> None:
        of = type(value)
        self._counts = id(value) not in self._revisited
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
            for part in ("func", "args", "keywords"):
                item = getattr(functools.partial, part).__get__(value)
                self._meet(item, path, "", OTHER)
        elif issubclass(of, type):
            self._visit_class(value, path)
        else:
            for name, item in attributes_of(value):
                self._meet(item, f"{path}.{name}", "", OTHER)
            self._meet(of, name_of_class(of), "", OTHER)

    def _visit_dict(self, value: Any, path: str, module: str, kind: int) -> None:
        for _, (key, item) in zip(range(_MOST_ITEMS), list(dict.items(value)), strict=False):
            shown = repr(key) if type(key) is str or type(key) is int else ".."
            self._meet(item, f"{path}[{shown}]", module, kind)

    def _visit_module(self, value: Any, path: str, module: str) -> None:
        if module == path:
            self._name_weights(value)
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
        self._meet(type(value), name_of_class(type(value)), "", OTHER)

    def _name_weights(self, module: Any) -> None:
        """Name the tensors of a module and its submodules, as ``named_parameters()`` does.

        The first name of a shared tensor counts; for several modules, that of the outermost one.
        """
        todo, own = [(module, "")], dict[int, str]()
        seen: set[int] = set()
        while todo:
            each, prefix = todo.pop()
            tables = {name: item for name, item in attributes_of(each) if name in _TABLES}
            for table in ("_parameters", "_buffers"):
                for key, tensor in _items_of(tables.get(table)):
                    if held := _entry_of(tensor, "", OTHER, ""):
                        own.setdefault(held.address, f"{prefix}{key}")
            for key, inner in reversed(_items_of(tables.get("_modules"))):
                if id(inner) not in seen and issubclass(type(inner), torch.nn.Module):
                    seen.add(id(inner))
                    todo.append((inner, prefix if key == "_orig_mod" else f"{prefix}{key}."))
        for address, name in own.items():  # names are extended outwards
            former = self.found.weights.get(address, "")
            self.found.weights[address] = max(former, name, key=len)

    def _visit_script(self, value: Any, path: str, module: str) -> None:
        for name, tensor in torch.nn.Module.named_parameters(value):
            self._meet(tensor, f"{path}.{name}", module, PARAMETER)
        for name, buffer in torch.nn.Module.named_buffers(value):
            self._meet(buffer, f"{path}.{name}", module, BUFFER)

    def _visit_function(self, function: Any) -> None:
        if not _is_of_program(function.__code__.co_filename):
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
        """Visit the attributes of a class of the program."""
        functions = (types.FunctionType, staticmethod, classmethod, property)
        items = list(_dict_of_class(kind).items())
        methods = [item for _, item in items if type(item) is types.FunctionType]
        files = [method.__code__.co_filename for method in methods] or _file_of(kind)
        if not any(map(_is_of_program, files)):
            return
        for name, item in items:
            if not name.startswith("__") and not issubclass(type(item), functions):
                self._meet(item, f"{path}.{name}", "", OTHER)
        for method in methods:
            self._meet(method, path, "", OTHER)
        for part in _mro_of(kind)[1:]:
            self._meet(part, name_of_class(part), "", OTHER)


def _file_of(kind: type) -> list[str]:
    """Return the file of the module of a class, such as a class of settings without methods."""
    name = _dict_of_class(kind).get("__module__")
    module = sys.modules.get(name) if type(name) is str else None
    if type(module) is not types.ModuleType:
        return []
    file = object.__getattribute__(module, "__dict__").get("__file__")
    return [file] if type(file) is str else []


@functools.cache
def _is_of_program(file: str) -> bool:
    """Return whether code of that file belongs to the program, and not to a library."""
    return _trace.is_user_code(file)


def _items_of(table: Any) -> list[tuple[Any, Any]]:
    return list(dict.items(table)) if issubclass(type(table), dict) else []


#: Attributes in which modules store their tensors and submodules.
_TABLES = ("_parameters", "_buffers", "_modules")
#: Attributes of every module that belong to PyTorch, such as hooks.
_OF_MODULES = frozenset(torch.nn.Module().__dict__)


def _entry_of(value: Any, path: str, kind: int, module: str) -> Held | None:
    """Return the address range of a tensor or array; None if it has no memory."""
    if not issubclass(type(value), (torch.Tensor, np.ndarray)):
        return None
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
