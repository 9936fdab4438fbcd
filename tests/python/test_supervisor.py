"""The supervisor in Python, on bundles whose policy is 2 x + 1."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import refused
from ready_bundle import Bundle

import leapp

JOINTS = ["a", "b", "c", "d"]
ROBOT = """\
rate: 50
joints: [a, b, c, d]
sensors: {q: {kind: state/joint/position}}
actuators: {m: {kind: target/joint/position}}
"""
DESCRIPTION = """\
policies:
  first: {bundle: first/legs.yaml}
  second: {bundle: second/legs.yaml}
switches:
  - {from: first, to: second, when: {flag: go}}
  - {to: emergency_stop, when: {sensor: q, element: d, above: 100}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        bundle = Bundle(tmp_path / name).node("pi", "affine.onnx", ["x"], ["y"])
        kinds = {"inputs": "state/joint/position", "outputs": "target/joint/position"}
        for side, kind in kinds.items():
            bundle.models["pi"][side][0].update(kind=kind, element_names=[None, JOINTS])
        bundle.pipeline.update(
            inputs={"pi": ["x"]}, outputs={"pi": ["y"]}, configs={"frequency": 50}
        )
        Path(bundle.write()).rename(tmp_path / name / "legs.yaml")
    (tmp_path / "robot.yaml").write_text(ROBOT)
    (tmp_path / "supervisor.yaml").write_text(DESCRIPTION)
    return tmp_path


def make(folder: Path, **options: Any) -> leapp.Supervisor:
    return leapp.Supervisor(
        folder / "supervisor.yaml", folder / "robot.yaml", clock=lambda: 0.0, **options
    )


def tick(supervisor: leapp.Supervisor, value: float = 1.0) -> str:
    supervisor.set_sensor("q", [value] * 4)
    return supervisor.update()


def test_switches_and_stops(folder: Path) -> None:
    supervisor = make(folder)
    assert supervisor.policies == ["first", "second"]
    assert supervisor.sensors == {"q": JOINTS}
    assert supervisor.actuators == {"m": JOINTS}
    assert supervisor.update() == "inactive"
    supervisor.start()
    assert tick(supervisor) == "running"
    assert supervisor.active == "first"
    supervisor.set_flag("go")
    assert tick(supervisor) == "running"
    assert supervisor.active == "second"
    assert supervisor.actuator("m") == [3.0] * 4
    assert tick(supervisor, 101.0) == "stopped"
    assert supervisor.is_emergency_stopped
    supervisor.set_flag("go", False)
    supervisor.clear_emergency_stop()
    supervisor.request("first")
    assert tick(supervisor, 2.0) == "running"
    assert supervisor.actuator("m") == [5.0] * 4
    supervisor.emergency_stop()
    assert tick(supervisor) == "stopped"
    assert supervisor.switch_counts() == {
        "switched": 2,
        "refused": 0,
        "emergency_stop": 2,
        "cleared": 1,
    }
    events = [(one.tick, one.event, one.policy, one.rule) for one in supervisor.switches()]
    assert events == [
        (1, "switched", "second", 0),
        (2, "emergency_stop", "second", 1),
        (3, "cleared", "second", None),
        (3, "switched", "first", None),
        (4, "emergency_stop", "first", None),
    ]
    assert supervisor.ticks == 5
    assert supervisor.counts("first")["stale"] == 0
    assert supervisor.interventions("second") == []
    assert supervisor.failure("first") == ""
    supervisor.stop()
    assert supervisor.update() == "inactive"


def test_records_and_replays_each_policy(folder: Path) -> None:
    supervisor = make(folder, recording=folder / "run.mcap")
    supervisor.start()
    for value in (1.0, 2.0):
        tick(supervisor, value)
    supervisor.request("second")
    tick(supervisor)
    assert supervisor.dropped == 0
    del supervisor
    for policy, ticks in (("first", 2), ("second", 1)):
        report = leapp.replay(folder / "run.mcap", folder / policy / "legs.yaml", policy=policy)
        assert (report.ticks, report.difference) == (ticks, None)
    with refused("LP655"):
        leapp.replay(folder / "run.mcap", folder / "first/legs.yaml")


def test_mistakes_are_errors(folder: Path) -> None:
    supervisor = make(folder)
    for call in (
        lambda: supervisor.request("third"),
        lambda: supervisor.set_flag("stop"),
        lambda: supervisor.counts("third"),
    ):
        with refused("LP656"):
            call()
    with refused("LP652"):
        supervisor.set_sensor("p", [1.0])
    with refused("LP603"):
        supervisor.set_sensor("q", [1.0])
    with refused("LP003", "interpolation"):
        make(folder, interpolation="cubic")


def test_a_clock_that_raises_is_an_exception_of_update(folder: Path) -> None:
    def clock() -> float:
        raise KeyboardInterrupt

    supervisor = leapp.Supervisor(folder / "supervisor.yaml", folder / "robot.yaml", clock=clock)
    supervisor.start()
    with pytest.raises(KeyboardInterrupt):
        supervisor.update()


def bind(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["leapp", "bind", folder / "supervisor.yaml", folder / "robot.yaml", *options],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_shows_how_each_policy_is_bound(folder: Path) -> None:
    done = bind(folder)
    assert done.returncode == 0, done.stderr
    assert "policy first\n" in done.stdout
    assert "policy second\n" in done.stdout
    report = json.loads(bind(folder, "--json").stdout)
    assert report["ok"]
    assert report["policies"]["second"]["outputs"][0]["elements"][3]["signal"] == "m"


def test_the_command_finds_mismatches(folder: Path) -> None:
    (folder / "supervisor.yaml").write_text(DESCRIPTION + "fallback: {arm: damp}\n")
    done = bind(folder)
    assert done.returncode == 1
    assert "LP656" in done.stderr
    report = json.loads(bind(folder, "--json").stdout)
    assert not report["ok"]
    assert "no such actuator" in report["problems"][0]
