"""The objects of the program: its variables, the objects in them, their attributes.

A walk starts at the frames that call LEAPP and follows their objects, breadth first and innermost
frames first, each with its own budget, so a test runner or a simulator does not use up the
program's budget.
"""

from __future__ import annotations

import collections
import enum
import functools
import os
import queue
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from . import _trace
from ._members import FUNCTIONS, LISTS, STANDING, attributes_of, cells_of, wrapped_objects
from ._numpy import Number
from ._snapshot import PASSIVE, Copy, Holder, Place, copy_of, items_in

#: Number of objects visited from the innermost frame: enough for a policy, and fast for a
#: simulator. Each outer frame has half the number of the next inner one.
_MOST_OBJECTS = 1000
#: Attributes of every module that belong to PyTorch, such as hooks.
_OF_MODULES = vars(torch.nn.Module()).keys() - {"_parameters", "_buffers", "_modules"}
#: Types of class attributes that are not data or do not change.
_MEMBERS = (*FUNCTIONS, types.MemberDescriptorType, str)


class Program:
    """All objects found so far."""

    def __init__(self) -> None:
        #: NumPy arrays and numbers, which will be replaced.
        self.replaceable: list[Place] = []
        self._holders: list[Holder] = []
        self._copies: list[Copy] = []  # their content when it was last read; not written to
        self._seen: dict[int, Any] = {}  # held, so that their ids are not reused
        self._frames = _trace.Frames()
        #: Objects to visit: (value, name).
        self._todo: collections.deque[tuple[Any, str]] = collections.deque()
        #: Classes of such objects, visited last: some library classes have hundreds of functions,
        #: and objects are more likely to contain state.
        self._classes: collections.deque[tuple[Any, str]] = collections.deque()

    def look_again(self) -> None:
        """Search holders that have changed since."""
        for index in _trace.refresh(self._holders, self._copies):
            self._visit_items(index)
        self._follow()

    def visit_frames(self) -> None:
        """Visit the program's frames that were not visited yet, from here outwards."""
        for distance, (module, variables) in enumerate(self._frames.unseen()):
            for name, value in variables:
                self._meet(value, name)
            modules = [] if id(module) in self._seen else _modules_beside(module)
            for each in (module, *modules):
                self._visit_module(each)
            self._follow(_MOST_OBJECTS >> distance)

    def visit(self, value: Any, name: str) -> None:
        """Visit an object that something else holds."""
        self._meet(value, name)
        self._follow()

    def _follow(self, budget: int = _MOST_OBJECTS) -> None:
        """Visit the objects found and their contents, within the budget."""
        most = len(self._seen) + budget
        while (todo := self._todo or self._classes) and len(self._seen) < most:
            value, name = todo.popleft()
            if self._is_new(value):
                for look in _looks_into(type(value)):  # type: ignore[arg-type]
                    look(self, value, name)
        self._todo.clear()
        self._classes.clear()

    def _meet(self, value: Any, name: str, holder: Holder | None = None, key: Any = None) -> None:
        """Record a value. `holder` has it under that key, or is None if it cannot be replaced."""
        kind: Any = type(value)
        if _looks_into(kind):
            if id(value) not in self._seen and (not issubclass(kind, type) or _holds_data(value)):
                self._todo.append((value, name))
        elif (
            holder is not None
            and issubclass(kind, (np.ndarray, np.generic))
            and _is_replaceable(value)
        ):
            self.replaceable.append(Place(holder, key, value))

    def _visit_children(self, value: torch.nn.Module, name: str) -> None:
        for inner, item in value._modules.items():
            self._meet(item, f"{name}.{inner}")

    def _visit_behind(self, value: Any, name: str) -> None:
        for item in wrapped_objects(value):
            self._meet(item, name)

    def _visit_object(self, value: Any, name: str) -> None:
        kind = type(value)
        for attributes in attributes_of(value):
            self._hold(name, attributes, kind)
        self._classes.extend((part, "") for part in kind.__mro__ if _is_programs_class(part))

    def _visit_class(self, kind: type, name: str = "") -> None:
        """Record variable attributes of a class of the program, and visit its functions."""
        for item in list(vars(kind).values()):
            if isinstance(item, types.FunctionType) and self._is_new(item):
                self._visit_function(item)
        if _holds_data(kind):
            self._hold(kind.__name__, vars(kind), kind)
        self._visit_module(_variables_around(kind))

    def _visit_function(self, function: types.FunctionType, name: str = "") -> None:
        """Record the enclosing variables of a function, its attributes, and its mutable defaults.

        All calls that do not pass such a list or dict share the default.
        """
        new_cells = [cell for cell in function.__closure__ or () if self._is_new(cell)]
        if new_cells and (cells := cells_of(function)):
            self._hold("", cells, function)
        code, values = function.__code__, function.__defaults__ or ()
        if function.__dict__ or function.__name__ in code.co_names:
            self._hold(function.__qualname__, function.__dict__, function)
        names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
        named = dict(zip(names, values, strict=True)) | (function.__kwdefaults__ or {})
        kept = {name: value for name, value in named.items() if isinstance(value, (list, dict))}
        if kept:
            self._hold(f"{function.__qualname__}()", kept)

    def _visit_module(self, variables: dict[str, Any]) -> None:
        if self._is_new(variables):
            self._hold("", variables, variables.get("__file__") or "")

    def _hold(self, name: str, values: Any, of: Any = None) -> None:
        self._holders.append(Holder(name, values, of))
        self._copies.append(copy_of(values))
        self._visit_items(len(self._holders) - 1)

    def _visit_items(self, index: int) -> None:
        holder = self._holders[index]
        is_class = isinstance(holder.values, types.MappingProxyType)
        hidden = is_class or isinstance(holder.of, str)
        inside = None if is_class or isinstance(holder.values, tuple) else holder
        for key, value in items_in(self._copies[index]):
            if (hidden and key.startswith("__")) or key in _OF_MODULES:
                continue  # __builtins__ and similar variables belong to Python
            if type(value) not in PASSIVE and id(value) not in self._seen:
                self._meet(value, holder.label(key), inside, key)

    def _is_new(self, value: Any) -> bool:
        if id(value) in self._seen:
            return False
        self._seen[id(value)] = value
        return True


@functools.cache
def _looks_into(kind: Any) -> tuple[Callable[[Program, Any, str], None], ...]:
    """Return a function that visits an object of that type; none for arrays and leaf types."""
    if kind in PASSIVE or issubclass(kind, (np.ndarray, np.generic, torch.Tensor, Number)):
        return ()
    if issubclass(kind, type):
        return (Program._visit_class,)
    found: list[Callable[[Program, Any, str], None]] = []
    if issubclass(kind, (dict, *LISTS)):
        found.append(lambda program, value, name: program._hold(name, value))
    if issubclass(kind, types.FunctionType):
        found.append(Program._visit_function)
    elif _is_programs_class(kind) and not issubclass(kind, queue.Queue):
        found.append(Program._visit_object)
    elif issubclass(kind, torch.nn.Module):
        found.append(Program._visit_children)
    elif issubclass(kind, STANDING):
        found.append(Program._visit_behind)
    return tuple(found)


def _is_replaceable(value: Any) -> bool:
    is_plain = type(value) is np.ndarray and value.flags.writeable
    return (is_plain or isinstance(value, np.generic)) and value.dtype.kind in "fiub"


@functools.cache
def _is_programs_class(kind: type) -> bool:
    """Return whether a class is part of the program's code, see ``_trace.is_user_code``."""
    if issubclass(kind, types.ModuleType):
        return False
    if kind is types.SimpleNamespace or kind.__module__ == "__main__":
        return True
    file = _variables_around(kind).get("__file__")
    return isinstance(file, str) and _trace.is_user_code(file)


@functools.cache
def _holds_data(kind: type) -> bool:
    """Return whether a class of the program has attributes other than methods."""
    if not _is_programs_class(kind) or issubclass(kind, enum.Enum):
        return False
    items = [item for name, item in vars(kind).items() if not name.startswith("__")]
    return not all(isinstance(item, _MEMBERS) for item in items)


def _modules_beside(variables: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the variables of imported modules in the same package or directory."""
    package = (variables.get("__package__") or "").partition(".")[0]
    folder = os.path.dirname(str(variables.get("__file__")))
    found: list[dict[str, Any]] = []
    for value in list(variables.values()):
        if isinstance(value, types.ModuleType):
            file = str(getattr(value, "__file__", None))
            of_package = value.__name__.partition(".")[0] == package
            is_near = of_package if package else os.path.dirname(file) == folder
            if is_near and _trace.is_user_code(file):
                found.append(vars(value))
    return found


def _variables_around(kind: type) -> dict[str, Any]:
    """Return the variables of a class's module, which its functions can access.

    A module from a custom loader may not be registered.
    """
    functions = (item for item in vars(kind).values() if isinstance(item, types.FunctionType))
    for function in functions:
        if function.__globals__.get("__name__") == kind.__module__:
            return function.__globals__
    return getattr(sys.modules.get(kind.__module__), "__dict__", {})
