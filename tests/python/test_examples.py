"""Every example runs, and those in two languages print the same numbers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    """The numbers of each line with a colon, less the label and the line about time."""
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


def test_every_example_is_tested() -> None:
    names = {path.stem for path in (ROOT / "examples").glob("[0-9]*")}
    assert names == {*PAIRS, "05_trace_from_cpp", "07_mujoco_balance"}
