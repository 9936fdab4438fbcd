"""An export is a process that runs once: behaviour that only a new process shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys

import torch
from torch import nn

import leapp
from leapp import annotate

actor = nn.Sequential(nn.Linear(48, 512), nn.ELU(), nn.Linear(512, 256), nn.Linear(256, 12))
eyes = nn.Sequential(nn.Conv2d(3, 32, 5, stride=2), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.Flatten())
history = torch.zeros(4, 48)


def step(obs, image):
    obs, image = annotate.input_tensors("policy", {"obs": obs, "image": image})
    history.copy_(torch.roll(history, 1, 0))
    history[0] = obs
    obs = obs.clone()
    obs[obs > 1] = 1.0
    near = obs[obs.abs() < 0.5].sum() + torch.nonzero(obs)[:, 0].float().mean()
    seen = eyes(image[None])[:, :12] @ torch.ones(12, 12)
    action = actor(obs)[None] + seen + near + history.mean()
    annotate.output_tensors("policy", {"action": action}, export_with=sys.argv[1])


with torch.no_grad():
    leapp.start("cold", save_path=sys.argv[2])
    for _ in range(2):
        step(torch.randn(48), torch.rand(3, 64, 64))
    leapp.stop()
before = set(sys.modules)
leapp.compile_graph()
print("imported:", sorted(set(sys.modules) - before))
"""


def test_compile_graph_imports_nothing(tmp_path: Path) -> None:
    for backend in ("jit", "onnx"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, backend, str(tmp_path)], capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == "imported: []", done.stdout


WITHOUT_JIT = """
import sys

import torch

torch.jit._state.disable()
import leapp
from leapp import annotate

layer = torch.nn.Linear(3, 3)
leapp.start("bare", save_path=sys.argv[2])
x = annotate.input_tensors("n", {"x": torch.randn(1, 3)})
annotate.output_tensors("n", {"y": torch.tanh(layer(x))}, export_with=sys.argv[1])
leapp.stop()
assert leapp.compile_graph() == {"n": True}
robot = leapp.InferenceManager(sys.argv[2] + "/bare/bare.yaml")
torch.testing.assert_close(robot({"n/x": x})["n/y"], torch.tanh(layer(x)))
"""


@pytest.mark.parametrize("backend", ["jit", "onnx", "onnx-torchscript"])
def test_torchs_jit_may_be_off_before_leapp_is_imported(tmp_path: Path, backend: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_JIT, backend, str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_program_may_end_while_libraries_are_still_loaded(tmp_path: Path) -> None:
    program = f"import leapp; leapp.start('g', save_path={str(tmp_path)!r})"
    for _ in range(4):  # it is a race
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
