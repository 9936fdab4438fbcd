"""Ticks of C++ nodes allocate nothing, take no lock and make no system call, in any thread.

``real_time_loop`` runs the installed library and stands in for the functions that would be called.
"""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import torch
from steps_program import BUILD
from test_inference_cli import leapp as command

import leapp
from leapp import GraphConfigs, Limits, TemporalAxis, TensorSemantics, annotate

pytestmark = pytest.mark.skipif(
    shutil.which("c++") is None, reason="there is no C++ compiler (apt-get install g++)"
)

JOINTS = [f"j{i}" for i in range(8)]
ROBOT = f"""\
rate: 1000
joints: [{", ".join(reversed(JOINTS))}]
sensors:
  joint_pos: {{kind: state/joint/position, unit: deg}}
actuators:
  joint_target: {{kind: target/joint/position, unit: deg}}
"""


class Policy(torch.nn.Module):
    """A recurrent policy with several operators: matrices, activations, a softmax, a sort."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.gru = torch.nn.GRUCell(24, 32)
        self.head = torch.nn.Sequential(
            torch.nn.Linear(32, 64), torch.nn.ELU(), torch.nn.LayerNorm(64), torch.nn.Linear(64, 8)
        )
        self.h = torch.zeros(1, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.h = self.gru(x, self.h)
        out: torch.Tensor = self.head(self.h).tanh()
        return out + 0.1 * torch.softmax(out, -1) + 0.01 * out.sort().values


@pytest.fixture(scope="module")
@torch.no_grad()
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two compiled C++ nodes with a history, state and limits."""
    folder = tmp_path_factory.mktemp("real_time")
    policy = Policy()
    leapp.start("walker", save_path=str(folder))
    for _ in range(3):
        history = TensorSemantics(
            "joint_pos",
            torch.rand(3, 8),
            kind="state/joint/position",
            element_names=[TemporalAxis(period_ms=1), JOINTS],
            unit="rad",
            max_age_ms=50,
        )
        x = annotate.input_tensors("observe", history).clamp(-3, 3).reshape(1, 24)
        annotate.output_tensors("observe", {"x": x}, export_with="cpp")
        action = policy(annotate.input_tensors("policy", {"x": x}))
        target = TensorSemantics(
            "target",
            action,
            kind="target/joint/position",
            element_names=JOINTS,
            unit="rad",
            limits=Limits(lower=-0.5, upper=0.5, rate=20.0),
            fallback="damp",
        )
        annotate.output_tensors("policy", target, export_with="cpp")
    leapp.stop()
    leapp.compile_graph(visualize=False, graph_configs=GraphConfigs(frequency=1000))
    robot = folder / "robot.yaml"
    robot.write_text(ROBOT)
    yaml = folder / "walker" / "walker.yaml"
    command("build", yaml)
    return yaml, robot


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUILD / "bin" / "real_time_loop", *arguments], capture_output=True, text=True
    )


@pytest.mark.parametrize("mode", ["tick", "synchronous", "worker"])
def test_a_loop_does_nothing_that_waits(files: tuple[Path, Path], mode: str) -> None:
    done = run(mode, *files)
    assert done.returncode != -signal.SIGSYS, "a system call ended the loop"
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["results"] >= 1000
    assert seen["allocations"] == 0
    assert seen["locks"] == 0
    if not seen["calls_forbidden"]:
        pytest.skip("this system cannot forbid system calls")


@pytest.mark.parametrize("mistake", ["allocate", "lock", "call"])
def test_the_watch_sees_each_mistake_in_another_thread(mistake: str) -> None:
    done = run(mistake)
    if mistake == "call":
        if done.returncode == 0 and not json.loads(done.stdout)["calls_forbidden"]:
            pytest.skip("this system cannot forbid system calls")
        assert done.returncode == -signal.SIGSYS
        return
    seen = json.loads(done.stdout)
    assert seen["allocations"] == (2 if mistake == "allocate" else 0)
    assert seen["locks"] == (1 if mistake == "lock" else 0)
