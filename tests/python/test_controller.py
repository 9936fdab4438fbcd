"""The controller from Python, its recordings in other readers, and its commands."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import yaml
from conftest import refused
from ready_bundle import Bundle

import leapp

ROBOT: dict[str, Any] = {
    "rate": 100,
    "joints": ["d", "c", "b", "a"],
    "sensors": {"q": {"kind": "state/joint/position"}},
    "actuators": {"target": {"kind": "target/joint/position"}},
}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Return a bundle that computes 2 x + 1, and a robot whose joints have the opposite order."""
    bundle = Bundle(tmp_path).node("pi", "affine.onnx", ["x"], ["y"])
    for side, kind in (("inputs", "state/joint/position"), ("outputs", "target/joint/position")):
        port = bundle.models["pi"][side][0]
        port.update(kind=kind, element_names=[["a", "b", "c", "d"]])
    bundle.models["pi"]["outputs"][0]["limits"] = {"upper": 8}
    bundle.pipeline["inputs"] = {"pi": ["x"]}
    bundle.pipeline["outputs"] = {"pi": ["y"]}
    bundle.pipeline["configs"] = {"frequency": 50}
    robot = tmp_path / "robot.yaml"
    robot.write_text(yaml.safe_dump(ROBOT))
    return Path(bundle.write()), robot


def run(files: tuple[Path, Path], ticks: int = 4, **options: Any) -> leapp.Controller:
    controller = leapp.Controller(*files, **options)
    controller.start()
    for i in range(ticks):
        controller.set_sensor("q", [i, 1, 2, 3])
        assert controller.update() == "running"
    return controller


def test_runs(files: tuple[Path, Path]) -> None:
    controller = run(files)
    assert controller.decimation == 2
    assert controller.actuator("target") == [5, 3, 5, 7]
    assert controller.sensors == {"q": ["d", "c", "b", "a"]}
    assert list(controller.actuators) == ["target"]
    assert controller.ticks == 4
    controller.stop()
    assert controller.update() == "inactive"


def test_interventions_and_the_clock(files: tuple[Path, Path]) -> None:
    time = 0.0
    controller = leapp.Controller(*files, clock=lambda: time)
    controller.start()
    controller.set_sensor("q", [1, 1, 1, 10])
    controller.update()
    assert controller.actuator("target") == [3, 3, 3, 8]
    assert controller.counts()["clamped"] == 1
    [one] = controller.interventions()
    assert (one.tick, one.cause, one.port) == (0, "clamped", "pi/y")


@pytest.mark.parametrize("age", [0.06, 1e10, float("inf")])
def test_old_values_are_stale(files: tuple[Path, Path], age: float) -> None:
    bundle = yaml.safe_load(files[0].read_text())
    bundle["models"]["pi"]["inputs"][0]["max_age_ms"] = 50
    files[0].write_text(yaml.safe_dump(bundle))
    controller = leapp.Controller(*files, clock=lambda: 0.0)
    controller.start()
    controller.set_sensor("q", [1, 1, 1, 1], age=age)
    assert controller.update() == "fallback"
    assert controller.counts()["stale"] == 1


@pytest.mark.parametrize("age", [-1e-9, float("-inf")])
def test_ages_that_make_no_sense(files: tuple[Path, Path], age: float) -> None:
    controller = leapp.Controller(*files)
    with refused("LP603"):
        controller.set_sensor("q", [1, 1, 1, 1], age=age)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("call", [1, 2])
def test_a_clock_that_raises(
    files: tuple[Path, Path], error: type[BaseException], call: int
) -> None:
    calls = 0

    # update() reads it twice, because a deadline needs the time after the policy.
    def clock() -> float:
        nonlocal calls
        calls += 1
        if calls == call:
            raise error("no time")
        return 0.0

    controller = leapp.Controller(*files, clock=clock, deadline=1.0)
    controller.start()
    controller.set_sensor("q", [1, 1, 1, 1])
    with pytest.raises(error, match="no time"):
        controller.update()
    assert controller.ticks == call - 1  # before all sensors are read, or after the tick
    assert controller.update() == "running"


@pytest.mark.parametrize("time", [None, "now", float("nan"), float("inf")])
def test_a_clock_without_a_time(files: tuple[Path, Path], time: Any) -> None:
    controller = leapp.Controller(*files, clock=lambda: time)
    controller.start()
    with pytest.raises((TypeError, ValueError), match=r"what clock\(\) returns"):
        controller.update()


@pytest.mark.parametrize("method", ["start", "stop", "update"])
@pytest.mark.parametrize("call", [1, 2])  # before the tick, and during it for a deadline
def test_a_clock_that_calls_its_controller(
    files: tuple[Path, Path], method: str, call: int
) -> None:
    calls = 0

    def clock() -> float:
        nonlocal calls
        calls += 1
        if calls == call:
            getattr(controller, method)()
        return 0.0

    controller = leapp.Controller(*files, clock=clock, deadline=1.0)
    controller.start()
    controller.set_sensor("q", [1, 1, 1, 1])
    with refused("LP609"):
        controller.update()
    assert controller.update() == "running"


def test_a_start_that_raises_does_not_start(files: tuple[Path, Path], tmp_path: Path) -> None:
    times = iter([])  # the recording needs one

    controller = leapp.Controller(
        *files, clock=lambda: next(times), recording=tmp_path / "run.mcap"
    )
    with pytest.raises(StopIteration):
        controller.start()
    assert controller.ticks == 0
    times = iter([0.0])
    assert controller.update() == "inactive"


@pytest.mark.parametrize("option", ["blend_in", "deadline"])
@pytest.mark.parametrize("seconds", [-1.0, 1e300, float("inf")])
def test_times_that_make_no_sense(
    files: tuple[Path, Path], option: Literal["blend_in", "deadline"], seconds: float
) -> None:
    with pytest.raises(ValueError, match=f"{option} is .*LP653"):
        if option == "blend_in":
            leapp.Controller(*files, blend_in=seconds)
        else:
            leapp.Controller(*files, deadline=seconds)


def test_mistakes(files: tuple[Path, Path], tmp_path: Path) -> None:
    with refused("LP652"):
        run(files).set_sensor("none", [1])
    with refused("LP603"):
        run(files).set_sensor("q", [1])
    with refused("LP653"):
        leapp.Controller(*files, frequency=30)
    with refused("LP003", "interpolation"):
        leapp.Controller(*files, interpolation="cubic")  # type: ignore[arg-type]
    files[1].write_text("rate: 0")
    with refused("LP651"):
        leapp.Controller(*files)


@pytest.mark.parametrize(
    "values",
    [
        (0, 1, 2, 3),
        range(4),
        np.arange(4),
        np.arange(4, dtype=np.float16),
        np.arange(4, dtype=">f8"),
        np.arange(8)[::2] / 2,
        [np.float32(0), True, 2.0, np.int64(3)],
    ],
)
def test_rows_of_numbers(files: tuple[Path, Path], values: Any) -> None:
    controller = run(files, ticks=0)
    controller.set_sensor("q", values)
    assert controller.update() == "running"
    assert controller.actuator("target") == [1, 3, 5, 7]


@pytest.mark.parametrize(
    "values",
    [
        {0.0, 1.0, 2.0, 3.0},  # in any order
        dict.fromkeys(range(4)),
        iter([0, 1, 2, 3]),
        "0123",
        b"0123",
        None,
        5,
        np.array(5.0),
        np.zeros((4, 1)),
        np.zeros((1, 4)),
        np.zeros(4, complex),  # NumPy would warn and drop a part
        np.zeros(4, np.complex64),
        np.zeros(4, "U1"),
        [0, 1, 2, "3"],
        [0, 1, 2, None],
        [0, 1, 2, 10**400],
    ],
)
def test_values_that_are_no_row_of_numbers(files: tuple[Path, Path], values: Any) -> None:
    controller = run(files)
    with pytest.raises((TypeError, ValueError), match=r"values of sensor 'q' must be .*LP00[23]"):
        controller.set_sensor("q", values)
    assert controller.update() == "running"
    assert controller.actuator("target") == [7, 3, 5, 7]  # of the values set before


def test_recordings_are_read_by_others(files: tuple[Path, Path], tmp_path: Path) -> None:
    reader = pytest.importorskip("mcap.reader")
    recording = tmp_path / "run.mcap"
    controller = run(files, recording=recording)
    assert controller.dropped == 0
    del controller
    with recording.open("rb") as stream:
        opened = reader.make_reader(stream)
        summary = opened.get_summary()
        assert summary.statistics.message_count == 4 * 2 + 2 * 2 + 1
        assert len(summary.chunk_indexes) == 1
        messages = [
            (channel.topic, json.loads(message.data))
            for schema, channel, message in opened.iter_messages()
            if schema.encoding == "jsonschema" and channel.message_encoding == "json"
        ]
        channels = {channel.topic: channel for channel in summary.channels.values()}
    assert ("/ports/pi/x", {"tick": 2, "values": {"a": 3, "b": 2, "c": 1, "d": 2}}) in messages
    assert ("/sensors/q", {"tick": 3, "values": {"d": 3, "c": 1, "b": 2, "a": 3}}) in messages
    assert channels["/ports/pi/x"].metadata["kind"] == "state/joint/position"


def test_replay(files: tuple[Path, Path], tmp_path: Path) -> None:
    recording = tmp_path / "run.mcap"
    run(files, recording=recording)
    report = leapp.replay(recording, files[0])
    assert (report.ticks, report.difference) == (2, None)
    done = subprocess.run(["leapp", "replay", recording, files[0]], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "2 ticks of the policy answered as recorded\n")
    # A different model: 2 x + 1 becomes x.
    other = Bundle(tmp_path).node("pi", "clamp_sum.onnx", ["a", "b"], ["y"])
    other.pipeline["inputs"] = {"pi": ["a", "b"]}
    other.pipeline["outputs"] = {"pi": ["y"]}
    done = subprocess.run(
        ["leapp", "replay", "--json", recording, other.write()], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["code"] == "LP655"


def test_bind_prints_the_table(files: tuple[Path, Path]) -> None:
    done = subprocess.run(["leapp", "bind", *files], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "pi/x (state/joint/position)" in done.stdout
    assert ["a", "<-", "q[3]", "a"] in [line.split() for line in done.stdout.splitlines()]
    done = subprocess.run(["leapp", "bind", "--json", *files], capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert report["ok"]
    assert [each["index"] for each in report["inputs"][0]["elements"]] == [3, 2, 1, 0]


def test_bind_lists_missing_signals(files: tuple[Path, Path]) -> None:
    files[1].write_text("rate: 100")
    done = subprocess.run(["leapp", "bind", *files], capture_output=True, text=True)
    assert done.returncode == 1
    assert "the robot has no sensor of its kind" in done.stderr
    done = subprocess.run(["leapp", "bind", "--json", *files], capture_output=True, text=True)
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["problems"]) == 2
