"""Noise ports behind a controller and a supervisor: equal seeds give equal runs, also replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import refused
from noise_reference import draw
from ready_bundle import Bundle
from test_supervisor import JOINTS, ROBOT

import leapp

SUPERVISION = """\
policies:
  first: {bundle: first/legs.yaml}
  second: {bundle: second/legs.yaml}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a directory with two bundles that compute x + noise, for one robot."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        bundle = Bundle(tmp_path / name).node("pi", "recurrent.onnx", ["x", "h_in"], ["y", "h_out"])
        model = bundle.models["pi"]
        model["inputs"][0].update(kind="state/joint/position", element_names=[JOINTS])
        model["inputs"][1].update(kind="noise", noise={"distribution": "normal"})
        model["outputs"][0].update(kind="target/joint/position", element_names=[JOINTS])
        model["parameters"]["backend"] = "leapp/onnx"
        bundle.input("pi", "x", "h_in").output("pi", "y", "h_out")
        bundle.pipeline["configs"] = {"frequency": 50}
        Path(bundle.write()).rename(tmp_path / name / "legs.yaml")
    (tmp_path / "robot.yaml").write_text(ROBOT)
    (tmp_path / "supervisor.yaml").write_text(SUPERVISION)
    return tmp_path


def controller(folder: Path, **options: Any) -> leapp.Controller:
    made = leapp.Controller(
        folder / "first/legs.yaml", folder / "robot.yaml", clock=lambda: 0.0, **options
    )
    made.start()
    return made


def target(loop: leapp.Controller | leapp.Supervisor) -> list[float]:
    loop.set_sensor("q", [1.0] * 4)
    assert loop.update() == "running"
    return loop.actuator("m")


def expected(number: int, seed: int) -> list[float]:
    return (np.array(draw("normal", seed, 0, number, 4), np.float32) + np.float32(1)).tolist()


def test_a_controller_draws_by_its_seed(folder: Path) -> None:
    loop = controller(folder, noise_seed=7)
    assert [target(loop), target(loop)] == [expected(0, 7), expected(1, 7)]
    loop.start()
    assert target(loop) == expected(0, 7)
    assert target(controller(folder)) == expected(0, 0)
    with refused("LP003", "noise_seed"):
        controller(folder, noise_seed=-1)


def test_a_replay_draws_by_the_recorded_seed(folder: Path) -> None:
    loop = controller(folder, noise_seed=2**64 - 1, recording=folder / "run.mcap")
    for _ in range(3):
        target(loop)
    del loop
    report = leapp.replay(folder / "run.mcap", folder / "first/legs.yaml")
    assert (report.ticks, report.difference) == (3, None)


def test_each_policy_of_a_supervisor_draws_from_its_own_start(folder: Path) -> None:
    loop = leapp.Supervisor(
        folder / "supervisor.yaml",
        folder / "robot.yaml",
        clock=lambda: 0.0,
        noise_seed=3,
        recording=folder / "run.mcap",
    )
    loop.start()
    assert [target(loop), target(loop)] == [expected(0, 3), expected(1, 3)]
    loop.request("second")
    assert target(loop) == expected(0, 3)
    loop.request("first")
    assert target(loop) == expected(0, 3)
    del loop
    for policy, ticks in (("first", 3), ("second", 1)):
        yaml = folder / policy / "legs.yaml"
        report = leapp.replay(folder / "run.mcap", yaml, policy=policy)
        assert (report.ticks, report.difference) == (ticks, None)
