"""What the user's modules call their tensors, so that exported weights and states keep the names.

The recorder knows tensors, not the modules that own them. The modules are looked for where they can
be expected: among the objects annotate calls were given, and in what the variables of the running
functions lead to.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from types import FrameType, FunctionType, ModuleType
from typing import Any

import torch

#: How far from a variable a module is looked for, and how many objects are looked at in all.
_DEPTH = 4
_OBJECTS = 5_000

#: Modules that annotate calls were given.
_seen: weakref.WeakSet[torch.nn.Module] = weakref.WeakSet()


def remember(value: Any) -> None:
    """Note a module that was given to an annotate call."""
    if isinstance(value, torch.nn.Module):
        _seen.add(value)


def tensor_names() -> dict[int, str]:
    """Return the names of parameters and buffers by the address of their first element."""
    names: dict[int, str] = {}
    for module in [*_seen, *_reachable(sys._getframe())]:
        tensors: list[Iterable[tuple[str, torch.Tensor]]] = [
            module.named_parameters(),
            module.named_buffers(),
        ]
        for group in tensors:
            for path, tensor in group:
                name = path.replace("_orig_mod.", "")  # inside a compiled module
                address = _address(tensor)
                if address:
                    # The longest name is the one seen from the outermost module.
                    names[address] = max(names.get(address, ""), name, key=len)
    return names


def _address(tensor: torch.Tensor) -> int:
    try:
        return tensor.data_ptr()
    except RuntimeError:  # lazy and fake tensors have no memory
        return 0


def _reachable(frame: FrameType | None) -> Iterator[torch.nn.Module]:
    """Yield the modules that the variables of the running functions lead to, outermost ones."""
    todo: deque[tuple[Any, int]] = deque()
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != __package__:
            todo.extend((value, 0) for value in list(frame.f_locals.values()))
            todo.extend((value, 0) for value in list(frame.f_globals.values()))
        frame = frame.f_back
    known: set[int] = set()
    while todo and len(known) < _OBJECTS:
        value, depth = todo.popleft()
        if id(value) in known:
            continue
        known.add(id(value))
        if issubclass(type(value), torch.nn.Module):
            yield value
        elif depth < _DEPTH:
            todo.extend((item, depth + 1) for item in _contents(value))


def _contents(value: Any) -> list[Any]:
    """Return what a container or an object of a user's class holds."""
    if isinstance(value, dict):
        return list(value.values()) if len(value) <= 1000 else []
    if isinstance(value, (list, tuple)):
        return list(value) if len(value) <= 1000 else []
    if isinstance(value, (type, ModuleType, FunctionType, torch.Tensor)):
        return []
    try:
        attributes = object.__getattribute__(value, "__dict__")  # runs no code of the user's
    except AttributeError:
        return []
    return list(attributes.values()) if isinstance(attributes, dict) else []
