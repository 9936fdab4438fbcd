"""The objects of the program that hold tensors, arrays and numbers, with the path to each.

LEAPP searches twice: briefly when a session begins and when a node first opens (:func:`note`),
because the program may reassign a variable, and thoroughly at the end (:func:`look`). It only reads
(``_walk``), and it keeps no object and no memory alive.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterable
from typing import Any

import torch

from . import _trace
from ._walk import ARRAYS, Found, Held, Walk, name_of_class

#: Number of objects that :func:`look` visits. Objects near the program's variables come first.
_MOST_OBJECTS = 50_000
#: Number of objects that :func:`note` visits from the innermost frame, while the program waits.
#: Each outer frame has half the number of the next inner one.
_MOST_NOTED = 1000
#: Names by which an object refers to itself; other names are preferred.
_OWN_NAMES = ("self", "cls")

#: Globals, and names and values of variables, of frames.
_Frames = list[tuple[dict[str, Any], list[tuple[str, Any]]]]

#: Modules passed to annotate calls, by id, because a set would call their hash.
_given: dict[int, weakref.ref[torch.nn.Module]] = {}
#: The memory of each recorded tensor; its address is valid only while the memory exists.
_memory: list[tuple[Any, Held]] = []
#: The addresses of tensors in variables of functions.
_local: set[int] = set()
_found = Found()


def begin() -> None:
    """Begin a session with a brief search of the program's objects."""
    global _brief, _found
    _memory.clear()
    _local.clear()
    _given.clear()
    _brief, _found = Walk(Found(), _memory), Found()
    note(_trace.begin_frames())


def remember(value: Any) -> None:
    """Record a module that was passed to an annotate call."""
    if issubclass(type(value), torch.nn.Module):
        _given[id(value)] = weakref.ref(value)


def note(frames: _Frames) -> None:
    """Record the objects in frames around a node that opens for the first time.

    The program waits for it. Known objects are read again only if a new variable of a function
    holds them.
    """
    own: list[tuple[list[tuple[str, Any]], int]] = []
    known = len(_memory)
    for distance, (variables, local) in enumerate(frames):
        most = _MOST_NOTED >> distance
        arrays = [each for each in local if issubclass(type(each[1]), ARRAYS)]
        _brief.run(arrays, 0)
        _local.update(held.address for _, held in _memory[known:])
        _brief.run([each for each in local if each[0] not in _OWN_NAMES], most, again=True)
        _brief.run(_globals_in(variables), most)
        own.append(([each for each in local if each[0] in _OWN_NAMES], most))
        known = len(_memory)
    for roots, most in own:
        _brief.run(roots, most, again=True)


def look() -> None:
    """Find the program's objects at the end of a session."""
    global _found
    walk = Walk(Found())
    roots = _roots()
    objects = [root for root in roots if not issubclass(type(root[1]), ARRAYS)]
    walk.run([root for root in objects if root[0] not in _OWN_NAMES], _MOST_OBJECTS)
    walk.run([root for root in objects if root[0] in _OWN_NAMES], _MOST_OBJECTS)
    # A variable may be a second name for the tensor of an object, whose name says more.
    walk.run([root for root in roots if issubclass(type(root[1]), ARRAYS)], _MOST_OBJECTS)
    given = [module for get in _given.values() if (module := get()) is not None]
    walk.run([(name_of_class(type(module)), module) for module in given], _MOST_OBJECTS)
    walk.found.tensors += [held for memory, held in _memory if not memory.expired()]
    _found = walk.found


def held_tensors() -> list[Held]:
    """Return the tensors and arrays that were found, preferred ones first."""
    return _found.tensors


def tensor_names() -> dict[int, tuple[str, str]]:
    """Return (name, path) of tensors by the address of their first element.

    These are the names of weights and states in the bundle.
    """
    names: dict[int, tuple[str, str]] = {}
    for held in _found.tensors:
        weight = _found.weights.get(held.address)
        names.setdefault(held.address, (weight or name_of(held.path), held.path))
    return names


def name_of(path: str) -> str:
    """Return a name for a path: ``env.scene['imu'].data`` becomes scene_imu_data."""
    first, *rest = re.findall(r"\w+", path) or [""]
    parts = rest if rest and not rest[0].isdigit() else [first, *rest]
    return "_".join(part.strip("_") for part in parts)


def keeps(frames: _Frames, sources: Iterable[list[torch.Tensor]]) -> bool:
    """Return whether an object of the program holds one of the tensors of each list.

    The program may replace that tensor before the next pass, unlike one in a local variable.
    """
    walk = Walk(Found())
    for variables, local in frames:
        walk.run([each for each in local if not issubclass(type(each[1]), ARRAYS)], _MOST_OBJECTS)
        walk.run(_globals_in(variables), _MOST_OBJECTS)
    noted = [held for memory, held in _memory if not memory.expired()]
    found = [*walk.found.tensors, *(held for held in noted if held.address not in _local)]
    places = [(each.address, each.address + each.bytes) for each in found]

    def is_held(tensor: torch.Tensor) -> bool:
        address = torch._C.TensorBase.data_ptr(tensor)
        return any(begin <= address < end for begin, end in places)

    return all(any(map(is_held, tensors)) for tensors in sources)


def path_of_number(value: float) -> str:
    """Return the path of the only number of that value in the program; otherwise ``""``.

    If there is none, one of the opposite sign counts: ``-env.limit``. If the program has no such
    number at the end, the numbers from the opening of a node count.
    """
    for numbers in (_found.numbers, _brief.found.numbers):
        for sign, number in (("", value), ("-", -value)):
            path, count = numbers.get(number, ("", 0))
            if count > 0:
                return sign + path if count == 1 else ""
    return ""


def _roots() -> list[tuple[str, Any]]:
    """Return the variables of the frames that call LEAPP, those of the outermost first."""
    frames = _trace.frames()[::-1]
    roots = [each for _, local in frames for each in local]
    return roots + [each for variables, _ in frames for each in _globals_in(variables)]


def _globals_in(variables: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in list(variables.items()) if name[:2] != "__"]


#: The search when a session begins and when a node opens for the first time.
_brief = Walk(Found(), _memory)
