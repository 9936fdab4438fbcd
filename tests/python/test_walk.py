"""The walk over the program's objects: its results, and that it runs no code of the program."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

import leapp._state

leapp._state.load()

from leapp._walk import BUFFER, OTHER, PARAMETER, Found, Walk, attributes_of  # noqa: E402


def walk(name: str, value: Any, most: int = 100) -> Found:
    found = Found()
    Walk(found).run([(name, value)], most)
    return found


def paths(name: str, value: Any) -> list[str]:
    return [each.path for each in walk(name, value).tensors]


def test_containers_and_attributes_make_the_path() -> None:
    held = SimpleNamespace(a=[(torch.ones(1),)], b={"key": {3: np.ones(2)}})
    assert paths("held", held) == ["held.a[0][0]", "held.b['key'][3]"]
    assert paths("part", functools.partial(torch.add, torch.ones(1))) == ["part[0]"]


def test_a_module_names_its_tensors() -> None:
    net = torch.nn.Sequential(torch.nn.BatchNorm1d(2))
    net.extra = torch.zeros(1)
    found = walk("net", net)
    kinds = {each.path: (each.kind, each.module) for each in found.tensors}
    assert kinds["net.0.weight"] == (PARAMETER, "net")
    assert kinds["net.0.running_mean"] == (BUFFER, "net")
    assert kinds["net.extra"] == (OTHER, "")
    assert found.weights[net[0].weight.data_ptr()] == "0.weight"


def test_an_entry_covers_the_memory_of_its_elements() -> None:
    base = torch.zeros(4, 4)
    (held,) = walk("view", base[1:3, 1:3]).tensors
    assert held.address == base[1, 1].data_ptr()
    assert held.bytes == 4 * (4 + 2)


def test_numbers_are_counted_by_value() -> None:
    found = walk("held", SimpleNamespace(a=0.25, b=[0.25, np.float32(3)]))
    assert found.numbers[0.25] == ("held.a", 2)
    assert found.numbers[3.0] == ("held.b[1]", 1)


def test_integers_beyond_every_element_type_are_passed_over() -> None:
    assert walk("held", [10**400, 0.25, -(2**2048)]).numbers == {0.25: ("held[1]", 1)}


class Settings:
    pose = np.ones(2)


def test_a_class_without_methods_belongs_to_the_program_as_its_module_does() -> None:
    assert paths("settings", Settings()) == ["Settings.pose"]
    assert walk("types", [np.finfo, np.iinfo]).tensors == []


def test_code_of_libraries_is_not_looked_into() -> None:
    pose = torch.zeros(1)
    assert paths("act", lambda: pose) == ["pose"]
    assert paths("fold", functools.lru_cache(max)) == []
    assert paths("library", torch.nn.functional.relu) == []


def test_it_ends_at_the_limit_and_in_cycles() -> None:
    ring: list[Any] = [torch.zeros(1)]
    ring.append(ring)
    assert paths("ring", ring) == ["ring[0]"]
    chain: Any = torch.zeros(1)
    for _ in range(50):
        chain = [chain]
    assert walk("chain", chain, 10).tensors == []
    assert len(walk("chain", chain, 60).tensors) == 1


class Hostile(type):
    """A metaclass that refuses comparing, hashing, reading and instance checks."""

    def _refuse(cls, *_: Any) -> Any:
        raise AssertionError("LEAPP ran code of the program")

    __eq__ = __ne__ = __hash__ = __bool__ = __len__ = __iter__ = _refuse  # type: ignore[assignment]
    __getattribute__ = __instancecheck__ = __subclasscheck__ = _refuse  # type: ignore[assignment]


class Slots(metaclass=Hostile):
    __slots__ = ("__dict__", "kept", "unset")

    def __init__(self) -> None:
        self.kept = torch.zeros(1)
        self.more = torch.ones(1)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError("LEAPP ran code of the program")

    __eq__ = __hash__ = __bool__ = __iter__ = __len__ = __getattr__  # type: ignore[assignment]
    value = property(__getattr__)  # type: ignore[arg-type]


class Descriptor(metaclass=Hostile):
    def __get__(self, *_: Any) -> Any:
        raise AssertionError("LEAPP ran code of the program")


class Described:
    field = Descriptor()
    pose = torch.zeros(2)

    def method(self) -> None: ...


def test_no_code_of_the_program_runs() -> None:
    slots = type.__call__(Slots)
    held = SimpleNamespace(slots=slots, described=Described())
    assert paths("held", held) == ["held.slots.more", "held.slots.kept", "Described.pose"]
    assert [name for name, _ in attributes_of(slots)] == ["more", "kept"]
