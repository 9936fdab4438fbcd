"""Programs whose nodes run at different rates: what is inferred, and that the bundle does the same.

tests/state/schedule_inference_test.cpp has the rules one by one.
"""

# ruff: noqa: RUF012 (one program per class)

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
import rate_programs
import torch
from conftest import Workbench
from rate_programs import Program, RandomRates

import leapp
from leapp import annotate

#: Ticks that a bundle and its program are compared, and the ticks in which an episode begins.
TICKS = 130
RESETS = (7, 33, 34, 90)
#: Random programs.
EXAMPLES = int(os.environ.get("LEAPP_PROPERTY_EXAMPLES", "24"))


def export(bench: Workbench, program: Program, **options: Any) -> Any:
    """Trace an episode of the program and compile it."""
    generator = torch.Generator().manual_seed(5)
    program.reset()
    with bench.trace(schedule=program.stated):
        for _ in range(program.traced):
            program.tick(program.draw(generator))
    return bench.compile(**options)


def numpy(values: dict[str, torch.Tensor]) -> dict[str, Any]:
    return {name: value.numpy() for name, value in values.items()}


def compare(bench: Workbench, program: Program) -> None:
    """Run the bundle next to its program, tick by tick."""
    manager = bench.manager(array="numpy")
    generator = torch.Generator().manual_seed(6)
    program.reset()
    for tick in range(TICKS):
        if tick in RESETS:
            program.reset()
            manager.reset()
        given = program.draw(generator)
        found = manager.run_policy(numpy(given))
        expected = numpy(program.tick(given))
        for name in found.keys() & expected.keys():
            np.testing.assert_allclose(
                found[name], expected[name], rtol=1e-4, atol=1e-5, err_msg=f"tick {tick}, {name}"
            )


@pytest.mark.parametrize("program", rate_programs.ALL, ids=lambda each: each.__name__)
@pytest.mark.parametrize("backend", ["onnx", "jit"])
def test_the_bundle_repeats_the_program(
    bench: Workbench, program: type[Program], backend: str
) -> None:
    instance = program(backend)
    results = export(bench, instance, golden=5)
    assert all(value is True for value in results.values()), results
    assert bench.yaml()["pipeline"]["schedule"] == program.schedule
    compare(bench, instance)
    assert bench.manager().verify().passed


def test_random_programs_are_repeated_or_refused(bench: Workbench) -> None:
    exported = 0
    for seed in range(EXAMPLES):
        instance = RandomRates(seed)
        try:
            assert all(value is True for value in export(bench, instance).values()), seed
        except leapp.LeappError as error:
            assert error.code == "LP309", (seed, error)
            continue
        exported += 1
        compare(bench, instance)
    assert exported > EXAMPLES // 4


def test_what_was_found_is_printed(bench: Workbench, capfd: pytest.CaptureFixture[str]) -> None:
    results = export(bench, rate_programs.PlannerAndTracker())
    assert results.schedule == ["planner: in every 5th tick of tracker, seen 4 times"]
    assert results.schedule[0] in capfd.readouterr().err


def test_a_program_of_one_rate_has_no_schedule(bench: Workbench) -> None:
    with bench.trace():
        for _ in range(3):
            z = annotate.input_tensors("enc", {"x": torch.randn(3)})
            z = annotate.output_tensors("enc", {"z": z * 2}, export_with="onnx")
            u = annotate.input_tensors("pi", {"z": z})
            annotate.output_tensors("pi", {"u": u + 1}, export_with="onnx")
    assert bench.compile().schedule == []
    assert "schedule" not in bench.yaml()["pipeline"]
    assert {model["parameters"]["backend"] for model in bench.yaml()["models"].values()} == {"onnx"}


# --- Stated schedules ----------------------------------------------------------------------------


def test_a_stated_schedule_needs_no_second_period(bench: Workbench) -> None:
    instance = rate_programs.PlannerAndTracker()
    instance.traced = 7
    with pytest.raises(leapp.LeappError) as caught:
        export(bench, instance)
    assert caught.value.code == "LP309"
    assert not bench.path("g", "g.yaml").exists()
    instance.stated = {"planner": {"every": 5}}
    export(bench, instance)
    compare(bench, instance)


def test_an_encoder_that_runs_when_its_image_changes(bench: Workbench) -> None:
    class OnChange(Program):
        shapes = {"encoder/image": (3,), "policy/state": (3,)}
        stated = {"encoder": {"on_change": ["image"]}}
        traced = 12

        def reset(self) -> None:
            super().reset()
            self.seen: torch.Tensor | None = None

        def draw(self, generator: torch.Generator) -> dict[str, torch.Tensor]:
            given = super().draw(generator)
            given["encoder/image"] = torch.randint(0, 2, (3,), generator=generator).float()
            return given

        def run(self, given: dict[str, torch.Tensor]) -> None:
            image = given["encoder/image"]
            if self.seen is None or not torch.equal(image, self.seen):
                self.seen = image
                self.z = self.node("encoder", {"image": image}, ("z", lambda x: x.cumsum(0)))
            inputs = {"z": self.z, "state": given["policy/state"]}
            self.node("policy", inputs, ("u", lambda z, state: z - state))

    instance = OnChange()
    export(bench, instance)
    assert bench.yaml()["pipeline"]["schedule"] == {"encoder": {"on_change": ["image"]}}
    compare(bench, instance)


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        ({"planner": {"every": 4}}, "LP309"),
        ({"planner": {"every": 5, "phase": 1}}, "LP309"),
        ({"tracker": {"every": 5}}, "LP309"),
        ({"planer": {"every": 5}}, "LP402"),
        ({"planner": {"when": "tracker/flag"}}, "LP601"),
    ],
)
def test_a_stated_schedule_that_does_not_fit(
    bench: Workbench, stated: dict[str, Any], code: str
) -> None:
    instance = rate_programs.PlannerAndTracker()
    instance.stated = stated
    with pytest.raises(leapp.LeappError) as caught:
        export(bench, instance)
    assert caught.value.code == code
    assert not bench.path("g", "g.yaml").exists()


@pytest.mark.parametrize(
    ("stated", "code"),
    [
        ({"planner": {"every": 0}}, "LP003"),
        ({"planner": {"phase": -1}}, "LP003"),
        ({"planner": {"repeat": 0}}, "LP003"),
        ({"planner": {"rate": 5}}, "LP003"),
        ({"planner": {"when": "trigger"}}, "LP003"),
        ({"planner": {"every": "5"}}, "LP002"),
        ({"planner": 5}, "LP002"),
        ("flat", "LP002"),
    ],
)
def test_a_stated_schedule_is_checked_at_once(stated: Any, code: str, bench: Workbench) -> None:
    with pytest.raises(leapp.LeappError) as caught:
        leapp.start("g", save_path=str(bench.folder), schedule=stated)
    assert caught.value.code == code


# --- Refusals ------------------------------------------------------------------------------------


class TwoCameras(Program):
    """One encoder for two cameras."""

    shapes = {"left": (3,), "right": (3,)}

    def run(self, given: dict[str, torch.Tensor]) -> None:
        left = self.node("encoder", {"image": given["left"]}, ("z", torch.sin))
        right = self.node("encoder", {"image": given["right"]}, ("z", torch.sin))
        self.node("head", {"left": left, "right": right}, ("u", lambda a, b: a - b))


class IrregularPlanner(Program):
    """A planner that runs when the program feels like it."""

    shapes = {"planner/x": (3,), "tracker/q": (3,)}

    def run(self, given: dict[str, torch.Tensor]) -> None:
        if self.t in (0, 1, 4, 9):
            self.goal = self.node("planner", {"x": given["planner/x"]}, ("goal", torch.sin))
        inputs = {"q": given["tracker/q"], "goal": self.goal}
        self.node("tracker", inputs, ("u", lambda q, goal: goal - q))


class TimestepTable(Program):
    """A denoising loop over a list of timesteps that the node receives."""

    shapes = {"encoder/obs": (3,), "denoise/x": (3,)}
    traced = 3

    def run(self, given: dict[str, torch.Tensor]) -> None:
        z = self.node("encoder", {"obs": given["encoder/obs"]}, ("z", torch.sin))
        x = given["denoise/x"]
        for t in (0.9, 0.5, 0.1):
            inputs = {"x": x, "z": z, "t": torch.tensor([t])}
            x = self.node("denoise", inputs, ("x_next", lambda x, z, t: x - t * z))


class ChunkCounter(Program):
    """A counter in memory that the planner sets back and the tracker counts up."""

    shapes = {"planner/obs": (3,), "tracker/q": (3,)}

    def reset(self) -> None:
        super().reset()
        self.count = torch.zeros(1)

    def plan(self, obs: torch.Tensor) -> torch.Tensor:
        self.count.zero_()
        return obs * 2 + self.count

    def track(self, q: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return goal * self.count - q

    def run(self, given: dict[str, torch.Tensor]) -> None:
        if self.t % 4 == 0:
            self.goal = self.node("planner", {"obs": given["planner/obs"]}, ("goal", self.plan))
        inputs = {"q": given["tracker/q"], "goal": self.goal}
        self.node("tracker", inputs, ("u", self.track))


@pytest.mark.parametrize(
    "program", [TwoCameras, IrregularPlanner, TimestepTable, ChunkCounter], ids=lambda p: p.__name__
)
def test_what_no_schedule_expresses_is_refused(bench: Workbench, program: type[Program]) -> None:
    with pytest.raises(leapp.LeappError) as caught:
        export(bench, program())
    assert caught.value.code in ("LP309", "LP409")
    assert not bench.path("g", "g.yaml").exists()
    results = bench.compile(strict=False)
    assert not all(value is True for value in results.values())
    if caught.value.code == "LP309":
        assert bench.compile(strict=False, validate=False) is False
        assert bench.compile(strict=False, dry_run=True) is False


# --- Shadow runs ---------------------------------------------------------------------------------


@pytest.mark.parametrize("program", rate_programs.ALL, ids=lambda each: each.__name__)
def test_a_shadow_run_follows_the_schedule(bench: Workbench, program: type[Program]) -> None:
    instance = program()
    export(bench, instance)
    generator = torch.Generator().manual_seed(7)
    instance.reset()
    with leapp.shadow(str(bench.path("g", "g.yaml"))) as run:
        for tick in range(40):
            if tick in (9, 10, 27):
                instance.reset()
                run.reset()
            instance.tick(instance.draw(generator))
    report = run.report()
    assert report.passed, str(report)
    for name, node in report.nodes.items():
        assert node.compared == node.ticks > 0, name


def test_a_shadow_run_names_a_node_that_runs_at_another_time(bench: Workbench) -> None:
    instance = rate_programs.PlannerAndTracker()
    export(bench, instance)
    instance.reset()
    generator = torch.Generator().manual_seed(7)
    with leapp.shadow(str(bench.path("g", "g.yaml"))) as run:
        for tick in range(12):
            if tick == 7:
                instance.t = 0  # the planner runs two ticks too early
            instance.tick(instance.draw(generator))
    report = run.report()
    assert not report.passed
    first = report.nodes["planner"].first
    assert first is not None
    assert first.port == ""
