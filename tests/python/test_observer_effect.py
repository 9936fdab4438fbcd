"""A program computes the same values and holds the same objects with and without tracing."""

from __future__ import annotations

import contextlib
import gc
import logging
import random
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from held_objects import Object, changes, differences, held_objects
from programs import PROGRAMS, TRAPS, Program
from programs.runner import make

import leapp
from leapp._annotate import Annotate

TICKS = 3
ALL = {**PROGRAMS, **TRAPS}

#: Programs that use torch.compile or a CUDA graph: they run eagerly while traced.
COMPILED = {name for name in ALL if "compile" in name}


@contextlib.contextmanager
def nothing() -> Iterator[None]:
    yield


@contextlib.contextmanager
def tracing(folder: Path) -> Iterator[None]:
    leapp.start("g", save_path=str(folder))
    try:
        yield
    finally:
        with contextlib.suppress(leapp.LeappError):
            leapp.stop()


def run(program: Program, session: Any) -> tuple[list[dict[str, bytes]], Any]:
    """Return the outputs of every tick, and the state of the random generators afterwards."""
    random.seed(5)
    np.random.seed(5)
    policy = make(program, "jit")
    rng = torch.Generator().manual_seed(1)
    ticks = []
    with session:
        for _ in range(TICKS):
            outputs = policy.step(policy.sense(rng))
            ticks.append({key: bits_of(value) for key, value in outputs.items()})
            del outputs
    return ticks, (torch.get_rng_state().tolist(), random.getstate(), repr(np.random.get_state()))


def holdings(program: Program, session: Any) -> list[dict[str, Object]]:
    """Return the objects that the program holds after every tick. Holding them changes weak
    references.
    """
    policy = make(program, "jit")
    rng = torch.Generator().manual_seed(1)
    ticks: list[dict[str, Object]] = []
    before = held_objects(policy)
    with session:
        assert not changes(before, held_objects(policy)), "start() changed objects"
        for _ in range(TICKS):
            policy.step(policy.sense(rng))
            ticks.append(held_objects(policy))
    assert not changes(ticks[-1], held_objects(policy)), "stop() changed objects"
    return ticks


def bits_of(value: torch.Tensor) -> bytes:
    return value.detach().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The changes that annotate calls make to the calling program."""
    found: list[str] = []
    original = Annotate.input_tensors

    def watching(self: Any, node: str, tensors: Any) -> Any:
        policy = sys._getframe(1).f_locals.get("self")
        before = held_objects(policy)
        result = original(self, node, tensors)
        found.extend(changes(before, held_objects(policy)))
        return result

    monkeypatch.setattr(Annotate, "input_tensors", watching)
    return found


@pytest.mark.parametrize("program", ALL.values(), ids=ALL)
@torch.no_grad()
def test_tracing_changes_no_bit(program: Program, tmp_path: Path) -> None:
    plain = run(program, nothing())
    with allowed_to_refuse(program):
        traced = run(program, tracing(tmp_path))
        assert plain[0] == traced[0], "another output"
        assert plain[1] == traced[1], "random numbers were drawn or put back"


@pytest.mark.parametrize("program", ALL.values(), ids=ALL)
@torch.no_grad()
def test_tracing_changes_no_object(program: Program, tmp_path: Path, watched: list[str]) -> None:
    plain = holdings(program, nothing())
    watched.clear()
    with allowed_to_refuse(program):
        traced = holdings(program, tracing(tmp_path))
        for tick, both in enumerate(zip(plain, traced, strict=True)):
            assert not differences(*both), f"tick {tick}"
    assert not watched, "input_tensors() changed objects"


@contextlib.contextmanager
def allowed_to_refuse(program: Program) -> Iterator[None]:
    try:
        yield
    except leapp.LeappError:
        if program.name not in TRAPS:
            raise


class Policy:
    def __init__(self) -> None:
        self.net = torch.nn.Linear(3, 2)
        self.h = self.g = torch.zeros(1, 2)

    def step(self) -> None:
        x = leapp.annotate.input_tensors("policy", {"x": torch.ones(1, 3)})
        self.h = 0.5 * self.h + self.net(x)
        leapp.annotate.output_tensors("policy", {"y": self.h + self.g}, export_with="jit")


def process_state() -> dict[str, Any]:
    """The changes that LEAPP could leave in the process."""
    modules = {
        "torch": torch, "Tensor": torch.Tensor, "functional": torch.nn.functional, "np": np,
        "np.random": np.random, "random": random, "threading": threading, "builtins": __builtins__,
    }  # fmt: skip
    names = {
        f"{name}.{key}": id(item)
        for name, module in modules.items()
        for key, item in (module if isinstance(module, dict) else vars(module)).items()
        if not key.startswith("__warningregistry")
    }
    return {
        **names,
        "grad": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "dtype": torch.get_default_dtype(),
        "threads": torch.get_num_threads(),
        "modes": torch._C._len_torch_function_stack(),
        "dispatch": torch._C._len_torch_dispatch_stack(),
        "keys": str(torch._C._dispatch_tls_is_dispatch_key_included("TESTING_ONLY_GenericMode")),
        "rng": torch.get_rng_state().tolist(),
        "python rng": random.getstate(),
        "numpy rng": repr(np.random.get_state()),
        "errors": np.geterr(),
        "warnings": list(warnings.filters),
        "hooks": (sys.excepthook, sys.gettrace(), sys.getprofile(), sys.displayhook),
        "signals": {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)},
        "gc": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), list(gc.callbacks)),
        "logging": list(logging.getLogger().handlers),
        "path": list(sys.path),
        "running": [each.name for each in threading.enumerate()],
    }


def left_changed(before: dict[str, Any]) -> list[str]:
    now = process_state()
    return sorted(key for key in before.keys() | now.keys() if before.get(key) != now.get(key))


def test_a_session_and_an_export_leave_the_process_as_it_was(tmp_path: Path) -> None:
    policy = Policy()
    with tracing(tmp_path):  # imports its modules
        policy.step()
    leapp.compile_graph(visualize=False)
    policy = Policy()
    state, held = process_state(), held_objects(policy)
    with tracing(tmp_path):
        pass
    assert not left_changed(state)
    assert not changes(held, held_objects(policy))
    leapp.start("g", save_path=str(tmp_path))
    policy.step()
    leapp.stop()
    held = held_objects(policy)
    assert not left_changed(state)
    leapp.compile_graph(visualize=False)
    assert not left_changed(state)
    assert not changes(held, held_objects(policy))


def test_functions_of_time_and_random_are_not_replaced(tmp_path: Path) -> None:
    import concurrent.futures
    import time

    owners: list[Any] = [time, random, concurrent.futures.Future, np.random, threading]
    before = [dict(vars(owner)) for owner in owners]
    with tracing(tmp_path):
        for owner, names in zip(owners, before, strict=True):
            assert all(vars(owner)[name] is value for name, value in names.items()), owner


def test_compiling_calls_no_function_of_the_program(tmp_path: Path) -> None:
    calls = []

    @leapp.annotate.method(export_with="jit")
    def act(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        y = x * 2
        return y

    with tracing(tmp_path):
        act(torch.ones(3))
    leapp.compile_graph(visualize=False, thorough=True)
    assert len(calls) == 1
