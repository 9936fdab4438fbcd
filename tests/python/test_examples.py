"""Every example runs, and those in two languages print the same numbers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(os.environ.get("LEAPP_BUILD", ROOT / "build/release")) / "examples"

#: Name, and the bundle that the Python side writes for the C++ side.
PAIRS = {
    "01_minimal_pipeline": "minimal/minimal.yaml",
    "02_feedback_example": "feedback/feedback.yaml",
    "03_stateful_gru_export": "gru/gru.yaml",
    "04_explicit_state": "history/history.yaml",
    "06_robot_loop": "walker/walker.yaml",
    "09_controller": "legs/legs.yaml",
}


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def python(name: str, folder: Path) -> str:
    return run([sys.executable, str(ROOT / "examples" / f"{name}.py"), str(folder)], folder)


def compiled(name: str) -> str:
    program = PROGRAMS / name
    if not program.exists():
        pytest.skip(f"{program} was not built; `make test` builds it")
    return str(program)


def numbers(text: str) -> list[list[float]]:
    """Return the numbers of each line with a colon, without the label and the line about time."""
    lines = [line.split(":", 1)[1] for line in text.splitlines() if ":" in line]
    found = [[float(n) for n in re.findall(r"-?\d+\.\d{4}", line)] for line in lines]
    return [line for line in found if line]


@pytest.mark.parametrize("name", PAIRS)
def test_python(name: str, tmp_path: Path) -> None:
    assert numbers(python(name, tmp_path))
    assert (tmp_path / PAIRS[name]).is_file()


@pytest.mark.parametrize("name", PAIRS)
def test_both_languages_agree(name: str, tmp_path: Path) -> None:
    program = compiled(name)
    expected = numbers(python(name, tmp_path))
    actual = numbers(run([program, str(tmp_path / PAIRS[name])], tmp_path))
    for number, values in enumerate(actual):
        assert values == pytest.approx(expected[number % len(expected)], abs=2e-4)


def test_traced_from_cpp_runs_in_python(tmp_path: Path) -> None:
    expected = numbers(run([compiled("05_trace_from_cpp"), str(tmp_path)], tmp_path))
    assert len(expected) == 3
    for values, others in zip(
        numbers(python("05_trace_from_cpp", tmp_path)), expected, strict=True
    ):
        assert values == pytest.approx(others, abs=2e-4)


def returns(text: str) -> list[float]:
    return [float(n) for n in re.findall(r"return (-?\d+\.\d+)", text)]


def test_robot_in_mujoco_balances_as_in_pytorch(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    program = compiled("07_mujoco_balance")
    options = ["--seed", "7", "--episodes", "3"]
    script = str(ROOT / "examples" / "07_mujoco_balance" / "balance.py")
    expected = returns(run([sys.executable, script, str(tmp_path), *options], tmp_path))
    bundle = str(tmp_path / "balancer" / "balancer.yaml")
    printed = run([program, bundle, "--fast", *options], tmp_path)
    assert len(expected) == 3
    assert returns(printed) == pytest.approx(expected, rel=0.01)
    assert min(expected) > 1500, (
        "it no longer balances; an upright robot that stands still gets 1700"
    )
    assert "of 9000 ticks took longer" in printed


GO1 = ROOT / "examples" / "08_go1_walks"


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[list[float]]]:
    """Return the output and trace of the Go1's program: one walk and 20 starts with pushes."""
    program = compiled("08_go1_walks")
    folder = tmp_path_factory.mktemp("go1")
    found = subprocess.run([GO1 / "fetch_robot.sh"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"the robot's file is not there, and mjlab's wheel neither: {found.stderr}")
    trace = folder / "walk.csv"
    printed = run([program, found.stdout.strip(), "--starts", "20", "--trace", str(trace)], folder)
    rows = [[float(n) for n in line.split(",")] for line in trace.read_text().splitlines()]
    return printed, rows


def test_go1_goes_the_way_it_goes_in_mjlab(walks: tuple[str, list[list[float]]]) -> None:
    lines = (GO1 / "mjlab.csv").read_text().splitlines()
    assert len(lines) == 100
    for row, line in zip(walks[1], lines, strict=False):
        expected = [float(n) for n in line.split(",")]
        assert row[:4] == pytest.approx(expected[:4])  # time and command
        assert row[7:10] == pytest.approx(expected[7:10], abs=1e-3)  # where it is, m
        assert row[14:] == pytest.approx(expected[14:], abs=1e-3)  # its joints, rad


def test_go1_follows_commands_and_stays_on_its_feet(
    walks: tuple[str, list[list[float]]],
) -> None:
    found = re.findall(
        r"(walk|start) \d+: (.+) after 20.00 s, off by ([\d.]+) m/s and ([\d.]+)", walks[0]
    )
    assert len(found) == 21, walks[0]
    assert {state for _, state, _, _ in found} == {"on its feet"}
    for name, _, speed, turn in found:
        assert float(speed) < (0.12 if name == "walk" else 0.2)
        assert float(turn) < 0.1


def test_go1_switches_between_standing_and_walking(tmp_path: Path) -> None:
    program = compiled("11_go1_switches")
    found = subprocess.run([GO1 / "fetch_robot.sh"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        pytest.skip(f"the robot's file is not there, and mjlab's wheel neither: {found.stderr}")
    printed = run([program, found.stdout.strip(), str(tmp_path / "run.mcap")], tmp_path)
    events = re.findall(r"^ *([\d.]+) s  (\w+) (\w+)$", printed, re.MULTILINE)
    assert [event[1:] for event in events] == [
        ("switched", "walk"),
        ("switched", "stand"),
        ("emergency_stop", "stand"),
        ("cleared", "stand"),
        ("switched", "stand"),
    ], printed
    times = [float(event[0]) for event in events]
    assert times[0] == 2.0
    assert 8 < times[1] < 12
    assert times[2:] == [12.0, 14.0, 14.0]
    (walked, standing, lying, at_last) = (
        float(n) for n in re.findall(r"(-?\d+\.\d+) m", printed)[-4:]
    )
    assert walked > 3
    assert lying < standing - 0.1  # the legs collapsed
    assert abs(at_last - standing) < 0.03
    assert printed.endswith("on its feet\n")
    bundle = str(GO1 / "go1" / "go1.yaml")
    replayed = run(
        ["leapp", "replay", str(tmp_path / "run.mcap"), bundle, "--policy", "walk"], tmp_path
    )
    assert "answered as recorded" in replayed


def test_a_diffusion_policy(tmp_path: Path) -> None:
    printed = python("12_diffusion_policy", tmp_path)
    assert "noise: encode/noise, denoise/noise\n" in printed
    assert "golden ticks: equal\n" in printed
    assert printed.count(": True\n") == 2
    folder = tmp_path / "diffusion"
    assert json.loads((folder / "diagnostics.json").read_text())["diagnostics"] == []
    bundle = yaml.safe_load((folder / "diffusion.yaml").read_text())
    assert bundle["pipeline"]["schedule"]["denoise"]["repeat"] == 10


def test_every_example_is_tested() -> None:
    names = {path.stem for path in (ROOT / "examples").glob("[0-9]*")}
    elsewhere = {"10_embedded_policy"}  # test_embedded.py
    assert names == {
        *PAIRS, "05_trace_from_cpp", "07_mujoco_balance", "08_go1_walks", "11_go1_switches",
        "12_diffusion_policy", *elsewhere
    }  # fmt: skip
