"""The graph of objects that a program holds, by identity and type, to compare runs."""

from __future__ import annotations

import collections
import types
from typing import Any, NamedTuple

import numpy as np
import torch

_PLAIN = (int, float, complex, str, bytes, bool, types.NoneType, types.ModuleType, type)
_CONTAINERS = (list, tuple, set, frozenset, collections.deque)


class Object(NamedTuple):
    """An object at a path, held so that no other object gets its id."""

    value: Any
    kind: type
    memory: int  # of a tensor; 0 of others


def held_objects(root: Any, name: str = "policy") -> dict[str, Object]:
    """Return reachable objects by path. Each is visited once, but listed at every path."""
    found: dict[str, Object] = {}
    visited: set[int] = set()
    todo = [(name, root)]
    while todo:
        path, value = todo.pop(0)
        kind: Any = type(value)
        if kind.__module__.startswith("leapp.") and not issubclass(kind, np.ndarray):
            continue  # wrapped by annotate.method()
        if kind in _PLAIN or issubclass(kind, (type, np.generic)) or kind.__name__ == "Number":
            continue
        is_tensor = issubclass(kind, torch.Tensor)
        memory = torch._C.TensorBase.data_ptr(value) if is_tensor else 0
        found[path] = Object(value, kind, memory)
        if id(value) in visited:
            continue
        visited.add(id(value))
        todo += [(f"{path}{step}", item) for step, item in _items_of(value, kind)]
    return found


def _items_of(value: Any, kind: type) -> list[tuple[str, Any]]:
    if issubclass(kind, (torch.Tensor, np.ndarray, torch.Generator)):
        return []
    items: list[tuple[str, Any]] = []
    if issubclass(kind, dict):
        keys = [key if type(key) is str else i for i, key in enumerate(dict.keys(value))]
        items = [(f"[{key!r}]", item) for key, item in zip(keys, dict.values(value), strict=True)]
    elif issubclass(kind, _CONTAINERS) and not issubclass(kind, (set, frozenset)):
        base = next(each for each in _CONTAINERS if issubclass(kind, each))
        items = [(f"[{i}]", item) for i, item in enumerate(base.__iter__(value))]
    elif issubclass(kind, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType()]
        return [(f"<{i}>", item) for i, item in enumerate(cells)]
    elif issubclass(kind, types.MethodType):
        return [("<self>", value.__self__)]
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except AttributeError:
        attributes = {}
    items += [(f".{key}", item) for key, item in attributes.items() if key[:2] != "__"]
    for part in type.__dict__["__mro__"].__get__(kind):
        for key, item in type.__dict__["__dict__"].__get__(part).items():
            if isinstance(item, types.MemberDescriptorType):
                try:
                    items.append((f".{key}", item.__get__(value)))
                except (AttributeError, TypeError):
                    continue
            elif part.__module__.startswith("programs") and not key.startswith("__"):
                items.append((f".{key}", item))
    return items


def changes(before: dict[str, Object], after: dict[str, Object]) -> list[str]:
    """Return the paths at which there is a different object."""
    lost = [path for path in before if path not in after]
    other = [
        path for path in before if path not in lost and after[path].value is not before[path].value
    ]
    return [*lost, *other, *(after.keys() - before.keys())]


def differences(plain: dict[str, Object], traced: dict[str, Object]) -> list[str]:
    """Return where two runs of a program hold objects of different types or share them differently.

    A tensor that an annotation returned may be a different object on the same memory.
    """
    found = [f"{path} is there in one run only" for path in plain.keys() ^ traced.keys()]
    common = sorted(plain.keys() & traced.keys(), key=list(plain).index)
    by_id: dict[int, str] = {}
    for path in common:
        here, there = plain[path], traced[path]
        if _name(here.kind) != _name(there.kind) and not _is_array_of_a_node(here.kind, there.kind):
            found.append(f"{path}: {here.kind.__name__} is {there.kind.__name__}")
        first = by_id.setdefault(id(here.value), path)
        other = traced[first]
        if there.value is not other.value and not (there.memory and there.memory == other.memory):
            found.append(f"{path} and {first} are one object, and two while traced")
    owners: dict[int, str] = {}
    for path in common:
        first = owners.setdefault(id(traced[path].value), path)
        if plain[path].value is not plain[first].value:
            found.append(f"{path} and {first} are two objects, and one while traced")
    return found


def _name(kind: type) -> tuple[str, str]:
    # PyTorch creates classes for single modules, for example for parametrised ones.
    return kind.__module__, kind.__qualname__


def _is_array_of_a_node(plain: type, traced: type) -> bool:
    """Return whether an array that a node computed records its uses."""
    return issubclass(traced, plain) and issubclass(plain, np.ndarray)
