"""Realistic policy programs: each is run eagerly and as an exported bundle, tick by tick.

A program is a class with ``sense`` (the measurements of this tick) and ``step`` (annotated
policy code, from ``node/port`` inputs to ``node/port`` outputs). Building one twice from the same
seed must give two equal ones.
"""

from __future__ import annotations

import abc
import dataclasses
import importlib
import re
from collections.abc import Callable

import torch

Ports = dict[str, torch.Tensor]


class Policy(abc.ABC):
    """One program; ``backend`` is the export_with of its nodes."""

    def __init__(self, backend: str = "jit") -> None:
        self.backend = backend
        self.build()

    def build(self) -> None:  # noqa: B027
        """Create weights and memory. The caller has seeded the random generator."""

    @abc.abstractmethod
    def sense(self, rng: torch.Generator) -> Ports:
        """Return new inputs."""

    @abc.abstractmethod
    def step(self, inputs: Ports) -> Ports:
        """Run one tick."""


@dataclasses.dataclass(frozen=True)
class Program:
    """A registered policy, and how to run it."""

    name: str
    make: Callable[[str], Policy]
    ticks: int  # run with fresh inputs
    traced: int  # passes while tracing
    rtol: float
    atol: float


PROGRAMS: dict[str, Program] = {}
TRAPS: dict[str, Program] = {}


def _register(table: dict[str, Program], cls: type[Policy], **fields: object) -> type[Policy]:
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
    defaults = {"ticks": 20, "traced": 3, "rtol": 1e-4, "atol": 1e-5}
    assert name not in table, name
    table[name] = Program(name=name, make=cls, **{**defaults, **fields})  # type: ignore[arg-type]
    return cls


def program(**fields: object) -> Callable[[type[Policy]], type[Policy]]:
    """Register a program that must be exported correctly."""
    return lambda cls: _register(PROGRAMS, cls, **fields)


def trap(**fields: object) -> Callable[[type[Policy]], type[Policy]]:
    """Register a program that no trace can represent: refused, warned about, or right."""
    return lambda cls: _register(TRAPS, cls, **fields)


def normal(rng: torch.Generator, *shape: int, scale: float = 1.0) -> torch.Tensor:
    """Draw normal numbers from the program's own generator."""
    return torch.randn(*shape, generator=rng) * scale


for _module in (
    "locomotion",
    "memory",
    "normalisers",
    "views",
    "carried",
    "first_tick",
    "recurrent",
    "sharing",
    "pipelines",
    "delays",
    "rotations",
    "networks",
    "vision",
    "generative",
    "indexing",
    "language",
    "interop",
    "arrays",
    "observed",
    "traps",
):
    importlib.import_module(f"{__name__}.{_module}")
