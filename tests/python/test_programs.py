"""The programs, eager against exported, at every tick; the traps, never silently wrong."""

from __future__ import annotations

import re
import traceback

import pytest
import torch
from conftest import Workbench
from programs import PROGRAMS, TRAPS, Program
from programs.runner import export, mismatches, run_eager, shadow

import leapp


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_program(program: Program, backend: str, bench: Workbench) -> None:
    if backend == "onnx" and program.onnx:
        with torch.no_grad(), pytest.raises(Exception, match=r"\.py:\d+"):
            export(program, backend, bench.folder)
        return
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
        said = [each for each in leapp.diagnostics() if each.level == "WARNING"]
        assert not [each for each in said if each.code == "LP948"]


@pytest.mark.parametrize("program", TRAPS.values(), ids=TRAPS)
def test_trap(program: Program, bench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
    named = re.compile(r"traps\.py:\d+")
    with torch.no_grad():
        try:
            export(program, "jit", bench.folder)
        except Exception as error:
            text = f"{error}" + bench.log()
            assert named.search(text) or "policy" in text, traceback.format_exc()
            return
        shown = capfd.readouterr()
        if named.search(shown.out + shown.err):
            return
        assert not mismatches(program, "jit", bench.folder), "wrong, and nothing was said"
