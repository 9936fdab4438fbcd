"""Runs a program eagerly, exports it, and compares both tick by tick."""

from __future__ import annotations

import contextlib
from pathlib import Path

import torch

import leapp

from . import Policy, Ports, Program


def make(program: Program, backend: str) -> Policy:
    """Return a new policy, always the same one."""
    torch.manual_seed(3)
    return program.make(backend)


def run_eager(program: Program, backend: str, seed: int, ticks: int) -> list[tuple[Ports, Ports]]:
    """Return new inputs and the results of plain PyTorch for them."""
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
    """Trace and compile ``folder/g``; return the outputs of the program while traced."""
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
    """Return the report of a shadow run of the program on new inputs."""
    policy = make(program, backend)
    rng = torch.Generator().manual_seed(2)
    with leapp.shadow(
        folder / "g" / "g.yaml", rtol=max(program.rtol, 1e-3), atol=max(program.atol, 1e-5)
    ) as run:
        for _ in range(program.ticks):
            policy.step(policy.sense(rng))
    return run.report()


def mismatches(program: Program, backend: str, folder: Path) -> list[str]:
    """Return where the bundle differs from eager PyTorch, on new inputs."""
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
