"""The programs, eager and exported, compared at every tick; the traps are never silently wrong."""

from __future__ import annotations

import traceback

import pytest
import torch
from conftest import Workbench
from programs import PROGRAMS, TRAPS, Program
from programs.runner import export, mismatches, run_eager, shadow

import leapp


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_program(program: Program, backend: str, bench: Workbench) -> None:
    with torch.no_grad():
        traced = export(program, backend, bench.folder)
        plain = run_eager(program, backend, 1, program.traced)
        for (_, expected), given in zip(plain, traced, strict=True):
            for key, value in expected.items():
                assert torch.equal(value, given[key]), f"tracing changed {key}"
        assert not mismatches(program, backend, bench.folder)
        report = shadow(program, backend, bench.folder)
        assert report.passed, str(report)
        manager = bench.manager()
        if "golden" in manager.pipeline:
            verification = manager.verify()
            assert verification.passed, str(verification)


@pytest.mark.parametrize("program", TRAPS.values(), ids=TRAPS)
def test_trap(program: Program, bench: Workbench) -> None:
    """The trap is refused, warned about, or right; else its constants or a shadow run name it."""
    with torch.no_grad():
        try:
            export(program, "jit", bench.folder)
        except leapp.LeappError as error:
            assert error.code in REFUSALS, traceback.format_exc()
            return
        said = {each.code for each in leapp.diagnostics() if "traps.py" in each.where}
        constants = [each for node in leapp.inventory() for each in node.constants]
        if said & WARNINGS or [each for each in constants if "traps.py" in each.where]:
            return
        if leapp.InferenceManager(bench.path("g", "g.yaml")).noise_inputs:
            return  # the draws are inputs, and validated
        if not mismatches(program, "jit", bench.folder):
            return
        report = shadow(program, "jit", bench.folder)
        assert not report.passed, "wrong, and nothing named it"


#: Possible subjects of an error that refuses a trap.
REFUSALS = {"LP111", "LP223", "LP224", "LP409"}
#: Possible subjects of a warning about a trap.
WARNINGS = {
    "LP201",
    "LP202",
    "LP203",
    "LP204",
    "LP208",
    "LP214",
    "LP301",
    "LP302",
    "LP303",
    "LP412",
}
