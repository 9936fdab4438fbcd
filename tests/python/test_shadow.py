"""Shadow runs: errors that a short trace cannot show, found in a long run of the program."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from conftest import Workbench, refused

import leapp
from leapp import annotate

Step = Callable[[], Any]


def export(bench: Workbench, step: Step, passes: int = 3, **options: Any) -> str:
    with torch.no_grad(), bench.trace():
        for _ in range(passes):
            step()
    bench.compile(**options)
    return str(bench.path("g", "g.yaml"))


def shadow(yaml: str, step: Step, ticks: int) -> leapp.ShadowReport:
    with torch.no_grad(), leapp.shadow(yaml) as run:
        for _ in range(ticks):
            step()
    return run.report()


def node(name: str, x: torch.Tensor, compute: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    x = annotate.input_tensors(name, {"x": x})
    return annotate.output_tensors(name, {"y": compute(x)}, export_with="onnx")


# --- Programs that behave as traced, in every form of annotation -- -------------------------------


def test_a_program_that_goes_on_as_traced_passes(bench: Workbench) -> None:
    def step() -> None:
        node("pi", torch.randn(1, 4), lambda x: x.tanh() * 2)

    report = shadow(export(bench, step), step, 40)
    assert report.passed, str(report)
    assert report.nodes["pi"].compared == 40
    assert str(report).startswith("ok    pi: 40 ticks")


def test_the_program_gets_its_own_tensors_back(bench: Workbench) -> None:
    def step() -> None:
        node("pi", torch.randn(1, 4), lambda x: x * 2)

    yaml = export(bench, step)
    with leapp.shadow(yaml):
        x = torch.randn(1, 4, requires_grad=True)
        given = annotate.input_tensors("pi", {"x": x})
        assert given is x
        y = x * 2
        assert annotate.output_tensors("pi", {"y": y}, export_with="onnx") is y


def test_explicit_state_runs_on_its_own(bench: Workbench, backend: str) -> None:
    class Program:
        h = torch.zeros(2)

        def step(self) -> None:
            x = annotate.input_tensors("pi", {"x": torch.randn(2)})
            h = annotate.state_tensors("pi", {"h": self.h})
            self.h = annotate.update_state("pi", {"h": torch.tanh(h + x)})
            annotate.output_tensors("pi", {"y": self.h * 3}, export_with=backend)

    program = Program()
    yaml = export(bench, program.step)
    report = shadow(yaml, program.step, 30)  # continues after the trace: the state is annotated
    assert report.passed, str(report)
    assert report.nodes["pi"].compared == 30


def test_a_module_s_buffers_are_state(bench: Workbench) -> None:
    class Normaliser(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", torch.zeros(3))
            self.register_buffer("scale", torch.full((3,), 2.0))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.mean = 0.9 * self.mean + 0.1 * x
            return (x - self.mean) * self.scale

    model = Normaliser()

    def step() -> None:
        x = annotate.input_tensors("norm", {"x": torch.randn(3)})
        annotate.module("norm", model)
        annotate.output_tensors("norm", {"y": model(x)}, export_with="onnx")

    report = shadow(export(bench, step), step, 20)
    assert report.passed, str(report)


def test_registered_buffers_are_state(bench: Workbench) -> None:
    history = torch.zeros(4, 2)

    def step() -> None:
        x = annotate.input_tensors("hist", {"x": torch.randn(2)})
        kept = annotate.register_buffer("hist", {"history": history})
        kept.copy_(torch.cat([kept[1:], x[None]]))
        annotate.output_tensors("hist", {"y": kept.mean(0)}, export_with="jit")

    report = shadow(export(bench, step), step, 20)
    assert report.passed, str(report)


def test_functions_arrays_and_nested_payloads(bench: Workbench) -> None:
    @annotate.method(export_with="onnx", node_name="limit")
    def limit(error: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
        torque = (gain * error).clamp(-1, 1)
        return torque

    def step() -> None:
        pos, vel = np.random.randn(2, 3).astype(np.float32)
        sensed = {"s": {"pos": pos, "vel": [vel]}}
        s = annotate.input_tensors("sum", sensed)
        total = s["pos"] + np.tanh(s["vel"][0])
        out = annotate.output_tensors("sum", {"total": torch.as_tensor(total)}, export_with="onnx")
        limit(out, torch.full((3,), 0.5))

    report = shadow(export(bench, step), step, 10)
    assert report.passed, str(report)
    assert report.nodes["sum"].compared == report.nodes["limit"].compared == 10


def test_nodes_at_different_rates(bench: Workbench) -> None:
    class Program:
        tick = 0
        plan = torch.zeros(2)

        def step(self) -> None:
            if self.tick % 2 == 0:
                self.plan = node("planner", torch.randn(2), torch.sin)
            self.tick += 1
            plan, x = annotate.input_tensors("track", {"plan": self.plan, "x": torch.randn(2)})
            annotate.output_tensors("track", {"u": plan - x}, export_with="onnx")

    program = Program()
    yaml = export(bench, program.step, passes=4)
    report = shadow(yaml, program.step, 20)
    assert report.nodes["planner"].first is None, str(report)
    assert report.nodes["planner"].compared == 10
    assert report.nodes["track"].compared == 20


def test_a_node_that_draws_random_numbers_is_not_compared(bench: Workbench) -> None:
    def step() -> None:
        x = annotate.input_tensors("noise", {"x": torch.zeros(8)})
        annotate.output_tensors("noise", {"y": torch.poisson(x + 1)}, export_with="jit")

    report = shadow(export(bench, step, passes=1), step, 5)
    assert report.nodes["noise"].not_compared == "its model draws random numbers"
    assert report.nodes["noise"].first is None


# --- Traps that a trace of three passes does not show --------------------------------------------


class Counter:
    """A program that behaves differently in one tick."""

    def __init__(self) -> None:
        self.tick = 0

    def step(self) -> None:
        self.tick += 1
        boost = 1.0 if self.tick == 7 else 0.0
        node("pi", torch.randn(1, 4), lambda x: x * 2 + boost)


def test_a_counter_that_changes_something_in_tick_7(bench: Workbench, capfd: Any) -> None:
    yaml = export(bench, Counter().step)
    capfd.readouterr()
    report = shadow(yaml, Counter().step, 12)
    pi = report.nodes["pi"]
    assert not report.passed
    assert pi.first is not None and pi.first.tick == 7 and pi.first.port == "y"
    assert "test_shadow.py" in pi.first.where
    assert pi.first.comparison["difference"]["max"] == pytest.approx(1, abs=1e-4)
    assert pi.compared == 12 and pi.differing == 1, "a node without state goes on being judged"
    said = capfd.readouterr().err
    assert said.count("[LP944]") == 1 and "node 'pi', 'y', tick 7" in said


def test_a_branch_taken_once_an_episode(bench: Workbench) -> None:
    def step(x: float) -> None:
        def compute(value: torch.Tensor) -> torch.Tensor:
            return -value if value[0] > 3 else value * 2

        node("pi", torch.full((2,), x), compute)

    yaml = export(bench, lambda: step(1.0))
    with leapp.shadow(yaml) as run:
        for i in range(10):
            step(4.0 if i == 8 else float(i) / 10)
    first = run.report().nodes["pi"].first
    assert first is not None and first.tick == 9


def test_a_clock(bench: Workbench, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "time", lambda: now)

    def step() -> None:
        phase = time.time()
        node("pi", torch.randn(2), lambda x: x + phase)

    yaml = export(bench, step)
    now = 101.5
    first = shadow(yaml, step, 3).nodes["pi"].first
    assert first is not None and first.tick == 1


def test_an_exception_leaves_no_difference(bench: Workbench) -> None:
    class Program:
        h = torch.zeros(2)
        fails = False

        def step(self) -> None:
            x = annotate.input_tensors("pi", {"x": torch.randn(2)})
            if self.fails:
                raise RuntimeError("the sensor is gone")
            self.h = torch.tanh(self.h + x)
            annotate.output_tensors("pi", {"y": self.h}, export_with="onnx")

    program = Program()
    yaml = export(bench, program.step)
    program = Program()
    with torch.no_grad(), leapp.shadow(yaml) as run:
        for i in range(10):
            program.fails = i in (3, 6)
            try:
                program.step()
            except RuntimeError:
                assert program.fails
    report = run.report()
    assert report.passed, str(report)
    assert report.nodes["pi"].ticks == 8 and report.nodes["pi"].abandoned == 2


def test_an_exception_in_a_function(bench: Workbench) -> None:
    @annotate.method(export_with="onnx")
    def pi(x: torch.Tensor) -> torch.Tensor:
        if not torch.isfinite(x).all():
            raise ValueError("not finite")
        y = x * 2
        return y

    yaml = export(bench, lambda: pi(torch.randn(2)))
    with leapp.shadow(yaml) as run:
        pi(torch.randn(2))
        with pytest.raises(ValueError, match="not finite"):
            pi(torch.full((2,), float("nan")))
        pi(torch.randn(2))
    report = run.report()
    assert report.passed and report.nodes["pi"].abandoned == 1


def test_a_value_that_is_baked_in_after_pass_3(bench: Workbench) -> None:
    class Program:
        gain = torch.ones(2)
        tick = 0

        def step(self) -> None:
            self.tick += 1
            if self.tick == 5:
                self.gain = torch.full((2,), 3.0)
            node("pi", torch.randn(2), lambda x: x * self.gain)

    yaml = export(bench, Program().step)
    first = shadow(yaml, Program().step, 8).nodes["pi"].first
    assert first is not None and first.tick == 5


def test_a_wrong_hypothesis_about_state_shows_in_a_later_tick(bench: Workbench) -> None:
    class Program:
        h = torch.zeros(2)
        tick = 0

        def step(self) -> None:
            self.tick += 1
            x = annotate.input_tensors("pi", {"x": torch.randn(2)})
            self.h = self.h * (0.5 if self.tick > 6 else 1.0) + x
            annotate.output_tensors("pi", {"y": self.h * 1.0}, export_with="onnx")

    yaml = export(bench, Program().step)
    pi = shadow(yaml, Program().step, 20).nodes["pi"]
    assert pi.first is not None and pi.first.tick == 7
    assert pi.unjudged == 13, "its state is another one from here on"


def test_another_node_is_compared_on_the_programs_values(bench: Workbench) -> None:
    class Program(Counter):
        def step(self) -> None:
            self.tick += 1
            y = node("first", torch.randn(2), lambda x: x + (self.tick == 4))
            node("second", y, lambda x: x * 2)

    report = shadow(export(bench, Program().step), Program().step, 6)
    assert report.nodes["first"].first is not None
    assert report.nodes["second"].first is None, str(report)


def test_a_change_between_nodes_is_reported_for_the_wire(bench: Workbench) -> None:
    class Program(Counter):
        def step(self) -> None:
            self.tick += 1
            y = node("first", torch.randn(2), lambda x: x * 3)
            if self.tick == 5:
                y = y + 1
            node("second", y, lambda x: x * 2)

    report = shadow(export(bench, Program().step), Program().step, 8)
    assert report.nodes["first"].first is None
    first = report.nodes["second"].first
    assert first is not None and first.tick == 5 and "first/y" in first.text


# --- The run itself ------------------------------------------------------------------------------


def test_a_session_and_a_shadow_run_exclude_each_other(bench: Workbench) -> None:
    yaml = export(bench, Counter().step)
    with bench.trace("other"), refused("LP946"):
        leapp.shadow(yaml).__enter__()
    with leapp.shadow(yaml):
        with refused("LP946"):
            leapp.start("third", save_path=str(bench.folder))
        with refused("LP946"):
            leapp.shadow(yaml).__enter__()


def test_stopping_no_session_does_not_end_a_shadow_run(bench: Workbench) -> None:
    yaml = export(bench, Counter().step)
    with leapp.shadow(yaml) as run:
        with refused("LP101"):
            leapp.stop()
        Counter().step()
    assert run.report().nodes["pi"].ticks == 1


def test_annotations_do_nothing_before_and_after(bench: Workbench) -> None:
    yaml = export(bench, Counter().step)
    with leapp.shadow(yaml) as run:
        Counter().step()
    Counter().step()
    assert run.report().nodes["pi"].ticks == 1


def test_missing_nodes_are_reported(bench: Workbench) -> None:
    yaml = export(bench, Counter().step)
    report = shadow(yaml, lambda: node("other", torch.ones(2), lambda x: x), 2)
    assert report.unknown == ["other"]
    assert not report.passed and report.nodes["pi"].ticks == 0
    assert "the program never ran it" in str(report)


def test_another_shape_than_was_traced(bench: Workbench) -> None:
    yaml = export(bench, Counter().step)
    report = shadow(yaml, lambda: node("pi", torch.ones(1, 5), lambda x: x * 2), 2)
    first = report.nodes["pi"].first
    assert first is not None and "float32 [1, 5] in the program" in first.text


def test_a_report_needs_a_run() -> None:
    with refused("LP946"):
        leapp.shadow("nowhere.yaml").report()


def test_the_log_reports_the_run(bench: Workbench) -> None:
    export(bench, Counter().step)
    assert "leapp.shadow(" in bench.log()
