"""Runs a program eagerly, exports it, and compares both tick by tick."""

from __future__ import annotations

import contextlib
from pathlib import Path

import torch

import leapp

from . import Policy, Ports, Program


def make(program: Program, backend: str) -> Policy:
    """A new policy, always the same."""
    torch.manual_seed(3)
    return program.make(backend)


def run_eager(program: Program, backend: str, seed: int, ticks: int) -> list[tuple[Ports, Ports]]:
    """Fresh inputs and what plain PyTorch makes of them."""
    policy = make(program, backend)
    rng = torch.Generator().manual_seed(seed)
    record = []
    for _ in range(ticks):
        inputs = policy.sense(rng)
        kept = {key: value.clone() for key, value in inputs.items()}
        outputs = policy.step(inputs)
        record.append((kept, {key: value.detach().clone() for key, value in outputs.items()}))
    return record


def export(program: Program, backend: str, folder: Path) -> list[Ports]:
    """Traces and compiles ``folder/g``; returns what the program gave while it was traced."""
    policy = make(program, backend)
    rng = torch.Generator().manual_seed(1)
    results = []
    leapp.start("g", save_path=str(folder))
    try:
        for _ in range(program.traced):
            outputs = policy.step(policy.sense(rng))
            results.append({key: value.detach().clone() for key, value in outputs.items()})
    except BaseException:
        with contextlib.suppress(Exception):
            leapp.stop()
        raise
    leapp.stop()
    leapp.compile_graph(visualize=False, golden=program.traced)
    return results


def shadow(program: Program, backend: str, folder: Path) -> leapp.ShadowReport:
    """What a shadow run of the program, on fresh inputs, sees of its bundle."""
    policy = make(program, backend)
    rng = torch.Generator().manual_seed(2)
    with leapp.shadow(
        folder / "g" / "g.yaml", rtol=max(program.rtol, 1e-3), atol=max(program.atol, 1e-5)
    ) as run:
        for _ in range(program.ticks):
            policy.step(policy.sense(rng))
    return run.report()


def mismatches(program: Program, backend: str, folder: Path) -> list[str]:
    """Where the bundle leaves eager PyTorch, over fresh inputs."""
    manager = leapp.InferenceManager(str(folder / "g" / "g.yaml"))
    found = []
    for tick, (inputs, expected) in enumerate(run_eager(program, backend, 2, program.ticks)):
        outputs = manager.run_policy(inputs)
        for key, value in expected.items():
            try:
                torch.testing.assert_close(
                    torch.as_tensor(outputs[key]),
                    value,
                    rtol=program.rtol,
                    atol=program.atol,
                    equal_nan=True,
                )
            except AssertionError as error:
                found.append(f"tick {tick}, {key}: {error}")
    return found
