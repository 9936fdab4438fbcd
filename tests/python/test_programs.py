"""The programs, eager against exported, at every tick; the traps, never silently wrong."""

from __future__ import annotations

import contextlib
import re
import traceback
from pathlib import Path

import pytest
import torch
from conftest import Workbench
from programs import PROGRAMS, TRAPS, Policy, Ports, Program

import leapp

FOLDER = Path(__file__).parent / "programs"


def make(program: Program, backend: str) -> Policy:
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


def export(program: Program, backend: str, bench: Workbench) -> list[Ports]:
    """Traces and compiles; returns what the program gave while it was traced."""
    policy = make(program, backend)
    rng = torch.Generator().manual_seed(1)
    results = []
    with bench.trace():
        for _ in range(program.traced):
            outputs = policy.step(policy.sense(rng))
            results.append({key: value.detach().clone() for key, value in outputs.items()})
    bench.compile()
    return results


def mismatches(program: Program, backend: str, bench: Workbench) -> list[str]:
    """Where the bundle leaves eager PyTorch, over fresh inputs."""
    manager = bench.manager()
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


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_program(program: Program, backend: str, bench: Workbench) -> None:
    if backend == "onnx" and program.onnx:
        with torch.no_grad(), pytest.raises(Exception, match=r"\.py:\d+"):
            export(program, backend, bench)
        return
    with torch.no_grad():
        traced = export(program, backend, bench)
        for (_, plain), with_trace in zip(
            run_eager(program, backend, 1, program.traced), traced, strict=True
        ):
            for key, value in plain.items():
                assert torch.equal(value, with_trace[key]), f"tracing changed {key}"
        assert not mismatches(program, backend, bench)


@pytest.mark.parametrize("program", TRAPS.values(), ids=TRAPS)
def test_trap(program: Program, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
    named = re.compile(r"traps\.py:\d+")
    with torch.no_grad():
        try:
            export(program, "jit", bench)
        except Exception as error:
            text = f"{error}" + bench.log()
            assert named.search(text) or "policy" in text, traceback.format_exc()
            return
        finally:
            with contextlib.suppress(Exception):
                leapp.stop()
        shown = capfd.readouterr()
        if named.search(shown.out + shown.err):
            return
        assert not mismatches(program, "jit", bench), "wrong, and nothing was said"
