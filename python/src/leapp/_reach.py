"""What a function can reach, and how to put it back after a call.

A function reaches the variables of the functions around it, the globals that its code names, what
these hold, and the code of the methods it may call. All of that is looked through before a call.
An object of a kind that is not known here (a simulator, a file, a generator), a name that stands
for an effect (``print``, ``open``) or a module of unknown contents means that the call might not be
undone.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import random
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from . import _held

#: Modules whose functions change nothing but what they are given, and random numbers.
_KNOWN_MODULES = frozenset(
    "abc cmath collections copy dataclasses einops enum functools itertools leapp math numpy "
    "operator random time torch typing typing_extensions warnings".split()
)
#: Names in the program's code that stand for what cannot be undone.
_EFFECTS = frozenset(
    "breakpoint compile eval exec exit input open print quit save send sleep system write "
    "__import__".split()
)
_MOST_OBJECTS = 20_000
_MOST_BYTES = 64 << 20


class UnknownReachError(Exception):
    """Something was met that could not be put back."""


class Reach:
    """Everything that was reached, as it is now."""

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}  # held, so that no id comes back
        self._undo = contextlib.ExitStack()
        self._names: set[str] = set()  # that the code mentions
        self._classes: dict[type, None] = {}  # of the program, with methods to look at
        self._bytes = 0
        for generator in (torch.default_generator, random._inst, np.random.mtrand._rand):
            self.follow(generator)

    def follow(self, value: Any) -> None:
        """Look through a value and all that it leads to."""
        todo = [value]
        while todo:
            while todo:
                todo.extend(self._look_at(todo.pop()))
                if len(self._seen) > _MOST_OBJECTS:
                    raise UnknownReachError(f"it reaches more than {_MOST_OBJECTS} objects")
            todo.extend(self._members())

    @contextlib.contextmanager
    def put_back(self) -> Iterator[None]:
        """Undo afterwards whatever the block does to what was reached."""
        try:
            yield
        finally:
            with torch.no_grad():
                self._undo.close()

    def _look_at(self, value: Any) -> list[Any]:
        """Note how a value is put back, and return what it holds."""
        if isinstance(value, _held.IMMUTABLE) or id(value) in self._seen:
            return []
        self._seen[id(value)] = value
        if isinstance(value, (torch.Tensor, np.ndarray)):
            return self._keep_array(value)
        if isinstance(value, (list, dict, set, collections.deque, _held.Fields)):
            return self._keep_container(value)
        if isinstance(value, (tuple, frozenset)):
            return list(value)
        if isinstance(value, types.FunctionType):
            return self._look_at_function(value)
        if isinstance(value, types.ModuleType):
            if not _is_known(value.__name__):
                raise UnknownReachError(f"its code uses the module {value.__name__}")
            return []
        if isinstance(value, type):
            return self._look_at_class(value)
        if isinstance(value, (types.MethodType, staticmethod, classmethod, property)):
            return _held.behind(value)
        return self._look_at_object(value)

    def _keep_array(self, value: Any) -> list[Any]:
        self._bytes += value.nbytes
        if self._bytes > _MOST_BYTES:
            raise UnknownReachError(f"it reaches more than {_MOST_BYTES >> 20} MiB of tensors")
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                raise UnknownReachError("it reaches an array of objects")
            if value.flags.writeable:
                self._undo.callback(np.copyto, value, value.copy())
            return []
        plain = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
        if value.layout is not torch.strided or type(value) not in plain:
            raise UnknownReachError(f"it reaches a {type(value).__name__}")
        version = None if value.is_inference() else value._version  # those do not count writes
        self._undo.callback(_rewrite, value, value.detach().clone(), version)
        return [value.grad] if value.is_leaf and value.grad is not None else []

    def _keep_container(self, value: Any) -> list[Any]:
        former = dict(value) if isinstance(value, (dict, _held.Fields)) else list(value)
        self._undo.callback(_refill, value, former)
        return [*former, *former.values()] if isinstance(former, dict) else former

    def _look_at_function(self, function: types.FunctionType) -> list[Any]:
        if _is_known(function.__module__):
            return []
        found: list[Any] = [function.__defaults__, function.__kwdefaults__, function.__dict__]
        found.append(_held.cells_of(function))
        names = _names_in(function.__code__)
        if effects := sorted(names & _EFFECTS):
            raise UnknownReachError(f"{function.__qualname__}() names {effects[0]}")
        self._names |= names
        variables = function.__globals__
        for name in names & variables.keys():
            found.append(variables[name])
            self._undo.callback(variables.__setitem__, name, found[-1])
        return found

    def _look_at_class(self, kind: type) -> list[Any]:
        if not _is_known(kind.__module__) and not hasattr(builtins, kind.__name__):
            self._classes[kind] = None
            self._undo.callback(_reset_class, kind, dict(vars(kind)))
        return list(kind.__bases__) if kind not in (object, type) else []

    def _look_at_object(self, value: Any) -> list[Any]:
        """Return what an object holds, if all of it lies in its dict.

        Slots go with classes of C, as of sockets; a partial hides what a name would have told.
        """
        if isinstance(value, _held.GENERATORS):
            state, restore = _held.state_of(value)
            self._undo.callback(restore, state)
            return []
        kind = type(value)
        is_open = isinstance(value, torch.nn.Module) or kind.__module__.startswith("leapp.")
        attributes = _held.attributes_of(value) if is_open or not _is_known(kind.__module__) else []
        if [type(each) for each in attributes] != [dict]:
            raise UnknownReachError(f"it reaches a {kind.__qualname__}")
        return [kind, *attributes]

    def _members(self) -> list[Any]:
        """Return what classes met so far have that the code met so far may call or use."""
        used = self._names | {"forward"}
        return [
            value
            for kind in self._classes
            for name, value in vars(kind).items()
            if id(value) not in self._seen and not isinstance(value, _held.IMMUTABLE)
            if name in used or (_is_dunder(name) and isinstance(value, _held.FUNCTIONS))
            if isinstance(value, _held.FUNCTIONS) or not _is_stock_descriptor(value)
        ]


def _is_known(module: str | None) -> bool:
    return (module or "").partition(".")[0] in _KNOWN_MODULES


def _is_dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_stock_descriptor(value: Any) -> bool:
    """Whether a member of a class is of a kind that Python gives it, and holds nothing itself."""
    kind = type(value)
    return hasattr(kind, "__get__") and (
        kind.__module__ == "builtins" or _is_known(kind.__module__)
    )


def _names_in(code: types.CodeType) -> set[str]:
    """Return every name that code mentions, also inside the functions it defines."""
    inside = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return {*code.co_names}.union(*map(_names_in, inside))


def _refill(value: Any, former: Any) -> None:
    """Let a container hold what it held; a dict that still does is left alone."""
    is_dict = isinstance(value, dict)
    if is_dict and value.keys() == former.keys() and all(value[k] is former[k] for k in former):
        return
    value.clear()
    value.extend(former) if isinstance(value, (list, collections.deque)) else value.update(former)


def _reset_class(kind: type, former: dict[str, Any]) -> None:
    """Let a class have the members it had."""
    for name, value in list(vars(kind).items()):
        if name not in former and not _is_dunder(name):
            delattr(kind, name)
        elif value is not former.get(name, value):
            setattr(kind, name, former[name])
    for name in former.keys() - vars(kind).keys():
        setattr(kind, name, former[name])


def _rewrite(value: torch.Tensor, former: torch.Tensor, version: int | None) -> None:
    """Let a tensor hold what it held, unless nothing was written there since."""
    if version is None or value._version != version:
        with torch.inference_mode(version is None):
            value.data.copy_(former)
