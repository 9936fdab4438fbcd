"""Episodes in shadow runs: resets that the program reports, and those that it does not."""

from __future__ import annotations

from typing import Any

import torch
from conftest import Workbench
from test_shadow import export

import leapp
from leapp import annotate


class Leaky:
    """A hidden state."""

    def __init__(self) -> None:
        self.h = torch.zeros(2)

    def step(self) -> None:
        x = annotate.input_tensors("pi", {"x": torch.randn(2)})
        self.h = 0.9 * self.h + x
        annotate.output_tensors("pi", {"y": self.h + 1}, export_with="onnx")


def test_resets_that_the_program_tells(bench: Workbench) -> None:
    yaml = export(bench, Leaky().step)
    with torch.no_grad(), leapp.shadow(yaml) as run:
        for _ in range(3):
            program = Leaky()
            run.reset()
            for _ in range(5):
                program.step()
    report = run.report()
    assert report.passed and report.nodes["pi"].compared == 15, str(report)


def test_unannounced_resets_are_followed_and_reported(bench: Workbench, capfd: Any) -> None:
    yaml = export(bench, Leaky().step)
    capfd.readouterr()
    with torch.no_grad(), leapp.shadow(yaml) as run:
        for _ in range(2):
            program = Leaky()
            for _ in range(5):
                program.step()
    report = run.report()
    assert report.passed, str(report)
    assert report.nodes["pi"].resets == 1
    said = capfd.readouterr().err
    assert "[LP945]" in said and "tick 6" in said


def test_once_it_tells_nothing_is_guessed(bench: Workbench) -> None:
    yaml = export(bench, Leaky().step)
    program = Leaky()
    with torch.no_grad(), leapp.shadow(yaml) as run:
        run.reset()
        for i in range(8):
            if i == 5:
                program.h = torch.zeros(2)  # inside the episode, which a robot would not do
            program.step()
    first = run.report().nodes["pi"].first
    assert first is not None and first.tick == 6


def test_a_declared_state_that_returns_to_its_initial_value_is_a_reset(
    bench: Workbench, capfd: Any
) -> None:
    class Program:
        def __init__(self) -> None:
            self.h = torch.zeros(2)
            self.n = torch.zeros(2)

        def step(self) -> None:
            x = annotate.input_tensors("pi", {"x": torch.rand(2) + 0.1})
            h = annotate.state_tensors("pi", {"h": self.h})
            self.h = annotate.update_state("pi", {"h": h + x})
            self.n = self.n + 1  # this one is not annotated
            annotate.output_tensors("pi", {"y": self.h * self.n}, export_with="onnx")

    yaml = export(bench, Program().step)
    capfd.readouterr()
    with torch.no_grad(), leapp.shadow(yaml) as run:
        for _ in range(3):
            program = Program()
            for _ in range(4):
                program.step()
    report = run.report()
    assert report.passed, str(report)
    assert "[LP945]" not in capfd.readouterr().err
